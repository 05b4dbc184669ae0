"""The models of the papers, one module each."""

from duilian.models.coupled import CoupledTagger
from duilian.models.crf import CRF
from duilian.models.guided import GuidedTagger
from duilian.models.tagger import Tagger

__all__ = ["CRF", "CoupledTagger", "GuidedTagger", "Tagger"]

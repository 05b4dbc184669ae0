"""The models of the papers, one module each."""

from duilian.models.coupled import Converted, CoupledSide, CoupledTagger
from duilian.models.crf import CRF
from duilian.models.guided import GuidedTagger
from duilian.models.loading import Model, StandardTagger, load, reading_of, standards_of, tagger_for
from duilian.models.tagger import Tagger
from duilian.models.two_chain import TwoChainTagger

__all__ = [
    "CRF",
    "Converted",
    "CoupledSide",
    "CoupledTagger",
    "GuidedTagger",
    "Model",
    "StandardTagger",
    "Tagger",
    "TwoChainTagger",
    "load",
    "reading_of",
    "standards_of",
    "tagger_for",
]

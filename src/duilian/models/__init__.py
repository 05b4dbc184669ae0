"""The models of the papers, one module each."""

from duilian.models.coupled import Converted, CoupledSide, CoupledTagger
from duilian.models.crf import CRF
from duilian.models.guided import GuidedTagger
from duilian.models.loading import StandardTagger, load, reading_of, standards_of, tagger_for
from duilian.models.tagger import Tagger

__all__ = [
    "CRF",
    "Converted",
    "CoupledSide",
    "CoupledTagger",
    "GuidedTagger",
    "StandardTagger",
    "Tagger",
    "load",
    "reading_of",
    "standards_of",
    "tagger_for",
]

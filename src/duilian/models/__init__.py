"""The models of the papers, one module each."""

from pathlib import Path

from duilian.errors import ModelFileError
from duilian.modelfile import read_model
from duilian.models.coupled import CoupledTagger
from duilian.models.crf import CRF
from duilian.models.guided import GuidedTagger
from duilian.models.tagger import Tagger

__all__ = ["CRF", "CoupledTagger", "GuidedTagger", "Tagger", "load"]


def load(path: str | Path) -> Tagger:
    """The tagger in a file, of whatever kind it is."""
    kind = read_model(path)[0].get("kind")
    for known in (Tagger, GuidedTagger):
        if known.kind == kind:
            return known.load(path)
    raise ModelFileError(str(path), f"is of kind {kind!r}, not a tagger")

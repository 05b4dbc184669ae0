"""Models from files, of whatever kind, and the view that all of them share: a tagger for one standard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duilian.errors import ConfigError, ModelFileError
from duilian.modelfile import read_model
from duilian.models.coupled import CoupledTagger
from duilian.models.coupled_side import CoupledSide
from duilian.models.dynamic import DynamicTagger
from duilian.models.guided import GuidedTagger
from duilian.models.joint_parser import JointParser
from duilian.models.multitask import MultitaskTagger
from duilian.models.parser import Parser
from duilian.models.tagger import Tagger
from duilian.models.two_chain import TwoChainTagger

PARSERS: dict[str, type[Parser]] = {known.kind: known for known in (Parser, JointParser)}

StandardTagger = Tagger | CoupledSide | TwoChainTagger
"""A tagger that answers after one standard: by itself, or as one side of a tagger of several."""
Model = Tagger | CoupledTagger | MultitaskTagger | TwoChainTagger
"""What a file may hold."""
SEVERAL = (CoupledTagger, MultitaskTagger)  # answer in several standards


def load(path: str | Path) -> Model:
    """The tagger in a file, of whatever kind it is."""
    kind = read_model(path)[0].get("kind")
    for known in (Tagger, GuidedTagger, DynamicTagger, CoupledTagger, MultitaskTagger, TwoChainTagger):
        if known.kind == kind:
            return known.load(path)
    hint = "use it with duilian parse" if kind in PARSERS else ""
    raise ModelFileError(str(path), f"is of kind {kind!r}, not a tagger", hint)


def is_parser(path: str | Path) -> bool:
    """Whether there is a parser in the file."""
    return read_model(path)[0].get("kind") in PARSERS


def load_parser(path: str | Path) -> Parser:
    """The parser in a file, alone or joint with a tagger."""
    return PARSERS.get(str(read_model(path)[0].get("kind")), Parser).load(path)


def standards_of(model: Model) -> tuple[str, ...]:
    """The standards that a model answers in; the first is the one it answers in unless told."""
    return model.standards if isinstance(model, SEVERAL) else (model.standard,)


def tagger_for(model: Model, standard: str | None = None) -> StandardTagger:
    """The model as a tagger for one of its standards, the first if none is named."""
    names = standards_of(model)
    if standard is not None and standard not in names:
        raise ConfigError(f"the model has no standard {standard!r}, only {', '.join(names)}")
    return model.of(standard or names[0]) if isinstance(model, SEVERAL) else model


def reading_of(tagger: StandardTagger | Parser) -> dict[str, Any]:
    """How the training corpus of this standard was read, as a recipe's run has noted it."""
    notes = getattr(tagger, "notes_", {})
    side = notes.get("sides", {}).get(tagger.standard, notes)
    return dict(side.get("reading", {}))

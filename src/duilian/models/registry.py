"""Models from files, of whatever kind, and the view that all of them share: a tagger for one standard."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from duilian.errors import ConfigError, ModelFileError
from duilian.modelfile import read_model
from duilian.models.base.table_codec import Arrays
from duilian.models.parser.model import Parser
from duilian.models.suite.model import Suite

if TYPE_CHECKING:  # a kind's module is imported when a file has a model of it
    from duilian.models.coupled.model import CoupledTagger
    from duilian.models.coupled.side import CoupledSide
    from duilian.models.crf.model import Tagger
    from duilian.models.multitask.model import MultitaskTagger
    from duilian.models.two_chain.model import TwoChainTagger

    StandardTagger = Tagger | CoupledSide | TwoChainTagger
    """A tagger that answers after one standard: by itself, or as one side of a tagger of several."""
    Model = Tagger | CoupledTagger | MultitaskTagger | TwoChainTagger
    """What a file may hold."""
else:
    StandardTagger = Model = Any

PARSERS = ("parser", "joint-parser")
KINDS = {
    "crf": ("crf.model", "Tagger"),
    "guided": ("guided.model", "GuidedTagger"),
    "dynamic": ("dynamic.model", "DynamicTagger"),
    "coupled": ("coupled.model", "CoupledTagger"),
    "multitask": ("multitask.model", "MultitaskTagger"),
    "two-chain": ("two_chain.model", "TwoChainTagger"),
    "parser": ("parser.model", "Parser"),
    "joint-parser": ("joint_parser.model", "JointParser"),
    "analyzer": ("suite.model", "Suite"),
}
"""The module and class of each kind."""


def restored(path: str | Path, header: Mapping[str, Any], arrays: Arrays) -> Model | Parser | Suite:
    """The model of whatever kind in what was read from a file."""
    kind = header.get("kind")
    if kind not in KINDS:
        raise ModelFileError(str(path), f"is of kind {kind!r}, which this version of Duilian does not know")
    module, name = KINDS[kind]
    known: type[Model | Parser | Suite] = getattr(importlib.import_module(f"duilian.models.{module}"), name)
    return known.restored(path, header, arrays)


def load(path: str | Path) -> Model:
    """The tagger in a file, of whatever kind it is."""
    header, arrays = read_model(path)
    if header.get("kind") in PARSERS:
        hint = "use it with duilian parse"
        raise ModelFileError(str(path), f"is of kind {header['kind']!r}, not a tagger", hint)
    found = restored(path, header, arrays)
    assert not isinstance(found, Parser)
    return found.tagger if isinstance(found, Suite) else found


def is_parser(path: str | Path) -> bool:
    """Whether there is nothing but a parser in the file."""
    return kind_of(path) in PARSERS


def is_suite(path: str | Path) -> bool:
    """Whether there are a tagger and a parser in the file."""
    return kind_of(path) == Suite.kind


def kind_of(path: str | Path) -> str:
    """The kind of a model."""
    return str(read_model(path)[0].get("kind"))


def load_parser(path: str | Path) -> Parser:
    """The parser in a file, alone or joint or beside a tagger."""
    header, arrays = read_model(path)
    if header.get("kind") not in (*PARSERS, Suite.kind):
        return Parser.restored(path, header, arrays)  # which says that it is none
    found = restored(path, header, arrays)
    assert isinstance(found, Parser | Suite)
    return found.parser if isinstance(found, Suite) else found


def standards_of(model: Model) -> tuple[str, ...]:
    """The standards that a model answers in; the first is the one it answers in unless told."""
    several = getattr(model, "standards", None)
    return (model.standard,) if several is None else tuple(several)  # type: ignore[union-attr]


def tagger_for(model: Model, standard: str | None = None) -> StandardTagger:
    """The model as a tagger for one of its standards, the first if none is named."""
    names = standards_of(model)
    if standard is not None and standard not in names:
        raise ConfigError(f"the model has no standard {standard!r}, only {', '.join(names)}")
    if not hasattr(model, "standards"):
        return model
    side: StandardTagger = cast(Any, model).of(standard or names[0])
    return side


def reading_of(tagger: StandardTagger | Parser) -> dict[str, Any]:
    """How the training corpus of this standard was read, as a recipe's run has noted it."""
    notes = getattr(tagger, "notes_", {})
    side = notes.get("sides", {}).get(tagger.standard, notes)
    return dict(side.get("reading", {}))

"""The kinds of models by name, models from files, and the view that all taggers share: one standard."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from duilian.errors import ConfigError, ModelFileError
from duilian.modelfile import read_model
from duilian.models.base.estimator import Arrays

if TYPE_CHECKING:  # a kind's module is imported when a file has a model of it
    from duilian.models.coupled.model import CoupledTagger
    from duilian.models.coupled.side import CoupledSide
    from duilian.models.crf.model import Tagger
    from duilian.models.multitask.model import MultitaskTagger
    from duilian.models.parser.model import Parser
    from duilian.models.suite.model import Suite
    from duilian.models.two_chain.model import TwoChainTagger
    from duilian.models.two_chain.predictor import TwoChainPredictor

    StandardTagger: TypeAlias = Tagger | CoupledSide | TwoChainTagger | TwoChainPredictor
    """A tagger that answers in one standard: on its own, or as one side of a model of several."""
    Model: TypeAlias = Tagger | CoupledTagger | MultitaskTagger | TwoChainTagger
    """What a file may hold."""
else:
    StandardTagger = Model = Any

PARSERS = ("parser", "joint-parser")
SUITE = "analyzer"
KINDS = {
    "crf": "duilian.models.crf.model:Tagger",
    "guided": "duilian.models.guided.model:GuidedTagger",
    "dynamic": "duilian.models.dynamic.model:DynamicTagger",
    "coupled": "duilian.models.coupled.model:CoupledTagger",
    "multitask": "duilian.models.multitask.model:MultitaskTagger",
    "two-chain": "duilian.models.two_chain.model:TwoChainTagger",
    "parser": "duilian.models.parser.model:Parser",
    "joint-parser": "duilian.models.joint_parser.model:JointParser",
    "analyzer": "duilian.models.suite.model:Suite",
}
"""The class of each kind, imported when a file has a model of it."""


def register_kind(kind: str, place: str) -> None:
    """Make a kind of model known to files; `place` is `module:Class`."""
    KINDS[kind] = place


def estimator_of(kind: str) -> type[Any]:
    """The class of a kind."""
    module, _, name = KINDS[kind].partition(":")
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found


def restored(path: str | Path, header: Mapping[str, Any], arrays: Arrays) -> Model | Parser | Suite:
    """The model, of any kind, in what was read from a file."""
    kind = header.get("kind")
    if kind not in KINDS:
        raise ModelFileError(str(path), f"is of kind {kind!r}, which this version of Duilian does not know")
    found: Model | Parser | Suite = estimator_of(kind).restored(path, header, arrays)
    return found


def load(path: str | Path) -> Model:
    """The tagger in a file, of whatever kind it is."""
    header, arrays = read_model(path)
    if header.get("kind") in PARSERS:
        hint = "use it with duilian parse"
        raise ModelFileError(str(path), f"is of kind {header['kind']!r}, not a tagger", hint)
    found = restored(path, header, arrays)
    return cast(Any, found).tagger if header["kind"] == SUITE else cast(Model, found)


def is_parser(path: str | Path) -> bool:
    """Whether there is nothing but a parser in the file."""
    return kind_of(path) in PARSERS


def is_suite(path: str | Path) -> bool:
    """Whether there are a tagger and a parser in the file."""
    return kind_of(path) == SUITE


def kind_of(path: str | Path) -> str:
    """The kind of a model."""
    return str(read_model(path)[0].get("kind"))


def load_parser(path: str | Path) -> Parser:
    """The parser in a file, alone or joint or beside a tagger."""
    header, arrays = read_model(path)
    kind = header.get("kind")
    if kind not in (*PARSERS, SUITE):
        raise ModelFileError(str(path), f"is a model of kind {kind!r}, not 'parser'")
    found: Any = restored(path, header, arrays)
    return cast("Parser", found.parser if kind == SUITE else found)


def standards_of(model: Model | TwoChainPredictor) -> tuple[str, ...]:
    """The standards that a model answers in; the first is the one it answers in unless told."""
    several = getattr(model, "standards", None)
    return (model.standard,) if several is None else tuple(several)


def tagger_for(model: Model | TwoChainPredictor, standard: str | None = None) -> StandardTagger:
    """The model as a tagger for one of its standards, the first if none is named."""
    names = standards_of(model)
    if standard is not None and standard not in names:
        raise ConfigError(f"the model has no standard {standard!r}, only {', '.join(names)}")
    if not hasattr(model, "standards"):
        return cast(StandardTagger, model)
    side: StandardTagger = cast(Any, model).of(standard or names[0])
    return side


def reading_of(tagger: StandardTagger | Parser) -> dict[str, Any]:
    """How the training corpus of this standard was read, as a recipe's run has noted it."""
    notes = getattr(tagger, "notes_", {})
    side = notes.get("sides", {}).get(tagger.standard, notes)
    return dict(side.get("reading", {}))

"""The kinds of models by name, models from files, and taggers for one standard."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from duilian.errors import ConfigError, ModelFileError, did_you_mean
from duilian.modelfile import read_model
from duilian.models.base.estimator import Arrays
from duilian.models.roles import chosen_standard

if TYPE_CHECKING:  # a kind's module is imported when a file has a model of it
    from duilian.models.base.standard_tagger import StandardTagger
    from duilian.models.parser.model import Parser

ENTRY_POINTS = "duilian.models"
PARSERS = ("parser", "joint-parser", "neural-parser")
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
    "neural-parser": "duilian.models.neural_parser.model:NeuralParser",
    "tree-converter": "duilian.models.tree_converter.model:TreeConverter",
    "analyzer": "duilian.models.suite.model:Suite",
}
"""The class of each kind, imported when a file has a model of it."""


def register_kind(kind: str, place: str) -> None:
    """Make a kind of model known to files; `place` is `module:Class`."""
    KINDS[kind] = place


def is_known(kind: str) -> bool:
    """Whether there is such a kind; other packages offer theirs in the entry-point group `duilian.models`."""
    if kind not in KINDS:
        from importlib.metadata import entry_points  # slow to import

        for point in entry_points(group=ENTRY_POINTS):
            KINDS.setdefault(point.name, point.value)
    return kind in KINDS


def estimator_of(kind: str) -> type[Any]:
    """The class of a kind."""
    if not is_known(kind):
        raise ConfigError(f"unknown model kind {kind!r}", did_you_mean(kind, KINDS))
    module, _, name = KINDS[kind].partition(":")
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found


def level_of(kind: str) -> str:
    """The level of a kind that has only one, or nothing."""
    return str(getattr(estimator_of(kind), "level", "")) if kind in KINDS else ""


def restored(path: str | Path, header: Mapping[str, Any], arrays: Arrays) -> Any:
    """Restore a model of any kind from the contents of its file."""
    kind = header.get("kind")
    if not isinstance(kind, str) or not is_known(kind):
        raise ModelFileError(
            str(path), f"this model is of kind {kind!r}, which this version of Duilian does not support"
        )
    return estimator_of(kind).restored(path, header, arrays)


def load(path: str | Path) -> Any:
    """Load the tagger in a file, of any kind.

    >>> from duilian.engine import BUNDLED
    >>> load(BUNDLED).standards
    ('pku', 'ud')
    """
    header, arrays = read_model(path)
    if header.get("kind") in PARSERS:
        hint = "use it with duilian parse"
        raise ModelFileError(str(path), f"this model is of kind {header['kind']!r}, not a tagger", hint)
    found = restored(path, header, arrays)
    return found.tagger if header["kind"] == SUITE else found


def is_parser(path: str | Path) -> bool:
    """Whether a file contains only a parser."""
    return read_model(path)[0].get("kind") in PARSERS


def load_parser(path: str | Path) -> Parser:
    """Load the parser in a file: one of any kind, or that of an analyser."""
    header, arrays = read_model(path)
    kind = header.get("kind")
    if kind not in (*PARSERS, SUITE):
        raise ModelFileError(str(path), f"this is a model of kind {kind!r}, not 'parser'")
    found: Any = restored(path, header, arrays)
    return cast("Parser", found.parser if kind == SUITE else found)


def standards_of(model: Any) -> tuple[str, ...]:
    """The standards that a model answers in; the first is the default."""
    several = getattr(model, "standards", None)
    return (model.standard,) if several is None else tuple(several)


def tagger_for(model: Any, standard: str | None = None) -> StandardTagger:
    """The model as a tagger for one of its standards, by default the first."""
    name = chosen_standard(standard, standards_of(model))
    found: StandardTagger = model.of(name) if hasattr(model, "standards") else model
    return found


def reading_of(model: Any, standard: str | None = None) -> dict[str, Any]:
    """How the training corpus of a standard was read, according to the model's notes."""
    notes, name = getattr(model, "notes_", {}), standard or model.standard
    own = notes if getattr(model, "standard", None) == name else {}
    return dict(notes.get("sides", {}).get(name, own).get("reading", {}))

"""Arguments and helpers of the commands that use a model."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from duilian.corpus import FORMATS
from duilian.corpus.formats.lookup import TEXT
from duilian.engine import Analyzer
from duilian.engine.loading import load_parts
from duilian.errors import ConfigError
from duilian.features.dictionary import DictionaryMode
from duilian.lexicon import Lexicon
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.registry import load, standards_of, tagger_for

InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join([TEXT, *FORMATS])}."
    ),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model from duilian train.")]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", metavar="MODEL", help="A model file (default: the bundled model).")
]
TextsOrFiles = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEXT | FILE]", help="Text, or files; - is standard input."),
]
Files = Annotated[list[str] | None, typer.Argument(metavar="FILE", help="Input files; - is standard input.")]
StandardName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Standard to answer in (default: the model's first)."),
]
Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="For two-chain models: joint, segment (boundaries only) or tag (given boundaries).",
    ),
]


def load_analyzer(
    model: str,
    standard: str | None = None,
    mode: str | None = None,
    lexicon: Lexicon | None = None,
    *,
    dictionary: str | None = None,
    dictionary_mode: str = "extend",
    fast: bool = False,
) -> tuple[Analyzer, str]:
    """Load an analyser in this mode; return it with the standard to answer in, which is said if not named."""
    parts = load_parts(model or None, dictionary, cast(DictionaryMode, dictionary_mode))
    tagger, segmenter = in_mode(parts["tagger"], mode), parts.get("segmenter")
    found = Analyzer(tagger, parts.get("parser"), segmenter=segmenter, lexicon=lexicon)
    name = found.standard_for(standard, fast=fast)
    if standard is None and len(found.standards) > 1 and fast:
        typer.echo(f"duilian: answering in {name!r}, the standard of the fast segmenter", err=True)
    elif standard is None and len(found.standards) > 1:
        say_standard(name, found.standards)
    return found, name


def load_tagger(model: str, standard: str | None = None, mode: str | None = None) -> StandardTagger:
    """Load a tagger in this standard and mode."""
    found = in_mode(load(model), mode)
    names = standards_of(found)
    if standard is None and len(names) > 1:
        say_standard(names[0], names)
    return tagger_for(found, standard)


def in_mode(model: Any, mode: str | None) -> Any:
    """Return the model in one of the modes of two-chain models."""
    if mode is None:
        return model
    modes = getattr(model, "answer_modes", ())
    if not modes:
        raise ConfigError(f"a model of kind {model.kind!r} has no modes", "omit --mode")
    if mode not in modes:
        raise typer.BadParameter(f"{mode!r} is none of {', '.join(modes)}", param_hint="--mode")
    return model.of(mode)


def say_standard(name: str, names: tuple[str, ...]) -> None:
    """Report the default standard of a model that has several."""
    others = ", ".join(each for each in names if each != name)
    typer.echo(f"duilian: answering in {name!r}; choose with --standard (also: {others})", err=True)

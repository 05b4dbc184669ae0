"""Arguments and helpers of the commands that use a model."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from duilian.cli.option_groups import UserWords
from duilian.corpus import FORMATS
from duilian.corpus.formats.lookup import TEXT
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.engine.loading import load_parts
from duilian.errors import ConfigError
from duilian.features.dictionary import DictionaryMode
from duilian.lexicon.letter_words import English
from duilian.models.offers import OffersModes

InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join([TEXT, *FORMATS])}."
    ),
]
ModelPath = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model from duilian train, or bundled (the included one).")
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", metavar="MODEL", help="A model from duilian train.")
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
    *,
    words: UserWords | None = None,
    lenient: bool = False,
    fast: bool = False,
    rather: str | None = None,
) -> tuple[Analyzer, str]:
    """Load an analyser in this mode; return it with the standard to answer in, reporting a default.

    The default is the caller's preference `rather`, if the model has that standard.
    """
    words = words or UserWords()
    lexicon = words.read_lexicon(lenient=lenient)
    parts = load_parts(model, words.dictionary, cast(DictionaryMode, words.dictionary_mode))
    tagger, segmenter = in_mode(parts["tagger"], mode), parts.get("segmenter")
    found = Analyzer(
        tagger,
        parts.get("parser"),
        segmenter=segmenter,
        lexicon=lexicon,
        english=cast(English | None, words.english),
    )
    if standard is None and rather in found.standards:
        return found, rather
    name = found.standard_for(standard, fast=fast)
    if standard is None and len(found.standards) > 1 and fast:
        typer.echo(f"duilian: answering in {name!r}, the standard of the fast segmenter", err=True)
    elif standard is None and len(found.standards) > 1:
        say_standard(name, found.standards)
    return found, name


def in_mode(model: Any, mode: str | None) -> Any:
    """Return the model in one of the modes of two-chain models."""
    if mode is None:
        return model
    if not isinstance(model, OffersModes):
        raise ConfigError(f"a model of kind {model.kind!r} has no modes", "omit --mode")
    if mode not in (modes := model.answer_modes):
        raise typer.BadParameter(f"{mode!r} is not one of {', '.join(modes)}", param_hint="--mode")
    return model.of(mode)


def explain_lexicon(analyzer: Analyzer, doc: Doc, place: str) -> None:
    """Report which words of the lexicon took effect in an analysis."""
    for found in analyzer.explain(doc):
        effect = "not applied: "
        if found.standards:
            effect = f"applied in {', '.join(found.standards)} only: " if found.why_not else "applied"
        where = f"{place}: " if place else ""
        entry = f"{found.word} ({', '.join(filter(None, (found.mode, found.place)))})"
        typer.echo(f"lexicon: {where}{entry} at {found.start}:{found.end} {effect}{found.why_not}", err=True)


def say_standard(name: str, names: tuple[str, ...]) -> None:
    """Report the default standard of a model that has several."""
    others = ", ".join(each for each in names if each != name)
    typer.echo(f"duilian: answering in {name!r}; choose with --standard (also: {others})", err=True)

"""Arguments and helpers of the commands that use a tagger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from duilian.cli.live_input import in_runs, standard_input
from duilian.corpus import FORMATS
from duilian.corpus.files import STANDARD_STREAM
from duilian.corpus.formats.lookup import TEXT
from duilian.engine.streams import Source, read_sources
from duilian.errors import ConfigError
from duilian.models import Model, StandardTagger, TwoChainTagger, load, standards_of, tagger_for
from duilian.models.two_chain.config import MODES
from duilian.models.two_chain.predictor import TwoChainPredictor

InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join([TEXT, *FORMATS])}."
    ),
]
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model from duilian train.")]
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


def load_tagger(model: str, standard: str | None = None, mode: str | None = None) -> StandardTagger:
    """Load a tagger in this standard and mode."""
    found = in_mode(load(model), mode)
    names = standards_of(found)
    if standard is None and len(names) > 1:
        say_first_standard(names)
    return tagger_for(found, standard)


def sources_of(
    files: list[str] | None,
    tagger: StandardTagger,
    *,
    format: str | None,
    encoding: str,
    column: str | None = None,
) -> Iterator[Iterator[Source]]:
    """Yield the contents of the files, or of standard input, in runs."""
    paths = files or [STANDARD_STREAM]
    stdin = standard_input(paths)
    for path in paths:
        source = stdin if path == STANDARD_STREAM and stdin is not None else path
        found = read_sources(source, tagger, format=format, encoding=encoding, column=column)
        yield from in_runs(found, stdin)


def in_mode(model: Model, mode: str | None) -> Model | TwoChainPredictor:
    """Return the model in one of the modes of two-chain models."""
    if mode is None:
        return model
    if mode not in MODES:
        raise typer.BadParameter(f"{mode!r} is none of {', '.join(MODES)}", param_hint="--mode")
    if not isinstance(model, TwoChainTagger):
        raise ConfigError("only two-chain models have modes", "omit --mode")
    return model.of(mode)


def say_first_standard(names: tuple[str, ...]) -> None:
    """Report the default standard of a model that has several."""
    others = ", ".join(names[1:])
    typer.echo(f"duilian: answering in {names[0]!r}; choose with --standard (also: {others})", err=True)


def check_level(tagger: StandardTagger, level: str, command: str, instead: str) -> None:
    """Refuse a model of the wrong level."""
    if tagger.level != level:
        wanted = {"word": "a word-level", "char": "a character-level"}[level]
        raise ConfigError(f"{command} needs {wanted} model", instead)

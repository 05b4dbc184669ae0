"""What the commands share that ask a tagger: how they name it, and the tagger as they use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from duilian.cli.live_input import in_runs, standard_input
from duilian.corpus.files import STANDARD_STREAM
from duilian.engine.streams import Source, known_formats, read_sources
from duilian.errors import ConfigError
from duilian.models import Model as AnyModel
from duilian.models import StandardTagger, TwoChainTagger, load, standards_of, tagger_for
from duilian.models.two_chain.model import MODES

InputFormat = Annotated[
    str | None, typer.Option(help=f"Format of the input, if the guess is wrong: {known_formats()}.")
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model from duilian train.")]
Inputs = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help="Files, one after the other; - is standard input.")
]
Standard = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The standard to answer in, if the model has several; else its first."),
]
Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Of two chains: joint, segment (boundaries alone), tag (boundaries are given).",
    ),
]


def load_tagger(
    model: str, threads: int, standard: str | None = None, mode: str | None = None
) -> StandardTagger:
    """The tagger in a file, told how many threads to use, which standard to answer in, and how it is used."""
    found = in_mode(load(model).set_params(threads=threads), mode)
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
    """What stands in the files, one after the other; standard input, in runs, if there is none."""
    paths = files or [STANDARD_STREAM]
    stdin = standard_input(paths)
    for path in paths:
        source = stdin if path == STANDARD_STREAM and stdin is not None else path
        found = read_sources(source, tagger, format=format, encoding=encoding, column=column)
        yield from in_runs(found, stdin)


def in_mode(model: AnyModel, mode: str | None) -> AnyModel:
    """The model, used as asked: two chains have several uses."""
    if mode is None:
        return model
    if mode not in MODES:
        raise typer.BadParameter(f"{mode!r} is none of {', '.join(MODES)}", param_hint="--mode")
    if not isinstance(model, TwoChainTagger):
        raise ConfigError("only a model of kind two-chain has modes", "leave --mode out")
    return model.of(mode)


def say_first_standard(names: tuple[str, ...]) -> None:
    """Tell in which of its standards a coupled model answers when nobody has said."""
    said = f"answering in {names[0]!r}; the model also has {', '.join(names[1:])}: --standard"
    typer.echo(f"duilian: {said}", err=True)


def check_level(tagger: StandardTagger, level: str, command: str, instead: str) -> None:
    """Refuse a model that cannot do what the command is for."""
    if tagger.level != level:
        wanted = {"word": "a word-level", "char": "a character-level"}[level]
        raise ConfigError(f"{command} needs {wanted} model", instead)

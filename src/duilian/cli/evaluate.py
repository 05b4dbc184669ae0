"""`duilian evaluate`: how well a model does on gold sentences."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from duilian.cli.corpus import Column, Columns, Format
from duilian.corpus import Corpus, vocabulary
from duilian.errors import ConfigError
from duilian.evaluation import Evaluation
from duilian.measuring import measure, read_gold, unknown_tags
from duilian.models import Tagger, load

EXAMPLE = "Example:\n\n    duilian evaluate zx.model zx/dev.wordpos --against zx/train.wordpos"


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model from duilian train.")],
    gold: Annotated[
        list[str],
        typer.Argument(metavar="GOLD", help="Corpus files; several count as one. - is standard input."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
    standard: Annotated[
        str | None, typer.Option(help="The layer of the gold files; else the model's standard.")
    ] = None,
    format: Format = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of the input: utf-8, gb18030, big5, utf-16.")
    ] = None,
    cut: Annotated[
        str | None, typer.Option(help="line or sentence; else as the training corpus was cut.")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="TRAIN", help="A corpus whose words are known; tells how unknown words fare."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads to use.")] = 1,
) -> None:
    """Compare a model's answers with gold sentences: all metrics that the gold data allow.

    At word level the gold words are tagged; at character level they are joined, cut and tagged anew.
    """
    tagger = load(model)
    reading = {
        "standard": standard,
        "format": format,
        "encoding": encoding,
        "cut": cut,
        "column": column,
        "names": None if columns is None else columns.split(","),
    }
    corpora = [read_gold(path, tagger, **reading) for path in gold]
    known = None if against is None else vocabulary(read_gold(against, tagger, **reading))
    corpus = Corpus(
        [sentence for part in corpora for sentence in part],
        standard=standard or tagger.standard,
        source=", ".join(part.source for part in corpora),
    )
    found = measure(tagger, corpus, threads=threads, vocabulary=known)
    _warn_of_unknown_tags(tagger, corpus)
    if as_json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    else:
        show_evaluation(found)


def show_evaluation(found: Evaluation) -> None:
    """Print the figures as a table."""
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    for name, value in found.rows():
        table.add_row(name, value)
    Console().print(table)


def _warn_of_unknown_tags(tagger: Tagger, corpus: Corpus) -> None:
    if tagger.segment_only:
        return
    unknown = unknown_tags(tagger, [sentence[corpus.standard] for sentence in corpus])
    if unknown:
        names = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        message = f"the model does not know {len(unknown)} of the gold tags ({names}): they count as errors"
        typer.echo(f"duilian: warning: {message}", err=True)


def check_level(tagger: Tagger, level: str, command: str, instead: str) -> None:
    """Refuse a model that cannot do what the command is for."""
    if tagger.level != level:
        wanted = {"word": "a word-level", "char": "a character-level"}[level]
        raise ConfigError(f"{command} needs {wanted} model", instead)

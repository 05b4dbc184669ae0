"""Options that several commands share."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from duilian.corpus import FORMATS, ReadReport

if TYPE_CHECKING:
    from duilian.lexicon import Lexicon

ENCODINGS = "utf-8, gb18030, big5, utf-16"
CorpusFormat = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join(FORMATS)}."),
]
Column = Annotated[str | None, typer.Option(metavar="NAME", help="Tag column of CoNLL files: upos or xpos.")]
Columns = Annotated[str | None, typer.Option(metavar="NAMES", help="Names of columns, as in word,pos,chunk.")]
InputEncoding = Annotated[str, typer.Option(metavar="NAME", help=f"Input encoding: {ENCODINGS}.")]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is standard output.")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Skip malformed lines and count them.")]
Threads = Annotated[int, typer.Option(min=1, metavar="N", help="Number of threads.")]
LexiconFile = Annotated[
    str | None,
    typer.Option(
        "--lexicon", metavar="FILE", help="Your words, one per line: word, tag and weight, tab-separated."
    ),
]
LexiconMode = Annotated[
    str,
    typer.Option("--lexicon-mode", metavar="MODE", help="force: always apply; prefer: boost their score."),
]

DictionaryFile = Annotated[
    str | None,
    typer.Option(
        "--dictionary",
        metavar="FILE",
        help="Words to know, for a model with a dictionary; one per line: word, frequency, tag.",
    ),
]
DictionaryMode = Annotated[
    str,
    typer.Option(
        "--dictionary-mode",
        metavar="MODE",
        help="extend: add to the model's words; replace: use instead.",
    ),
]


def warn(message: str) -> None:
    """Tell the user what may be a mistake; what the library has said already is not said twice."""
    logging.getLogger("duilian").warning(message)


def warn_of(report: ReadReport) -> None:
    """Tell the user what was skipped of a file, and what looks wrong in it."""
    for message in report.warnings:
        warn(message)


def read_lexicon(path: str | None, mode: str, *, lenient: bool = False) -> Lexicon | None:
    """Read the user's lexicon, if one is given; `lenient` skips malformed lines and reports them."""
    if mode not in ("force", "prefer"):
        raise typer.BadParameter(f"{mode!r} is neither 'force' nor 'prefer'", param_hint="--lexicon-mode")
    if path is None:
        return None
    from duilian.corpus.storage import skipped_line
    from duilian.lexicon import Lexicon

    found = Lexicon.read(path, mode=mode, lenient=lenient)  # type: ignore[arg-type]
    if found.skipped:
        warn(skipped_line(found.skipped, found.problems))
    return found

"""Options that several commands share."""

from __future__ import annotations

import logging
from typing import Annotated, get_args

import typer

from duilian.arguments import MAX_THREADS
from duilian.corpus import FORMATS, ReadReport
from duilian.corpus.formats.rows import BOTH, TAG_COLUMNS
from duilian.text import Errors

ENCODINGS = "utf-8, gb18030, big5, utf-16"
CorpusFormat = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join(FORMATS)}."),
]


def _check_column(name: str | None) -> str | None:
    known = (*TAG_COLUMNS, BOTH)
    if name not in (None, *known):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(known)}")
    return name


Column = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Tag column of CoNLL files: upos, xpos or upos+xpos.", callback=_check_column
    ),
]
Columns = Annotated[str | None, typer.Option(metavar="NAMES", help="Column names, such as word,pos,chunk.")]
InputEncoding = Annotated[str, typer.Option(metavar="NAME", help=f"Input encoding: {ENCODINGS}.")]


def _check_errors(errors: str) -> str:
    if errors not in get_args(Errors):
        raise typer.BadParameter(f"{errors!r} is neither 'strict' nor 'replace'")
    return errors


DecodingErrors = Annotated[
    str,
    typer.Option(
        "--errors",
        metavar="HOW",
        help="How to treat invalid UTF-8: strict or replace.",
        callback=_check_errors,
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is standard output.")
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Skip malformed lines or sentences and count them.")]
Cut = Annotated[str, typer.Option(metavar="HOW", help="line: keep lines; sentence: cut after 。！？.")]
MappingName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Tag pairs to allow: strict, tight, relaxed, complete (all), or a table in a .txt file "
        "(default: the strictest table that the two standards have).",
    ),
]
Threads = Annotated[int, typer.Option(min=1, max=MAX_THREADS, metavar="N", help="Number of threads.")]
LexiconFile = Annotated[
    str | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="Your own words, one per line: word, tag and weight, tab-separated; or a jieba dictionary.",
    ),
]
LexiconMode = Annotated[
    str,
    typer.Option(
        "--lexicon-mode", metavar="MODE", help="force: always keep these words; prefer: raise their score."
    ),
]

Explain = Annotated[
    bool, typer.Option("--explain", help="Report on standard error which lexicon words took effect.")
]
DictionaryFile = Annotated[
    str | None,
    typer.Option(
        "--dictionary",
        metavar="FILE",
        help="Extra dictionary words, for a model with a dictionary; one per line: word, frequency, tag.",
    ),
]
DictionaryMode = Annotated[
    str,
    typer.Option(
        "--dictionary-mode",
        metavar="MODE",
        help="extend: add to the model's dictionary; replace: use it instead.",
    ),
]


def _check_english(english: str | None) -> str | None:
    if english not in (None, "tags", "standard"):
        raise typer.BadParameter(f"{english!r} is neither 'tags' nor 'standard'")
    return english


EnglishTags = Annotated[
    str | None,
    typer.Option(
        "--english",
        metavar="HOW",
        help="How to tag alphabetic words: tags (by part of speech) or standard (as the standard prescribes) "
        "(default: tags, if the model has learned them).",
        callback=_check_english,
    ),
]


def warn(message: str) -> None:
    """Warn the user of a likely mistake, once."""
    logging.getLogger("duilian").warning(message)


def warn_of(report: ReadReport) -> None:
    """Warn the user about skipped lines and likely mistakes in a file."""
    for message in report.warnings:
        warn(message)

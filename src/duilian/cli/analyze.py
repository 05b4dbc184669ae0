"""`duilian analyze`: words and tags of raw text after every standard of a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from duilian.cli.options import Encoding, LexiconFile, LexiconMode, Output, Threads, read_lexicon
from duilian.cli.progress import watch
from duilian.corpus import open_writer, read_lines, read_sentences
from duilian.corpus.files import Errors, read_text
from duilian.doc import Doc
from duilian.errors import ConfigError
from duilian.models import reading_of, tagger_for
from duilian.pipeline import Analyzer, load
from duilian.text import char_types
from duilian.views.forms import FORMS, Form, Pretty

EXAMPLE = "Example:\n\n    duilian analyze 他把书借给了办公室。"

RANKED = "slash"  # the form in which an analysis is one line, and no two are the same
PRETTY = "pretty"
VIEWS = (PRETTY, *FORMS)


def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT | FILE]", help="Text, or files of text; - is standard input."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="A character-level model; else the bundled one.")
    ] = "",
    to: Annotated[str, typer.Option(metavar="FORM", help=f"How to show it: {', '.join(VIEWS)}.")] = "",
    standard: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The standard to show; else all (pretty, json) or the first."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="The input is a corpus in this format and --standard: fill its gaps, keep what it has.",
        ),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The N best analyses of each line, with rank and probability, as slash.",
        ),
    ] = None,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on standard error which words of the lexicon fire where."),
    ] = False,
    encoding: Encoding = "utf-8",
    errors: Annotated[
        str, typer.Option(metavar="HOW", help="What is no text in the input: strict (an error) or replace.")
    ] = "strict",
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Analyse text: its words and tags after each standard, one above the other, and its trees.

    On a terminal the standards stand like a couplet, and words that they cut differently are marked; in a
    pipe the answer is CoNLL-U. A line of a file is a text of its own. With --format the input is a corpus:
    words, tags and sentences that it has stay as they are, and the rest (`_` in CoNLL-U) is decided.
    --to words is fast: it asks the model's segmenter, if there is one for --standard, for words alone.
    """
    if errors not in get_args(Errors):
        raise typer.BadParameter(f"{errors!r} is neither strict nor replace", param_hint="--errors")
    if explain and lexicon is None:
        raise typer.BadParameter("needs a --lexicon to explain", param_hint="--explain")
    analyzer = load(model or None, lexicon=read_lexicon(lexicon, lexicon_mode))
    name = _known(standard, analyzer)
    form = to or _usual_form(output, nbest)
    column = reading_of(tagger_for(analyzer.model, name)).get("column")
    shown = _form(form, name, column, output)
    paths = inputs or ["-"]
    if form == "brat" and len(paths) > 1:
        raise typer.BadParameter("brat has an .ann file for each text: give one", param_hint="--to")
    texts = partial(_texts, encoding=encoding, errors=cast(Errors, errors), is_one_text=form == "brat")
    if nbest is not None:
        if form != RANKED or format is not None:
            raise typer.BadParameter(f"goes with --to {RANKED}, without --format", param_hint="--nbest")
        lines = (line for each in paths for line in texts(each))
        _write_ranked((analyzer.nbest(line, nbest, name) for line in lines), shown, output)
        return
    if form == "words" and format is None:
        lines = (line for each in paths for line in texts(each))
        _write_words(analyzer.segment(lines, standard, threads=threads), output)
        return
    with open_writer(output) as write:
        for each in paths:
            write(shown.begin(each if _is_file(each) else ""))
            if format is None:
                docs = analyzer.pipe(texts(each), threads=threads)
                docs = docs if standard is None else (doc.only(name) for doc in docs)
            else:
                given = read_sentences(each, standard=name, format=format, encoding=encoding, column=column)
                docs = analyzer.fill(given, name, threads=threads)
            # On a terminal the answers themselves are the progress.
            for doc in docs if _is_terminal(output) else watch(docs, "texts"):
                write(shown.text(doc))
                if explain:
                    _explain(analyzer, doc.text)
        write(shown.end())


def _known(standard: str | None, analyzer: Analyzer) -> str:
    """The standard that is asked for, or the first."""
    name = standard or analyzer.standards[0]
    if name not in analyzer.standards:
        raise ConfigError(f"the model has no standard {name!r}, only {', '.join(analyzer.standards)}")
    return name


def _usual_form(output: str, nbest: int | None) -> str:
    if nbest is not None:
        return RANKED
    return PRETTY if _is_terminal(output) else "conllu"


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout.isatty()


def _write_words(texts: Iterable[Sequence[str]], output: str) -> None:
    with open_writer(output) as write:
        for words in texts:
            write(" ".join(words) + "\n")


def _write_ranked(answers: Iterable[Sequence[Doc]], form: Form, output: str) -> None:
    with open_writer(output) as write:
        for docs in answers if _is_terminal(output) else watch(answers, "texts"):
            for rank, doc in enumerate(docs, start=1):
                write(f"{rank}\t{doc.probability:.6f}\t{form.text(doc)}")
            if not docs:
                write("\n")


def _explain(analyzer: Analyzer, text: str) -> None:
    for found in analyzer.explain(text):
        does = "fires" if found.fires else f"does not fire: {found.why_not}"
        typer.echo(f"lexicon: {found.word} ({found.mode}) at {found.start}:{found.end} {does}", err=True)


def _texts(given: str, encoding: str, errors: Errors, is_one_text: bool) -> Iterator[str]:
    if not _is_file(given) and given != "-":
        if "han" not in char_types(given) and ("/" in given or "." in given[1:]):
            raise ConfigError(f"there is no file {given!r}", "or give it text with Chinese characters")
        yield given
    elif is_one_text:
        yield read_text(given, encoding=encoding, errors=errors)
    else:
        for _, line in read_lines(given, encoding=encoding, errors=errors):
            yield line


def _is_file(given: str) -> bool:
    return given != "-" and Path(given).is_file()


def _form(name: str, standard: str, column: str | None, output: str) -> Form:
    if name != PRETTY and name not in FORMS:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(VIEWS)}", param_hint="--to")
    if name != PRETTY:
        return FORMS[name](standard, column)
    from rich.console import Console  # slow to import, and in a pipe not needed

    # Without a colour system rich leaves bold and dim out too.
    is_plain = bool(os.environ.get("NO_COLOR")) or not _is_terminal(output)
    return Pretty(standard, Console(highlight=False, color_system=None if is_plain else "auto"))

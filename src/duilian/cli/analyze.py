"""`duilian analyze`: words and tags of raw text after every standard of a model."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, cast, get_args

import typer

from duilian.cli.inputs import Inputs
from duilian.cli.options import Encoding, LexiconFile, LexiconMode, Output, Threads, read_lexicon
from duilian.cli.progress import watch
from duilian.corpus import open_writer
from duilian.corpus.formats.registry import FormatOptions
from duilian.document import Doc
from duilian.engine import Analyzer, load
from duilian.errors import ConfigError
from duilian.models import reading_of, tagger_for
from duilian.text import Errors
from duilian.views.exchange import ranked_json_line
from duilian.views.forms import FORMS, Form, PrettyForm, find_form

EXAMPLE = "Example:\n\n    duilian analyze 他把书借给了办公室。"

RANKED = ("slash", "json")  # forms that can have several analyses of a text
PRETTY = "pretty"


def command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT | FILE]", help="Text, or files of text; - is standard input."),
    ] = None,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="A character-level model; else the bundled one.")
    ] = "",
    to: Annotated[str, typer.Option(metavar="FORM", help=f"How to show it: {', '.join(FORMS)}.")] = "",
    standard: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The standard to show; else all (pretty, json) or the first."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of the input if its name does not tell: text, or a corpus with --standard.",
        ),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The N best analyses of each line, with their probabilities, as slash or json.",
        ),
    ] = None,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on standard error what became of the lexicon's words."),
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
    pipe the answer is CoNLL-U. A line of a file is a text of its own. A corpus (.conllu, .conllx, .conll,
    .seg, .pos, .jsonl, or what --format says) keeps all that it has, and what it leaves open is decided:
    `_` in CoNLL-U, a word without tag in slash.
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
    source = Inputs(inputs, format, encoding, cast(Errors, errors), is_one_text=form == "brat")
    if form == "brat" and len(source.paths) > 1:
        raise typer.BadParameter("brat has an .ann file for each text: give one", param_hint="--to")
    told = analyzer if explain else None
    if nbest is not None:
        if form not in RANKED or not source.is_text:
            message = f"goes with text and --to {' or '.join(RANKED)}"
            raise typer.BadParameter(message, param_hint="--nbest")
        _write_ranked(
            _ranked(source, analyzer, nbest, name), shown if form == "slash" else None, output, told
        )
        return
    if form == "words" and source.is_text and not explain:
        runs = (run for each in source.paths for run in source.texts(each))
        segmented = (analyzer.segment(run, standard, threads=threads) for run in runs)
        _write_words(itertools.chain.from_iterable(segmented), output)
        return
    options = FormatOptions(standard=name, column=column, may_lack_tags=True)
    with open_writer(output) as write:
        for each in source.paths:
            write(shown.begin(each if source.is_file(each) else ""))
            docs = source.docs(each, analyzer, options, threads)
            docs = docs if standard is None else (doc.only(name) for doc in docs)
            # On a terminal the answers themselves are the progress.
            size = partial(_size, encoding=encoding)
            total = source.size(each)
            watched = docs if _is_terminal(output) else watch(docs, "texts", total=total, size=size)
            for number, doc in enumerate(watched, start=1):
                write(shown.text(doc))
                if told is not None:
                    _explain(told, doc, source.place(each, number))
        write(shown.end())


def _known(standard: str | None, analyzer: Analyzer) -> str:
    """The standard that is asked for, or the first."""
    name = standard or analyzer.standards[0]
    if name not in analyzer.standards:
        raise ConfigError(f"the model has no standard {name!r}, only {', '.join(analyzer.standards)}")
    return name


def _usual_form(output: str, nbest: int | None) -> str:
    if nbest is not None:
        return RANKED[0]
    return PRETTY if _is_terminal(output) else "conllu"


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout.isatty()


def _size(doc: Doc, encoding: str) -> int:
    """How many bytes of its file a text takes, with a line end."""
    return len(doc.text.encode(encoding, "replace")) + 1


def _write_words(texts: Iterable[Sequence[str]], output: str) -> None:
    with open_writer(output) as write:
        for words in texts:
            write(" ".join(words) + "\n")


def _ranked(
    source: Inputs, analyzer: Analyzer, count: int, standard: str
) -> Iterator[tuple[str, str, Sequence[Doc]]]:
    """The place of each line, the line, and its best analyses."""
    for each in source.paths:
        for number, line in enumerate(itertools.chain.from_iterable(source.texts(each)), start=1):
            yield source.place(each, number), line, analyzer.nbest(line, count, standard)


def _write_ranked(
    answers: Iterable[tuple[str, str, Sequence[Doc]]], form: Form | None, output: str, told: Analyzer | None
) -> None:
    """The analyses of each text in lines of their own, or (without a form) all in one line of JSON; an answer
    is its place, its text and the analyses, of which the best is explained if asked for."""
    with open_writer(output) as write:
        for place, text, docs in answers if _is_terminal(output) else watch(answers, "texts"):
            if form is None:
                write(ranked_json_line(text, docs) + "\n")
            for rank, doc in enumerate(docs, start=1):
                if form is not None:
                    write(f"{rank}\t{doc.probability:.6f}\t{form.text(doc)}")
                if rank == 1 and told is not None:
                    _explain(told, doc, place)
            if form is not None and not docs:
                write("\n")


def _explain(analyzer: Analyzer, doc: Doc, place: str) -> None:
    for found in analyzer.explain(doc):
        does = "does not fire: "
        if found.standards:
            does = f"fires in {', '.join(found.standards)} only: " if found.why_not else "fires"
        where = f"{place}: " if place else ""
        entry = f"{found.word} ({', '.join(filter(None, (found.mode, found.place)))})"
        typer.echo(f"lexicon: {where}{entry} at {found.start}:{found.end} {does}{found.why_not}", err=True)


def _form(name: str, standard: str, column: str | None, output: str) -> Form:
    try:
        form = find_form(name)
    except ConfigError as error:
        raise typer.BadParameter(f"{error.message}: {error.hint}", param_hint="--to") from None
    if form is not PrettyForm:
        return form(standard, column)
    from rich.console import Console  # slow to import, and in a pipe not needed

    # Without a colour system rich leaves bold and dim out too.
    is_plain = bool(os.environ.get("NO_COLOR")) or not _is_terminal(output)
    return PrettyForm(standard, console=Console(highlight=False, color_system=None if is_plain else "auto"))

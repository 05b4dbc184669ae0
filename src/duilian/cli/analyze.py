"""`duilian analyze`: words and tags of raw text after every standard of a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from duilian.cli.options import Encoding, LexiconFile, LexiconMode, Output, Threads, read_lexicon
from duilian.cli.progress import watch
from duilian.corpus import FORMATS, open_writer, read_lines, read_sentences
from duilian.corpus.files import Errors
from duilian.corpus.formats import FormatOptions
from duilian.doc import Doc
from duilian.errors import ConfigError
from duilian.models import reading_of, tagger_for
from duilian.pipeline import Analyzer, load
from duilian.text import char_types
from duilian.views.exchange import brat, conllu_sentences, json_line, span_line

EXAMPLE = "Example:\n\n    duilian analyze 他把书借给了办公室。"

RANKED = "slash"  # the form in which an analysis is one line, and no two are the same
VIEWS = ("pretty", "conllu", "json", "slash", "spans", "brat", "words")


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
        typer.Option(metavar="NAME", help="The standard of conllu, slash, spans and brat; else the first."),
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
    render = _renderer(form, FormatOptions(standard=name, column=column))
    paths = inputs or ["-"]
    lines = (line for each in paths for line in _texts(each, encoding, cast(Errors, errors)))
    if nbest is not None:
        if form != RANKED or format is not None:
            raise typer.BadParameter(f"goes with --to {RANKED}, without --format", param_hint="--nbest")
        _write_ranked((analyzer.nbest(line, nbest, name) for line in lines), render, output)
        return
    if form == "words" and format is None:
        _write_words(analyzer.segment(lines, standard, threads=threads), output)
        return
    if format is None:
        docs = analyzer.pipe(lines, threads=threads)
    else:
        reading = partial(read_sentences, standard=name, format=format, encoding=encoding, column=column)
        given = (sentence for each in paths for sentence in reading(each))
        docs = analyzer.fill(given, name, threads=threads)
    with open_writer(output) as write:
        # On a terminal the answers themselves are the progress.
        for doc in docs if _is_terminal(output) else watch(docs, "texts"):
            write(render(doc))
            if explain:
                _explain(analyzer, doc.text)


def _known(standard: str | None, analyzer: Analyzer) -> str:
    """The standard that is asked for, or the first."""
    name = standard or analyzer.standards[0]
    if name not in analyzer.standards:
        raise ConfigError(f"the model has no standard {name!r}, only {', '.join(analyzer.standards)}")
    return name


def _usual_form(output: str, nbest: int | None) -> str:
    if nbest is not None:
        return RANKED
    return "pretty" if _is_terminal(output) else "conllu"


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout.isatty()


def _write_words(texts: Iterable[Sequence[str]], output: str) -> None:
    with open_writer(output) as write:
        for words in texts:
            write(" ".join(words) + "\n")


def _write_ranked(answers: Iterable[Sequence[Doc]], render: Callable[[Doc], str], output: str) -> None:
    with open_writer(output) as write:
        for docs in answers if _is_terminal(output) else watch(answers, "texts"):
            for rank, doc in enumerate(docs, start=1):
                write(f"{rank}\t{doc.probability:.6f}\t{render(doc)}")
            if not docs:
                write("\n")


def _explain(analyzer: Analyzer, text: str) -> None:
    for found in analyzer.explain(text):
        does = "fires" if found.fires else f"does not fire: {found.why_not}"
        typer.echo(f"lexicon: {found.word} ({found.mode}) at {found.start}:{found.end} {does}", err=True)


def _texts(given: str, encoding: str, errors: Errors) -> Iterator[str]:
    if given != "-" and not Path(given).is_file():
        if "han" not in char_types(given) and ("/" in given or "." in given[1:]):
            raise ConfigError(f"there is no file {given!r}", "or give it text with Chinese characters")
        yield given
        return
    for _, line in read_lines(given, encoding=encoding, errors=errors):
        yield line


def _renderer(form: str, options: FormatOptions) -> Callable[[Doc], str]:
    standard = options.standard or ""
    if form == "pretty":
        return _pretty
    if form == "words":
        return lambda doc: " ".join(doc.words(standard)) + "\n"
    if form == "json":
        return lambda doc: json_line(doc) + "\n"
    if form == "spans":
        return lambda doc: span_line(doc, standard) + "\n"
    if form == "brat":
        return _Brat(standard)
    if form in ("conllu", "slash"):
        writer = FORMATS[form].write
        assert writer is not None
        return lambda doc: "".join(writer(conllu_sentences(doc, standard), options))
    raise typer.BadParameter(f"{form!r} is none of {', '.join(VIEWS)}", param_hint="--to")


class _Brat:
    """The lines of a file are parts of one text for brat: places and numbers go on."""

    def __init__(self, standard: str) -> None:
        self._standard, self._first, self._offset = standard, 1, 0

    def __call__(self, doc: Doc) -> str:
        lines = list(brat(doc, self._standard, first=self._first, offset=self._offset))
        self._first += len(lines)
        self._offset += len(doc.text) + 1  # and the line break
        return "".join(line + "\n" for line in lines)


def _pretty(doc: Doc) -> str:
    from rich.console import Console  # slow to import, and in a pipe not needed

    from duilian.views.couplets import couplet
    from duilian.views.trees import tree_lines

    console = Console(highlight=False)
    with console.capture() as shown:
        console.print(couplet(doc, console.width), soft_wrap=True)
        if doc.tree_standard is not None:
            for tokens in doc.sentences(doc.tree_standard):
                console.print("\n".join(tree_lines(tokens)), soft_wrap=True, markup=False)
    return shown.get()

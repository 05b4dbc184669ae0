"""`duilian analyze`: words, tags and trees of raw text in every standard of a model."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, cast

import typer

from duilian.cli.inputs import Analysed, Inputs, refuse_models
from duilian.cli.option_groups import TextReading, UserWords
from duilian.cli.options import Output, Threads
from duilian.cli.progress import watch
from duilian.cli.taggers import ModelOption, TextsOrFiles, explain_lexicon
from duilian.corpus import open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.document import Doc
from duilian.engine import Analyzer, load
from duilian.engine.loading import BUNDLED_NAME
from duilian.errors import ConfigError
from duilian.models.registry import reading_of
from duilian.models.roles import Ask
from duilian.views.exchange import ranked_json_line
from duilian.views.forms import FORMS, Form, PrettyForm, find_form, form_standard

EXAMPLE = "Example:\n\n    duilian analyze 他把书借给了老师。"

RANKED_FORMS = ("slash", "json")  # forms that can show several analyses of a text
PRETTY = "pretty"
LONG = 100_000  # characters; output for longer texts is written piece by piece


def command(
    inputs: TextsOrFiles = None,
    model: ModelOption = BUNDLED_NAME,
    to: Annotated[str, typer.Option(metavar="FORM", help=f"Output form: {', '.join(FORMS)}.")] = "",
    standard: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Show only this standard (default: all of them in pretty, json and svg, the one with trees "
            "in conllu, otherwise the first).",
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Input format, if not clear from the file name: text, or a corpus format with --standard.",
        ),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Show the N best analyses of each line with their probabilities (slash or json).",
        ),
    ] = None,
    no_trees: Annotated[bool, typer.Option("--no-trees", help="Leave out the trees: much faster.")] = False,
    *,
    words: UserWords,
    reading: TextReading,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Analyse text: words and tags in each standard, and trees.

    On a terminal, the standards are stacked like a couplet, with marks where they segment differently; in a
    pipe, the output is CoNLL-U. Each line of a file is one text. A corpus (.conllu, .conllx, .conll, .seg,
    .pos, .jsonl, or see --format) keeps its annotation; only gaps are filled: `_` in CoNLL-U, untagged words
    in slash. Trees are computed only for output forms that show them.
    """
    refuse_models(inputs)
    analyzer = load(
        model,
        lexicon=words.read_lexicon(lenient=reading.lenient),
        dictionary=words.dictionary,
        dictionary_mode=cast(Any, words.dictionary_mode),
        english=cast(Any, words.english),
    )
    form = to or _default_form(output, nbest)
    name = analyzer.standard_for(standard) if standard else form_standard(analyzer, form)
    column = reading_of(analyzer.model, name).get("column")
    shown = _make_form(form, name, column, output)
    source = Inputs(inputs, format, reading, reads=analyzer.labeler.reads, is_one_text=form == "brat")
    if form == "brat" and len(source.paths) > 1:
        raise typer.BadParameter("brat needs one .ann file per text: give a single text", param_hint="--to")
    explainer = analyzer if words.explain else None
    options = FormatOptions(standard=name, column=column, may_lack_tags=True)
    if nbest is not None:
        if form not in RANKED_FORMS or not source.is_text:
            message = f"needs text input and --to {' or '.join(RANKED_FORMS)}"
            raise typer.BadParameter(message, param_hint="--nbest")
        ranked = _ranked_analyses(source, analyzer, nbest, options)
        _write_ranked(ranked, shown if form == "slash" else None, output, explainer)
        return
    has_all = standard is None and (shown.shows_all or words.explain)
    has_trees = shown.shows_trees and not no_trees
    ask = Ask(() if has_all else (name,), tags=shown.shows_tags or words.explain, trees=has_trees)
    answers = partial(
        source.analysed, analyzer=analyzer, options=options, ask=ask, threads=threads, fill=True
    )
    _write_docs(source, answers, shown, output, explainer)


def _write_docs(
    source: Inputs,
    answers: Callable[[str], Iterator[Analysed]],
    form: Form,
    output: str,
    explainer: Analyzer | None,
) -> None:
    with open_writer(output) as write:
        for path in source.paths:
            write(form.begin(path if source.is_file(path) else ""))
            docs = (doc for _, doc, _ in answers(path))
            # On a terminal, the output itself shows progress.
            watched = docs if _is_terminal(output) else source.watched(path, docs, lambda doc: doc.text)
            for number, doc in enumerate(watched, start=1):
                for part in form.parts(doc) if len(doc.text) > LONG else [form.text(doc)]:
                    write(part)
                if explainer is not None:
                    explain_lexicon(explainer, doc, source.place(path, number))
        write(form.end())


def _default_form(output: str, nbest: int | None) -> str:
    if nbest is not None:
        return RANKED_FORMS[0]
    return PRETTY if _is_terminal(output) else "conllu"


def _is_terminal(output: str) -> bool:
    return output == "-" and sys.stdout.isatty()


def _ranked_analyses(
    source: Inputs, analyzer: Analyzer, count: int, options: FormatOptions
) -> Iterator[tuple[str, str, Sequence[Doc]]]:
    """Yield the place of each line, the line, and its best analyses."""
    for each in source.paths:
        lines = itertools.chain.from_iterable(source.runs(each, options))
        for number, (line, _) in enumerate(lines, start=1):
            yield source.place(each, number), line, analyzer.nbest(line, count, options.standard)


def _write_ranked(
    answers: Iterable[tuple[str, str, Sequence[Doc]]],
    form: Form | None,
    output: str,
    explainer: Analyzer | None,
) -> None:
    """Write each analysis on its own line or, without a form, all analyses of a text as one line of JSON."""
    with open_writer(output) as write:
        for place, text, docs in answers if _is_terminal(output) else watch(answers, "texts"):
            if form is None:
                write(ranked_json_line(text, docs) + "\n")
            for rank, doc in enumerate(docs, start=1):
                if form is not None:
                    write(f"{rank}\t{doc.probability:.6f}\t{form.text(doc)}")
                if rank == 1 and explainer is not None:
                    explain_lexicon(explainer, doc, place)


def _make_form(name: str, standard: str, column: str | None, output: str) -> Form:
    try:
        form = find_form(name)
    except ConfigError as error:
        from duilian.cli.tag import OUTPUT_FORMATS as TAG_FORMATS  # not needed otherwise

        hint = f"use slash, or `duilian tag --to {name}`" if name in TAG_FORMATS else error.hint
        raise typer.BadParameter(f"{error.message}: {hint}", param_hint="--to") from None
    if form is not PrettyForm:
        return form(standard, column)
    from rich.console import Console  # slow to import, and not needed in a pipe

    # Without a colour system, rich omits bold and dim as well.
    is_plain = bool(os.environ.get("NO_COLOR")) or not _is_terminal(output)
    return PrettyForm(standard, console=Console(highlight=False, color_system=None if is_plain else "auto"))

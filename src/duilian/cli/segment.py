"""`duilian segment`: text to words."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated

import typer

from duilian.cli.inputs import Inputs, refuse_models
from duilian.cli.option_groups import TextReading, UserWords
from duilian.cli.options import Output, Threads
from duilian.cli.taggers import (
    InputFormat,
    ModelOption,
    StandardName,
    TextsOrFiles,
    explain_lexicon,
    load_analyzer,
)
from duilian.corpus import open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.document.text_lines import segmented_line
from duilian.engine.loading import BUNDLED_NAME
from duilian.models.roles import Ask

_TEXT = operator.attrgetter("text")
EXAMPLE = "Example:\n\n    duilian segment 我们去北京。"


def command(
    inputs: TextsOrFiles = None,
    model: ModelOption = BUNDLED_NAME,
    fast: Annotated[
        bool, typer.Option("--fast", help="Use the model's fast segmenter, which is less accurate.")
    ] = False,
    format: InputFormat = None,
    *,
    words: UserWords,
    standard: StandardName = None,
    reading: TextReading,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Segment text into words, separated by two spaces, line by line.

    No character is lost except line ends. White space in the text separates words; a
    single space becomes two.
    Addresses, #topics#, @names, numbers and alphabetic words are never cut, except by two-chain models.
    """
    refuse_models(inputs)
    analyzer, name = load_analyzer(model, standard, words=words, lenient=reading.lenient, fast=fast)
    analyzer.check_segments()
    source = Inputs(inputs, format, reading)
    ask = Ask((name,), tags=words.explain, trees=False, fast=fast)
    options = FormatOptions(standard=name)
    with open_writer(output) as write:
        for path in source.paths:
            if source.is_text_at(path) and not words.explain:
                runs = source.runs(path, options)
                spaced = (analyzer.spaced(map(_TEXT, run), name, fast=fast, threads=threads) for run in runs)
                lines = itertools.chain.from_iterable(spaced)
                for line in source.watched(path, lines, lambda line: line.replace("  ", "")):
                    write(line + "\n")
                continue
            docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
            watched = source.watched(path, docs, lambda each: each.doc.text)
            for number, (_, doc, _) in enumerate(watched, start=1):
                write(segmented_line(doc, name) + "\n")
                if words.explain:
                    explain_lexicon(analyzer, doc, source.place(path, number))

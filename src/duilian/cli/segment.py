"""`duilian segment`: text to words."""

from __future__ import annotations

import itertools
import operator
from typing import Annotated, cast

import typer

from duilian.cli.inputs import Inputs, refuse_models
from duilian.cli.options import (
    DecodingErrors,
    DictionaryFile,
    DictionaryMode,
    EnglishTags,
    Explain,
    InputEncoding,
    Lenient,
    LexiconFile,
    LexiconMode,
    Output,
    Threads,
    read_lexicon,
)
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
from duilian.text import Errors

_TEXT = operator.attrgetter("text")
EXAMPLE = "Example:\n\n    duilian segment 我们去北京。"


def command(
    inputs: TextsOrFiles = None,
    model: ModelOption = BUNDLED_NAME,
    fast: Annotated[
        bool, typer.Option("--fast", help="Use the model's fast segmenter, which is less accurate.")
    ] = False,
    format: InputFormat = None,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    dictionary: DictionaryFile = None,
    dictionary_mode: DictionaryMode = "extend",
    english: EnglishTags = None,
    explain: Explain = False,
    standard: StandardName = None,
    encoding: InputEncoding = "utf-8",
    errors: DecodingErrors = "strict",
    lenient: Lenient = False,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Segment text into words, separated by two spaces, line by line.

    No character is lost except line ends. White space in the text separates words; a
    single space becomes two.
    Addresses, #topics#, @names, numbers and alphabetic words are never cut, except by two-chain models.
    """
    refuse_models(inputs)
    analyzer, name = load_analyzer(
        model,
        standard,
        lexicon=read_lexicon(lexicon, lexicon_mode, lenient=lenient, explain=explain),
        dictionary=dictionary,
        dictionary_mode=dictionary_mode,
        english=english,
        fast=fast,
    )
    analyzer.check_segments()
    source = Inputs(inputs, format, encoding, cast(Errors, errors), lenient=lenient)
    ask = Ask((name,), tags=explain, trees=False, fast=fast)
    options = FormatOptions(standard=name)
    with open_writer(output) as write:
        for path in source.paths:
            if source.is_text_at(path) and not explain:
                runs = source.runs(path, options)
                spaced = (analyzer.spaced(map(_TEXT, run), name, fast=fast, threads=threads) for run in runs)
                lines = itertools.chain.from_iterable(spaced)
                for line in source.watched(path, lines, lambda line: line.replace("  ", "")):
                    write(line + "\n")
                continue
            docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
            for number, (_, doc, _) in enumerate(source.watched(path, docs, _TEXT), start=1):
                write(segmented_line(doc, name) + "\n")
                if explain:
                    explain_lexicon(analyzer, doc, source.place(path, number))

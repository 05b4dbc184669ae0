"""`duilian segment`: text to words."""

from __future__ import annotations

from typing import Annotated

import typer

from duilian.cli.inputs import Inputs, refuse_models
from duilian.cli.options import (
    DictionaryFile,
    DictionaryMode,
    InputEncoding,
    Lenient,
    LexiconFile,
    LexiconMode,
    Output,
    Threads,
    read_lexicon,
)
from duilian.cli.progress import watch
from duilian.cli.taggers import InputFormat, ModelOption, StandardName, TextsOrFiles, load_analyzer
from duilian.corpus import open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.errors import ConfigError
from duilian.models.roles import Ask
from duilian.views.text_lines import segmented_line

EXAMPLE = "Example:\n\n    duilian segment 我们去北京。"


def command(
    inputs: TextsOrFiles = None,
    model: ModelOption = "",
    fast: Annotated[
        bool, typer.Option("--fast", help="Use the model's small segmenter: much faster, less accurate.")
    ] = False,
    format: InputFormat = None,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    dictionary: DictionaryFile = None,
    dictionary_mode: DictionaryMode = "extend",
    standard: StandardName = None,
    encoding: InputEncoding = "utf-8",
    lenient: Lenient = False,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Segment text into words, separated by two spaces; lines stay lines.

    No character is lost. White space in the text always separates words and stays in place. Addresses,
    #topics#, @names, numbers and words in letters are never cut, except by two-chain models.
    """
    refuse_models(inputs)
    analyzer, name = load_analyzer(
        model,
        standard,
        lexicon=read_lexicon(lexicon, lexicon_mode, lenient=lenient),
        dictionary=dictionary,
        dictionary_mode=dictionary_mode,
        fast=fast,
    )
    if analyzer.labeler.reads == "words":
        raise ConfigError("segment needs a character-level model", "train one with level = 'char'")
    source = Inputs(inputs, format, encoding, lenient=lenient)
    ask = Ask((name,), tags=False, trees=False, fast=fast)
    options = FormatOptions(standard=name)
    with open_writer(output) as write:
        for path in source.paths:
            docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
            for _, doc, _ in watch(docs, "texts", files=source.files):
                write(segmented_line(doc, name) + "\n")

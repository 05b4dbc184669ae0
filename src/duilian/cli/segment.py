"""`duilian segment`: text to words."""

from __future__ import annotations

from duilian.cli.options import InputEncoding, LexiconFile, LexiconMode, Output, Threads, read_lexicon
from duilian.cli.taggers import (
    Files,
    InputFormat,
    ModelPath,
    StandardName,
    check_level,
    load_tagger,
    sources_of,
)
from duilian.corpus import open_writer
from duilian.engine.streams import analyse, segmented_line
from duilian.models import TwoChainTagger

EXAMPLE = "Example:\n\n    echo 我们去北京。 | duilian segment char.model"


def command(
    model: ModelPath,
    files: Files = None,
    format: InputFormat = None,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    standard: StandardName = None,
    encoding: InputEncoding = "utf-8",
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Segment text into words, separated by two spaces; lines stay lines.

    No character is lost. White space in the text always separates words and stays in place. Addresses,
    #topics#, @names, numbers and words in letters are never cut, except by two-chain models.
    """
    tagger = load_tagger(model, standard)
    check_level(tagger, "char", "segment", "train one with level = 'char'")
    if isinstance(tagger, TwoChainTagger):
        tagger = tagger.of("segment")
    sources = sources_of(files, tagger, format=format, encoding=encoding)
    words = read_lexicon(lexicon, lexicon_mode)
    with open_writer(output) as write:
        for run in sources:
            for analysis in analyse(tagger, run, lexicon=words, threads=threads):
                write(segmented_line(analysis) + "\n")

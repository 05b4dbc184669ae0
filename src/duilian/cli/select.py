"""`duilian select`: a file for annotators with the words that a model is least sure of."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from duilian.annotation.selection import Selection, most_uncertain, select, select_with
from duilian.cli.inputs import Inputs
from duilian.cli.option_groups import TextReading
from duilian.cli.options import InputEncoding, Lenient, Output, Threads
from duilian.cli.progress import watch
from duilian.cli.taggers import InputFormat, ModelPath, StandardName, load_analyzer
from duilian.corpus import Layer, Sentence, write
from duilian.corpus.files import display_name
from duilian.corpus.formats.lookup import FormatOptions
from duilian.engine.analyzer import is_uncut
from duilian.errors import ConfigError, CorpusError
from duilian.labels.units import words_of
from duilian.models import reading_of, tagger_for

EXAMPLE = "Example:\n\n    duilian select pos.model new.seg --tokens 20% -o to-annotate.wordpos"

OUTPUT_FORMATS = ("underscore", "slash", "conllu", "columns", "jsonl")


def parse_share(text: str) -> float:
    """Parse a percentage such as 20% into a number from 0 to 1."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share <= 1:
        raise typer.BadParameter(f"expected a percentage such as 20%, found {text!r}")
    return share


def command(
    model: ModelPath,
    file: Annotated[str, typer.Argument(metavar="FILE", help="Segmented text; - is standard input.")] = "-",
    tokens: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of words to select in each sentence.")
    ] = "20%",
    sentences: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Keep only the N least certain sentences, worst first."),
    ] = None,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Output format: {', '.join(OUTPUT_FORMATS)}.")
    ] = "underscore",
    format: InputFormat = None,
    standard: StandardName = None,
    encoding: InputEncoding = "utf-8",
    lenient: Lenient = False,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Select the words whose tags a model is least sure of, for annotators to decide.

    A selected word lists its candidates, as in 发展_{NN|VV}: replace them with the right tag (any tag), or
    with ? if you cannot tell. All other words have ?, unknown. The file is a partially annotated corpus: you
    can train on it, or put it back with duilian corpus merge. See docs/howto/annotate.md.
    """
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    share = parse_share(tokens)
    analyzer, name = load_analyzer(model, standard)
    tagger = tagger_for(analyzer.model, name)
    if tagger.encoding_.tags is None:
        raise ConfigError(f"{model}: the model only segments text", "use a model that tags words")
    source = Inputs([file], format, TextReading(encoding=encoding, lenient=lenient), reads="words")
    options = FormatOptions(standard=tagger.standard)
    given = watch(_given_sentences(source, file, options), files=source.files)
    found: Iterable[Selection] = (
        select(tagger, given, share, threads=threads)
        if tagger.encoding_.level == "word"
        else select_with(analyzer, given, share, tagger.standard, threads=threads)
    )
    if sentences is not None:
        found = most_uncertain(found, sentences)
    column = reading_of(tagger).get("column")
    write((each.sentence for each in found), output, format=to, standard=tagger.standard, column=column)


def _given_sentences(source: Inputs, path: str, options: FormatOptions) -> Iterator[Sentence]:
    items = itertools.chain.from_iterable(source.runs(path, options))
    for number, (text, placed) in enumerate(items, start=1):
        if placed is not None:
            yield placed.sentence
        elif words := words_of(text):
            layer = Layer(words)
            if is_uncut(layer):  # it would become a file of sentences with one word each
                message = "the text is not segmented: words must be separated by spaces"
                hint = "segment it first with `duilian segment`"
                raise CorpusError(display_name(path), number, message, hint)
            yield Sentence({str(options.standard): layer})

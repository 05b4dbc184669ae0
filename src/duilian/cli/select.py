"""`duilian select`: a file for annotators with the words that a model is least sure of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from duilian.annotation.selection import Selection, most_uncertain, select
from duilian.cli.options import InputEncoding, Output, Threads
from duilian.cli.progress import measured, watch
from duilian.cli.taggers import InputFormat, ModelPath, StandardName, check_level, load_tagger
from duilian.corpus import Sentence, write
from duilian.engine.streams import Source, given_layer, read_sources
from duilian.models import StandardTagger, reading_of

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
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Select the words whose tags a model is least sure of, for annotators to fill in.

    A selected word carries its candidates, as in 发展_{NN|VV}: replace them with the right tag (any tag, or ?
    if it cannot be told). All other words have ?, unknown: the file is a corpus with partial annotation.
    """
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is none of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    share = parse_share(tokens)
    tagger = load_tagger(model, standard)
    check_level(tagger, "word", "select", "segment the text first and use a model that tags words")
    inputs = measured([file])
    sources = watch(read_sources(inputs[0], tagger, format=format, encoding=encoding), files=inputs)
    found: Iterable[Selection] = select(tagger, _given_sentences(sources, tagger), share, threads=threads)
    if sentences is not None:
        found = most_uncertain(found, sentences)
    column = reading_of(tagger).get("column")
    write((each.sentence for each in found), output, format=to, standard=tagger.standard, column=column)


def _given_sentences(sources: Iterable[Source], tagger: StandardTagger) -> Iterator[Sentence]:
    for source in sources:
        id = "" if source.sentence is None else source.sentence.id
        yield Sentence({tagger.standard: given_layer(source, tagger)}, id)

"""`duilian parse`: dependency trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated

import typer

from duilian.cli.options import InputEncoding, Output, Threads
from duilian.cli.taggers import Files, InputFormat, ModelPath, load_tagger, sources_of
from duilian.corpus import FORMATS, Layer, Sentence, open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.engine.parsing import parse_k_best, parse_sentences
from duilian.engine.streams import analyse, given_layer
from duilian.errors import ConfigError
from duilian.models import StandardTagger, reading_of
from duilian.models.parser.model import Parser
from duilian.models.parser.tree_packing import with_given_tags
from duilian.models.registry import load_parser

EXAMPLE = "Example:\n\n    duilian parse udc.model --tagger xpos.model words.txt --to conllu"

OUTPUT_FORMATS = ("conllu", "conllx", "jsonl")


def command(
    model: ModelPath,
    files: Files = None,
    tagger: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Tag with this model first (default: the input has tags)."),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show the N best trees, with rank and score as comments."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep tags, heads and relations of the input, and fill gaps.")
    ] = False,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Output format: {', '.join(OUTPUT_FORMATS)}.")
    ] = "conllu",
    format: InputFormat = None,
    encoding: InputEncoding = "utf-8",
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Parse tagged words, or tag them first with --tagger.

    The input is a corpus in any format with tags. With --tagger, it may be anything that `duilian tag` takes
    with that model: words separated by spaces or, for a character-level model, text.
    """
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is none of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    parser = load_parser(model)
    if tagger is None:
        sentences = _read_tagged(files, parser, format, encoding)
    else:
        tagged = _tag_first(load_tagger(tagger), files, format, encoding, keep, threads)
        found = (Sentence({parser.standard: layer}, *about) for layer, about in tagged)
        sentences = map(PlacedSentence, found)
    form, column = FORMATS[to], reading_of(parser).get("column")
    assert form.write is not None
    if nbest is None:
        parsed = parse_sentences(parser, sentences, keep_heads=keep, threads=threads)
    else:
        parsed = parse_k_best(parser, sentences, nbest, keep_heads=keep)
    with open_writer(output) as write:
        for text in form.write(parsed, FormatOptions(standard=parser.standard, column=column)):
            write(text)


def _read_tagged(
    files: list[str] | None, parser: Parser, format: str | None, encoding: str
) -> Iterator[PlacedSentence]:
    column = reading_of(parser).get("column")
    options = FormatOptions(standard=parser.standard, column=column, trees="partial")
    for path in files or ["-"]:
        yield from read_placed(path, options, format=format, encoding=encoding)[1]


def _tag_first(
    tagger: StandardTagger,
    files: list[str] | None,
    format: str | None,
    encoding: str,
    keep: bool,
    threads: int,
) -> Iterator[tuple[Layer, tuple[str, tuple[str, ...]]]]:
    """Yield the tagged words of each sentence, with its id and comments."""
    if tagger.encoding_.tags is None:
        raise ConfigError("the model named by --tagger only segments text", "a parser needs tags")
    column = reading_of(tagger).get("column")
    runs = sources_of(files, tagger, format=format, encoding=encoding, column=column)
    for analysis in analyse(tagger, itertools.chain.from_iterable(runs), threads=threads):
        if analysis.layer.words:
            given, layer = analysis.source.sentence, analysis.layer
            if keep and tagger.level == "word":
                layer = with_given_tags(layer, given_layer(analysis.source, tagger))
            yield layer, ("", ()) if given is None else (given.id, given.comments)

"""`duilian parse`: dependency trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Annotated

import typer

from duilian.cli.inputs import Inputs
from duilian.cli.options import InputEncoding, Output, Threads
from duilian.cli.progress import watch
from duilian.cli.taggers import Files, InputFormat, ModelPath, load_analyzer
from duilian.corpus import FORMATS, Sentence, open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.engine.analyzer import own_layer
from duilian.engine.parsing import parse_k_best, parse_sentences
from duilian.errors import ConfigError
from duilian.models import reading_of
from duilian.models.parser.model import Parser
from duilian.models.parser.tree_packing import with_given_tags
from duilian.models.registry import load_parser
from duilian.models.roles import Ability, Ask

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
        sentences = _tag_first(tagger, files, parser, format, encoding, keep, threads)
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
    tagger: str,
    files: list[str] | None,
    parser: Parser,
    format: str | None,
    encoding: str,
    keep: bool,
    threads: int,
) -> Iterator[PlacedSentence]:
    """Yield tagged sentences; those of a corpus keep their id and comments."""
    analyzer, name = load_analyzer(tagger)
    if Ability.TAGS not in analyzer.labeler.abilities:
        raise ConfigError("the model named by --tagger only segments text", "a parser needs tags")
    reads, column = analyzer.labeler.reads, reading_of(analyzer.model, name).get("column")
    source = Inputs(files, format, encoding, reads=reads)
    options, ask = FormatOptions(standard=name, column=column), Ask((name,), trees=False)
    for path in source.paths:
        docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
        for given, doc in watch(docs, "texts", files=source.files):
            for sentence in doc.to_sentences():
                layer = sentence[name]
                own = None if given is None else own_layer(given, name)
                if own is not None and own.words == layer.words:
                    tagged = dataclasses.replace(own, tags=layer.tags)
                    layer = with_given_tags(tagged, own) if keep else tagged
                about = ("", ()) if given is None else (given.id, given.comments)
                if layer.words:
                    yield PlacedSentence(Sentence({parser.standard: layer}, *about))

"""`duilian parse`: dependency trees."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from typing import Annotated

import typer

from duilian.cli.inputs import Inputs
from duilian.cli.option_groups import TextReading
from duilian.cli.options import Output, Threads
from duilian.cli.progress import watch
from duilian.cli.taggers import Files, InputFormat, ModelPath, load_analyzer
from duilian.corpus import FORMATS, Sentence, open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.paired_layers import with_tags_of
from duilian.corpus.places import PlacedSentence
from duilian.document.export import with_universal_tags
from duilian.engine import Analyzer, find_model
from duilian.engine.analyzer import own_layer
from duilian.engine.loading import BUNDLED_NAME
from duilian.engine.parsing import parse_k_best, parse_sentences
from duilian.errors import ConfigError, ModelFileError, UnknownFormatError
from duilian.modelfile import is_model
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
        typer.Option(metavar="MODEL", help="Tag with this model first (default: use the tags of the input)."),
    ] = None,
    nbest: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show the N best trees, with rank and score as comments."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the tags, heads and relations of the input; only fill gaps.")
    ] = False,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Output format: {', '.join(OUTPUT_FORMATS)}.")
    ] = "conllu",
    format: InputFormat = None,
    *,
    reading: TextReading,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Parse tagged words, or tag them first with --tagger.

    The input is a corpus in any format with tags. With --tagger, it may be anything that `duilian tag`
    accepts for that model: words separated by spaces or, for a character-level model, text.
    """
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    if os.path.isfile(model) and not is_model(model):
        hint = f"the first argument is a model; {BUNDLED_NAME!r} is the bundled one"
        raise ModelFileError(model, "this is not a model", hint)
    parser = load_parser(find_model(model))
    if tagger is None:
        sentences = _read_tagged(Inputs(files, format, reading), parser)
    else:
        analyzer, name = load_analyzer(tagger, rather=parser.standard)
        source = Inputs(files, format, reading, reads=analyzer.labeler.reads)
        sentences = _tag_first(source, analyzer, name, parser.standard, keep, threads)
    form, column = FORMATS[to], reading_of(parser).get("column")
    assert form.write is not None
    if nbest is None:
        parsed = parse_sentences(parser, sentences, keep_heads=keep, threads=threads)
    else:
        parsed = parse_k_best(parser, sentences, nbest, keep_heads=keep)
    if to == "conllu":
        parsed = (_with_universal_tags(each, parser.standard, column) for each in parsed)
    with open_writer(output) as write:
        for text in form.write(parsed, FormatOptions(standard=parser.standard, column=column)):
            write(text)


def _with_universal_tags(sentence: Sentence, standard: str, column: str | None) -> Sentence:
    layer = with_universal_tags(sentence[standard], standard, column)
    return dataclasses.replace(sentence, layers={**sentence.layers, standard: layer})


def _read_tagged(source: Inputs, parser: Parser) -> Iterator[PlacedSentence]:
    column = reading_of(parser).get("column")
    options = FormatOptions(standard=parser.standard, column=column, trees="partial")
    for path in source.paths:
        try:
            yield from watch(source.sentences(path, options), files=source.files)
        except UnknownFormatError as error:
            text = f"for text, use `duilian analyze` or --tagger {BUNDLED_NAME}"
            hint = f"{text}; for a corpus, name the format with --format"
            raise UnknownFormatError(error.path, error.line, hint) from None


def _tag_first(
    source: Inputs, analyzer: Analyzer, name: str, standard: str, keep: bool, threads: int
) -> Iterator[PlacedSentence]:
    """Yield tagged sentences; those of a corpus keep their id and comments."""
    if Ability.TAGS not in analyzer.labeler.abilities:
        raise ConfigError("the --tagger model only segments text", "a parser needs tags")
    column = reading_of(analyzer.model, name).get("column")
    options, ask = FormatOptions(standard=name, column=column), Ask((name,), trees=False)
    for path in source.paths:
        docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
        for given, doc, place in watch(docs, "texts", files=source.files):
            for sentence in doc.to_sentences():
                layer = sentence[name]
                own = None if given is None else own_layer(given, name)
                if own is not None and own.words == layer.words:
                    tagged = with_tags_of(own, layer)
                    layer = with_given_tags(tagged, own) if keep else tagged
                about = ("", ()) if given is None else (given.id, given.comments)
                if layer.words:
                    yield dataclasses.replace(place, sentence=Sentence({standard: layer}, *about))

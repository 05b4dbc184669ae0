"""`duilian tag`: words and tags, from text or from words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from duilian.cli.inputs import Analysed, Inputs, refuse_models
from duilian.cli.option_groups import TextReading, UserWords
from duilian.cli.options import Output, Threads
from duilian.cli.taggers import (
    InputFormat,
    Mode,
    ModelOption,
    StandardName,
    TextsOrFiles,
    explain_lexicon,
    load_analyzer,
)
from duilian.corpus import FORMATS, Layer, Sentence, open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.paired_layers import with_tags_of
from duilian.document import Doc
from duilian.document.export import with_universal_tags
from duilian.document.text_lines import line_layer
from duilian.engine import Analyzer
from duilian.engine.analyzer import own_layer
from duilian.engine.loading import BUNDLED_NAME
from duilian.errors import ConfigError
from duilian.models.offers import OffersTemplates
from duilian.models.registry import reading_of
from duilian.models.roles import Ability, Ask

EXAMPLE = "Example:\n\n    duilian tag 我们去北京。 --standard pku --to slash"

LINE_FORMATS = ("underscore", "slash", "segmented")
OUTPUT_FORMATS = (*LINE_FORMATS, "conllu", "jsonl", "columns")
Render = Callable[[Analysed], str]


def command(
    inputs: TextsOrFiles = None,
    model: ModelOption = BUNDLED_NAME,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Output format: {', '.join(OUTPUT_FORMATS)}.")
    ] = "underscore",
    nbest: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Show the N best analyses, each with rank and probability."),
    ] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Append the probability to each tag (Conf= in CoNLL-U).")
    ] = False,
    format: InputFormat = None,
    *,
    words: UserWords,
    standard: StandardName = None,
    mode: Mode = None,
    reading: TextReading,
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Tag words, or segment text and tag its words.

    A word-level model reads lines of words separated by spaces, or any corpus format. A character-level model
    reads text, line by line; given a corpus, it joins the words and segments them again. Addresses, #topics#,
    @names, numbers and alphabetic words are never cut, except by two-chain models. A model with several
    standards answers in any of them: see --standard. Two-chain models can tag given words: see --mode.
    """
    refuse_models(inputs)
    _check_output_options(to, nbest, marginals)
    analyzer, name = load_analyzer(model, standard, mode, words=words, lenient=reading.lenient)
    if Ability.TAGS not in analyzer.labeler.abilities:
        raise ConfigError(f"{model}: the model only segments text", "use duilian segment")
    column = reading_of(analyzer.model, name).get("column")
    options = FormatOptions(standard=name, column=column)
    reads, has_columns = analyzer.labeler.reads, bool(_columns_of(analyzer))
    source = Inputs(inputs, format, reading, reads=reads, has_columns=has_columns)
    render = renderer(to, name, column, with_confidence=marginals, is_cut=reads == "words")
    ask = Ask((name,), trees=False, marginals=marginals)
    with open_writer(output) as write:
        for path in source.paths:
            if nbest is None:
                docs = source.analysed(path, analyzer, options, ask, threads, fill=False)
                watched = source.watched(path, docs, lambda each: each.doc.text)
                answers: Iterator[tuple[Doc, str]] = ((found.doc, render(found)) for found in watched)
            else:
                answers = _ranked_lines(source, path, analyzer, options, nbest, render)
            for number, (doc, lines) in enumerate(answers, start=1):
                write(lines)
                if words.explain:
                    explain_lexicon(analyzer, doc, source.place(path, number))


def _columns_of(analyzer: Analyzer) -> tuple[str, ...]:
    model = analyzer.model
    return tuple(model.templates_.columns) if isinstance(model, OffersTemplates) else ()


def _check_output_options(to: str, nbest: int | None, marginals: bool) -> None:
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    if nbest is not None and (to not in LINE_FORMATS or marginals):
        hint = f"needs --to {', '.join(LINE_FORMATS)}, without --marginals"
        raise typer.BadParameter(hint, param_hint="--nbest")


def renderer(
    to: str, standard: str, column: str | None, *, with_confidence: bool = False, is_cut: bool = False
) -> Render:
    """Return a function that writes an analysis in a format, optionally with its confidence.

    `is_cut` means that the input was words separated by spaces, which are not part of the text.
    """
    form = FORMATS[to]
    options = FormatOptions(standard=standard, column=column)
    assert form.write is not None
    write = form.write

    def render(found: Analysed) -> str:
        layer, confidence = _found_layer(found, standard, is_cut)
        if not layer.words:
            return "\n" if to in LINE_FORMATS and found.given is None else ""
        is_line = to in LINE_FORMATS and found.doc.probability is not None  # an analysis is one line
        given = None if is_line else found.given
        sure = confidence if with_confidence else None
        if to == "conllu":
            layer = with_universal_tags(layer, standard, column)
        return "".join(write([analysed_sentence(layer, given, sure, standard, to)], options))

    return render


def _found_layer(found: Analysed, standard: str, is_cut: bool) -> tuple[Layer, tuple[float, ...] | None]:
    """Return the words and tags to write, with all other annotation of words that were kept."""
    confidence = found.doc.layer(standard).confidence
    sure = None if confidence is None else tuple(confidence.tolist())
    _, layer = line_layer(found.doc, standard)
    if is_cut and found.given is None:
        return dataclasses.replace(layer, words=tuple(found.doc.words(standard)), spaces=None), sure
    if found.given is not None:
        own = own_layer(found.given, standard)
        if own.words == layer.words:
            layer = with_tags_of(own, layer)
    return layer, sure


def _ranked_lines(
    source: Inputs, path: str, analyzer: Analyzer, options: FormatOptions, count: int, render: Render
) -> Iterator[tuple[Doc, str]]:
    """Yield the best analysis of each text, and all as lines with rank and probability."""
    for run in source.runs(path, options):
        for item in run:
            given = None if item.placed is None else item.placed.sentence
            docs = analyzer.nbest(item.text if given is None else given, count, options.standard)
            lines = [
                f"{rank}\t{doc.probability:.6f}\t{render(Analysed(given, doc))}"
                for rank, doc in enumerate(docs, start=1)
            ]
            yield docs[0], "".join(lines)


def analysed_sentence(
    layer: Layer, given: Sentence | None, confidence: Iterable[float] | None, standard: str, to: str
) -> Sentence:
    """Return the sentence to write, with its confidence if there is any and the format can carry it."""
    id, comments = ("", ()) if given is None else (given.id, given.comments)
    if confidence is not None:
        shown = [f"{each:.4f}" for each in confidence]
        if to == "conllu" and not comments:
            comments = (f"# text = {layer.text.strip()}",)
        layer = _add_confidence(layer, shown, to)
    return Sentence({standard: layer}, id, comments)


def _add_confidence(layer: Layer, shown: list[str], to: str) -> Layer:
    if to == "jsonl":
        return dataclasses.replace(layer, columns={**layer.columns, "confidence": tuple(shown)})
    if to == "conllu":
        spaces = layer.spaces or ("",) * len(layer)
        default = tuple("_" if space else "SpaceAfter=No" for space in spaces)
        fields = zip(layer.columns.get("misc", default), shown, strict=True)
        misc = tuple(f"Conf={each}" if field == "_" else f"{field}|Conf={each}" for field, each in fields)
        return dataclasses.replace(layer, columns={**layer.columns, "misc": misc})
    if to == "segmented":
        return Layer(tuple(f"{word}:{each}" for word, each in zip(layer.words, shown, strict=True)))
    tags = tuple(f"{tag}:{each}" for tag, each in zip(layer.tags or (), shown, strict=True))
    return dataclasses.replace(layer, tags=tags)

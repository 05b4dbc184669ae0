"""`duilian tag`: words and tags, from text or from words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from duilian.cli.options import InputEncoding, LexiconFile, LexiconMode, Output, Threads, read_lexicon
from duilian.cli.taggers import Files, InputFormat, Mode, ModelPath, StandardName, load_tagger, sources_of
from duilian.corpus import FORMATS, Layer, Sentence, open_writer
from duilian.corpus.formats.lookup import FormatOptions
from duilian.engine.streams import Analysis, analyse, analyse_k_best
from duilian.errors import ConfigError
from duilian.models import reading_of

EXAMPLE = "Example:\n\n    echo 我们 去 北京 。 | duilian tag pos.model --to slash"

LINE_FORMATS = ("underscore", "slash", "segmented")
OUTPUT_FORMATS = (*LINE_FORMATS, "conllu", "jsonl", "columns")


def command(
    model: ModelPath,
    files: Files = None,
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
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    standard: StandardName = None,
    mode: Mode = None,
    encoding: InputEncoding = "utf-8",
    output: Output = "-",
    threads: Threads = 1,
) -> None:
    """Tag words, or segment text and tag its words.

    A word-level model takes lines of words separated by spaces, or any corpus format. A character-level model
    takes text, line by line; it joins the words of a corpus and segments them again. Addresses, #topics#,
    @names, numbers and words in letters are never cut, except by two-chain models. A coupled model answers
    in any of its standards: see --standard. Two-chain models can tag given words: see --mode.
    """
    tagger = load_tagger(model, standard, mode)
    if tagger.encoding_.tags is None or (tagger.segment_only and tagger.level == "char"):
        raise ConfigError(f"{model}: the model only segments text", "use duilian segment")
    _check_output_options(to, nbest, marginals)
    column = reading_of(tagger).get("column")
    sources = sources_of(files, tagger, format=format, encoding=encoding, column=column)
    render = renderer(to, tagger.standard, column)
    words = read_lexicon(lexicon, lexicon_mode)
    with open_writer(output) as write:
        if nbest is None:
            for run in sources:
                for analysis in analyse(
                    tagger, run, with_confidence=marginals, lexicon=words, threads=threads
                ):
                    write(render(analysis))
        else:
            for run in sources:
                for line in _ranked_lines(analyse_k_best(tagger, run, nbest, words), render):
                    write(line)


def _check_output_options(to: str, nbest: int | None, marginals: bool) -> None:
    if to not in OUTPUT_FORMATS:
        raise typer.BadParameter(f"{to!r} is none of {', '.join(OUTPUT_FORMATS)}", param_hint="--to")
    if nbest is not None and (to not in LINE_FORMATS or marginals):
        hint = f"needs --to {', '.join(LINE_FORMATS)}, without --marginals"
        raise typer.BadParameter(hint, param_hint="--nbest")


def renderer(to: str, standard: str, column: str | None) -> Callable[[Analysis], str]:
    """Return a function that writes an analysis in a format, with its confidence if it has any."""
    form = FORMATS[to]
    options = FormatOptions(standard=standard, column=column)
    assert form.write is not None
    write = form.write

    def render(analysis: Analysis) -> str:
        if not analysis.layer.words:
            return "\n" if to in LINE_FORMATS and analysis.source.sentence is None else ""
        return "".join(write([analysed_sentence(analysis, standard, to)], options))

    return render


def _ranked_lines(answers: Iterator[list[Analysis]], render: Callable[[Analysis], str]) -> Iterator[str]:
    for found in answers:
        for rank, analysis in enumerate(found, start=1):
            yield f"{rank}\t{analysis.probability:.6f}\t{render(analysis)}"
        if not found:
            yield "\n"


def analysed_sentence(analysis: Analysis, standard: str, to: str) -> Sentence:
    """Return the sentence to write, with its confidence if the format can carry it."""
    layer, given = analysis.layer, analysis.source.sentence
    id, comments = ("", ()) if given is None else (given.id, given.comments)
    if to in LINE_FORMATS and analysis.probability is not None:
        id = ""  # an analysis is one line
    if analysis.confidence is not None:
        shown = [f"{each:.4f}" for each in analysis.confidence]
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

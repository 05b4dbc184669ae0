"""`duilian convert`: an annotated corpus in the style of another standard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from duilian.annotation.selection import Review
from duilian.cli.options import Encoding, Output, Threads
from duilian.cli.progress import watch
from duilian.cli.select import OUTPUT_FORMATS as REVIEW_FORMATS
from duilian.cli.select import parse_share
from duilian.cli.tag import analysed_sentence
from duilian.cli.taggers import Model
from duilian.conversion import Conversion, Converter, with_source_tags
from duilian.corpus import FORMATS, Sentence, open_writer, write
from duilian.corpus.formats.registry import FormatOptions, find_format
from duilian.corpus.places import ROW_FORMATS
from duilian.engine.streams import Analysis, Source
from duilian.errors import ConfigError
from duilian.models import CoupledTagger, load

EXAMPLE = (
    "Example:\n\n    duilian convert both.model people.txt --from pku --to ctb -o people.ctb.txt --review 5%"
)


def command(
    model: Model,
    source: Annotated[str, typer.Option("--from", metavar="NAME", help="The standard of the file.")],
    target: Annotated[str, typer.Option("--to", metavar="NAME", help="The standard to convert to.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="An annotated corpus; - is standard input.")
    ] = "-",
    output: Output = "-",
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help=f"Format of FILE, if the guess is wrong: {', '.join(FORMATS)}."),
    ] = None,
    to_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Format of the output; else that of FILE.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="How probable each tag is, behind it (Conf= in CoNLL-U).")
    ] = False,
    review: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Write so many of the words, the least certain, for a person."),
    ] = None,
    review_to: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where they go; else OUTPUT.review.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which tags may stand for which: tight, relaxed, complete (all may), or a table (.txt); "
            "else tight where there is such a table for the two standards.",
        ),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take tags that the model has never seen as unknown.")
    ] = False,
    encoding: Encoding = "utf-8",
    threads: Threads = 1,
) -> None:
    """Convert annotation: the tags of one standard are given, those of another are found.

    A word-level model keeps the words. A character-level model cuts them anew, too. In CoNLL formats the
    old tags stay if the new ones have the other column; the format jsonl keeps both layers.
    """
    share = None if review is None else parse_share(review)
    place = _review_place(output, review_to, is_wanted=share is not None)
    converter = Converter(load_coupled(model, threads), source, target, mapping=mapping, lenient=lenient)
    form, sentences = converter.open(file, format=format, encoding=encoding)
    to = _output_format(to_format or form.name)
    render = _renderer(converter, to, confidence)
    with Review(target) as waiting, open_writer(output) as write_text:
        unknown = 0
        for found in converter.run(watch(sentences), with_candidates=share is not None):
            write_text(render(found))
            unknown += found.unknown
            if share is not None:
                waiting.add(found.layer.words, found.candidates or (), found.confidence, id=found.sentence.id)
        if share is not None:
            _write_review(waiting.selected(share), place, to, target)
    if unknown:
        what = (
            "tag that the model has never seen was"
            if unknown == 1
            else "tags that the model has never seen were"
        )
        typer.echo(f"duilian: {unknown} {what} taken as unknown", err=True)


def load_coupled(path: str, threads: int) -> CoupledTagger:
    """The coupled tagger in a file, told how many threads to use."""
    found = load(path)
    if not isinstance(found, CoupledTagger):
        raise ConfigError(f"{path}: is of kind {found.kind!r}: this is for coupled models")
    return found.set_params(threads=threads)


def _review_place(output: str, review_to: str | None, *, is_wanted: bool) -> str:
    if review_to is not None and not is_wanted:
        raise typer.BadParameter("say how many with --review, such as 5%", param_hint="--review-to")
    if is_wanted and review_to is None and output == "-":
        raise typer.BadParameter("say where to write it with --review-to, or use -o", param_hint="--review")
    return review_to or f"{output}.review"


def _output_format(name: str) -> str:
    if find_format(name).write is None:
        raise ConfigError(f"the format {name} can only be read", "choose another with --to-format")
    return name


def _renderer(converter: Converter, to: str, with_confidence: bool) -> Callable[[Conversion], str]:
    form, target = FORMATS[to], converter.target
    options = FormatOptions(
        standard=None if to == "jsonl" else target,
        column=converter.target_column if to in ROW_FORMATS else None,
    )
    assert form.write is not None
    write_form = form.write

    def render(found: Conversion) -> str:
        layer = with_source_tags(found, converter) if to in ROW_FORMATS else found.layer
        sure = found.confidence if with_confidence else None
        sentence = analysed_sentence(Analysis(Source(sentence=found.sentence), layer, "", sure), target, to)
        if to == "jsonl":
            sentence = _with_both(found.sentence, sentence, target)
        return "".join(write_form([sentence], options))

    return render


def _with_both(given: Sentence, converted: Sentence, target: str) -> Sentence:
    """The given layers beside the new one, if they still spell the same characters."""
    spelled = "".join(converted[target].words)
    if any("".join(layer.words) != spelled for layer in given.layers.values()):
        return converted
    return Sentence({**given.layers, **converted.layers}, given.id, given.comments)


def _write_review(sentences: Iterable[Sentence], path: str, to: str, target: str) -> None:
    write(sentences, path, format=to if to in REVIEW_FORMATS else "underscore", standard=target)

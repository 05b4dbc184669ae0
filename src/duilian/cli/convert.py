"""`duilian convert`: an annotated corpus converted to another standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from duilian.annotation.selection import Review
from duilian.cli.convert_trees import Files, convert_trees, say_reviewed
from duilian.cli.options import InputEncoding, Lenient, MappingName, Output, Threads, warn_of
from duilian.cli.progress import measured, watch
from duilian.cli.select import OUTPUT_FORMATS as REVIEW_FORMATS
from duilian.cli.select import parse_share
from duilian.cli.tag import analysed_sentence
from duilian.cli.taggers import ModelPath
from duilian.conversion import Converter
from duilian.conversion.tree_conversion import TreeConversion
from duilian.corpus import FORMATS, Sentence, open_writer, write
from duilian.corpus.formats.lookup import FormatOptions, find_format, guess_by_name
from duilian.corpus.places import ROW_FORMATS
from duilian.corpus.storage import ReadReport
from duilian.document import Doc
from duilian.engine import find_model
from duilian.errors import ConfigError
from duilian.models import load
from duilian.models.roles import TreeTranslator

EXAMPLE = "Example:\n\n    duilian convert both.model people.txt --from pku --to ctb -o people.ctb.txt"


def command(
    model: ModelPath,
    source: Annotated[str, typer.Option("--from", metavar="NAME", help="Standard of FILE.")],
    target: Annotated[str, typer.Option("--to", metavar="NAME", help="Standard to convert to.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="An annotated corpus; - is standard input.")
    ] = "-",
    output: Output = "-",
    format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help=f"Input format, if the guess is wrong: {', '.join(FORMATS)}."),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="Output format (default: as OUTPUT's extension says, else that of FILE)."
        ),
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Append the probability to each tag (Conf= in CoNLL-U).")
    ] = False,
    review: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Also write a file with the least certain words, such as 5%, for manual review.",
        ),
    ] = None,
    review_to: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="File for the words to review (default: OUTPUT.review)."),
    ] = None,
    mapping: MappingName = None,
    unknown_tags: Annotated[
        bool,
        typer.Option(
            "--unknown-tags", help="Treat tags that the model has never seen as missing, instead of stopping."
        ),
    ] = False,
    lenient: Lenient = False,
    encoding: InputEncoding = "utf-8",
    threads: Threads = 1,
) -> None:
    """Convert an annotated corpus from one standard to another.

    A word-level model converts tags and keeps the words; a character-level model also re-segments the text.
    A tree converter converts the trees, relations and tags of a treebank in a CoNLL format.
    CoNLL formats keep the old tags if the new ones use the other column; jsonl keeps both layers.

    See docs/tutorials/convert.md and, for treebanks, docs/howto/convert-trees.md.
    """
    share = None if review is None else parse_share(review)
    place = _review_place(output, review_to, is_wanted=share is not None)
    options: dict[str, Any] = {"mapping": mapping, "unknown_tags": unknown_tags, "threads": threads}
    to_format = to_format or guess_by_name(output)
    found = load(find_model(model))
    if isinstance(found, TreeTranslator):
        conversion = TreeConversion(found, source, target, lenient, threads)
        files = Files(file, output, format, to_format, encoding, place)
        convert_trees(conversion, files, with_confidence=confidence, share=share)
        return
    converter = Converter(found, source, target, **options)
    (input_file,), report = measured([file]), ReadReport() if lenient else None
    form, sentences = converter.open(input_file, format=format, encoding=encoding, report=report)
    to = _output_format(to_format or form.name)
    render = _renderer(converter, to, confidence)
    with Review(target) as pending, open_writer(output) as write_text:
        unknown = 0
        given = watch(sentences, files=[input_file])
        for sentence, answer in converter.run(given, with_candidates=share is not None):
            write_text(render(sentence, answer))
            unknown += converter.count_unknown(sentence)
            if share is not None:
                words, tokens = converter.layer(sentence, answer).words, answer.tokens()
                candidates = [frozenset(each.marginals or ()) for each in tokens]
                sure = [each.confidence or 0.0 for each in tokens]
                given_words = sentence[converter.source].words
                pending.add(words, candidates, sure, id=sentence.id, given=given_words)
        if share is not None:
            review_format = to if to in REVIEW_FORMATS else "underscore"
            write(pending.selected(share), place, format=review_format, standard=target)
            say_reviewed(pending, place)
    if report is not None:
        warn_of(report)
    if unknown:
        tags = "tag" if unknown == 1 else "tags"
        typer.echo(f"duilian: ignored {unknown} {tags} that the model has never seen", err=True)


def _review_place(output: str, review_to: str | None, *, is_wanted: bool) -> str:
    if review_to is not None and not is_wanted:
        raise typer.BadParameter("also give --review, such as --review 5%", param_hint="--review-to")
    if is_wanted and review_to is None and output == "-":
        raise typer.BadParameter("give a file with --review-to or -o", param_hint="--review")
    return review_to or f"{output}.review"


def _output_format(name: str) -> str:
    if find_format(name).write is None:
        raise ConfigError(f"the format {name} can only be read", "choose another with --to-format")
    return name


def _renderer(converter: Converter, to: str, with_confidence: bool) -> Callable[[Sentence, Doc], str]:
    form, target = FORMATS[to], converter.target
    options = FormatOptions(
        standard=None if to == "jsonl" else target,
        column=converter.target_column if to in ROW_FORMATS else None,
    )
    assert form.write is not None
    write_form = form.write

    def render(given: Sentence, answer: Doc) -> str:
        layer_of = converter.layer_of_rows if to in ROW_FORMATS else converter.layer
        confidence = answer.layer().confidence if with_confidence else None
        sentence = analysed_sentence(layer_of(given, answer), given, confidence, target, to)
        if to == "jsonl":
            sentence = _with_given_layers(given, sentence, target)
        return "".join(write_form([sentence], options))

    return render


def _with_given_layers(given: Sentence, converted: Sentence, target: str) -> Sentence:
    """Add the given layers to the new one, unless their characters differ."""
    spelled = "".join(converted[target].words)
    if any("".join(layer.words) != spelled for layer in given.layers.values()):
        return converted
    return Sentence({**given.layers, **converted.layers}, given.id, given.comments)

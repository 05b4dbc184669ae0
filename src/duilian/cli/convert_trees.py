"""`duilian convert` for treebanks."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import typer

from duilian.annotation.selection import Review
from duilian.cli.options import warn, warn_of
from duilian.cli.progress import measured, watch
from duilian.cli.tag import analysed_sentence
from duilian.conversion.tree_conversion import TreeConversion
from duilian.corpus import FORMATS, Layer, Sentence, open_writer, write
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.places import ROW_FORMATS
from duilian.corpus.storage import ReadReport
from duilian.errors import ConfigError
from duilian.models.roles import ConvertedTree
from duilian.wording import counted


@dataclasses.dataclass(frozen=True)
class Files:
    file: str
    output: str
    format: str | None
    to_format: str | None
    encoding: str
    review_to: str


def convert_trees(
    conversion: TreeConversion, files: Files, *, with_confidence: bool, share: float | None
) -> None:
    """Convert a treebank; with a share, write the least certain heads for review."""
    (input_file,), report = measured([files.file]), ReadReport() if conversion.is_lenient else None
    form, sentences = conversion.open(input_file, format=files.format, encoding=files.encoding, report=report)
    to = files.to_format or form.name
    if to not in ROW_FORMATS:
        raise ConfigError(f"the format {to} has no trees", f"choose one of {', '.join(ROW_FORMATS)}")
    render = _renderer(conversion, to, with_confidence)
    with Review(conversion.target) as pending, open_writer(files.output) as write_text:
        for sentence, answer in conversion.run(watch(sentences, files=[input_file])):
            write_text(render(sentence, answer))
            if share is not None:
                layer = answer.layer
                pending.add(layer.words, _candidates(layer), answer.confidence, id=sentence.id)
        if share is not None:
            write(pending.selected(share), files.review_to, format="underscore", standard=conversion.target)
            say_reviewed(pending, files.review_to)
    if report is not None:
        warn_of(report)
    for message in conversion.warnings:
        warn(message)


def say_reviewed(review: Review, path: str) -> None:
    """Say how much there is to review, and where."""
    words, sentences = counted(review.words, "word"), counted(review.sentences, "sentence")
    typer.echo(f"duilian: {path}: {words} in {sentences} to review", err=True)


def _candidates(layer: Layer) -> list[frozenset[str]]:
    """What annotators review of each word: its head and relation."""
    rows = zip(layer.heads or (), layer.relations or ("_",) * len(layer), strict=True)
    return [frozenset({f"{head}:{relation}"}) for head, relation in rows]


def _renderer(
    conversion: TreeConversion, to: str, with_confidence: bool
) -> Callable[[Sentence, ConvertedTree], str]:
    options = FormatOptions(standard=conversion.target, column=conversion.target_column)
    write_form = FORMATS[to].write
    assert write_form is not None

    numbers = itertools.count(1)

    def render(given: Sentence, answer: ConvertedTree) -> str:
        id = f"s{next(numbers)}"
        confidence = answer.confidence if with_confidence else None
        comments = tuple(_with_text(line, answer.layer) for line in given.comments)
        told = Sentence(given.layers, given.id or (id if to == "conllu" else ""), comments)
        sentence = analysed_sentence(answer.layer, told, confidence, conversion.target, to)
        return "".join(write_form([sentence], options))

    return render


def _with_text(comment: str, layer: Layer) -> str:
    """The comment; `# text` is rewritten, because the target may spell words differently."""
    is_text = comment.lstrip("# ").partition("=")[0].strip() == "text"
    return f"# text = {layer.text.strip()}" if is_text and not layer.extra_rows else comment

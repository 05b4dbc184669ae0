"""CoNLL-U, the format of Universal Dependencies; a well-formed file is written back byte for byte."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from duilian.corpus.formats.rows import RowFormat, RowReader, comments_to_write, format_rows
from duilian.corpus.lines import Lines, layer_to_write
from duilian.corpus.sentence import Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.corpus.trees import TreeCheck

CONLLU = RowFormat(
    "conllu",
    ("id", "form", "lemma", "upos", "xpos", "feats", "head", "relation", "deps", "misc"),
    has_extra_rows=True,
)
_TEXT = re.compile(r"#\s*text\s*=(.*)")
_NO_SPACE = "SpaceAfter=No"


def read_conllu(
    lines: Lines, *, path: str, standard: str | None, column: str | None = None, trees: TreeCheck = "any"
) -> Iterator[Sentence]:
    """Read one sentence per block; `column` defaults to that of the standard."""
    for sentence in RowReader(CONLLU, path, standard, column, trees).read(lines):
        ((name, layer),) = sentence.layers.items()
        spaces = _spaces(layer, sentence.comments)
        if spaces is not None:
            layer = dataclasses.replace(layer, spaces=spaces)
            sentence = Sentence({name: layer}, sentence.id, sentence.comments)
        yield sentence


def _spaces(layer: Layer, comments: tuple[str, ...]) -> tuple[str, ...] | None:
    """The white space after each word but the last; None if there is none or the file does not say."""
    misc = layer.columns["misc"]
    spaces = ["" if field == _NO_SPACE or _NO_SPACE in field.split("|") else " " for field in misc]
    if "" not in spaces and not _text_has_spaces(layer, comments):
        return None
    spaces[-1] = ""
    return tuple(spaces) if any(spaces) else None


def _text_has_spaces(layer: Layer, comments: tuple[str, ...]) -> bool:
    # Many Chinese files lack SpaceAfter altogether, though there are no spaces between their words.
    for comment in comments:
        match = _TEXT.fullmatch(comment)
        if match:
            return match[1].strip() != "".join(layer.words)
    return False


def write_conllu(
    sentences: Iterable[Sentence], *, standard: str | None = None, column: str | None = None
) -> Iterator[str]:
    """Write one block per sentence. A sentence from another format gets its id and text as comments."""
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        comments = comments_to_write(sentence)
        if "misc" not in layer.columns:
            comments += _new_comments(sentence, layer)
            layer = dataclasses.replace(layer, columns={**layer.columns, "misc": _misc(layer)})
        rows = format_rows(layer, CONLLU, column, standard or next(iter(sentence)))
        yield "\n".join([*comments, *rows]) + "\n\n"


def _new_comments(sentence: Sentence, layer: Layer) -> list[str]:
    text = layer.text.strip()
    has_text = any(_TEXT.fullmatch(comment) for comment in sentence.comments)
    return [] if has_text or re.search(r"[\0\r\n]", text) else [f"# text = {text}"]


def _misc(layer: Layer) -> tuple[str, ...]:
    spaces = layer.spaces or ("",) * len(layer)
    return tuple([UNKNOWN_FIELD if space else _NO_SPACE for space in spaces])

"""White-space columns with a blank line between sentences, as in the CoNLL-2000 shared task.

The first column is the word and the last one the tag: `_` unknown, `{B-NP|I-NP}` one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from sys import intern

from duilian.corpus.lines import Block, Lines, blocks, layer_to_write, unwritable
from duilian.corpus.sentence import NO_COLUMNS, Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN_FIELD, format_tags, parse_column
from duilian.errors import ConfigError, CorpusError

# The default names of columns, by their number.
_DEFAULT_NAMES = {2: ("word", "tag"), 3: ("word", "pos", "chunk")}
_SPACES = re.compile(r"[ \t]+")
_UNSAFE = re.compile(r"[\0 \t\r\n]")


def read_columns(
    lines: Lines, *, path: str, standard: str, names: Sequence[str] | None = None
) -> Iterator[Sentence]:
    """Read one sentence per block; `names` default to word pos chunk (or word tag if there are two)."""
    if names is not None:
        check_names(names)
    for block in blocks(lines):
        if names is None:
            names = _names_from(*block[0], path)
        yield Sentence({standard: _layer(block, names, path)})


def check_names(names: Sequence[str]) -> None:
    """Reject names that do not distinguish the columns."""
    if len(names) < 2 or len(set(names)) != len(names) or not all(names):
        raise ConfigError(f"there must be at least two column names, all different, got {','.join(names)!r}")


def default_names(line: str) -> tuple[str, ...] | None:
    """The default names of the columns of this line; None if there are too few or too many."""
    return _DEFAULT_NAMES.get(len(_fields(line)))


def _names_from(number: int, line: str, path: str) -> Sequence[str]:
    names = default_names(line)
    if names is None:
        count = len(_fields(line))
        hint = "name them, for instance word,lemma,pos,chunk"
        raise CorpusError(path, number, f"expected the columns word pos chunk, found {count}", hint)
    return names


def _fields(line: str) -> list[str]:
    fields = line.split(" ")
    if "" in fields or "\t" in line:
        return [field for field in _SPACES.split(line) if field]
    return fields


def _layer(block: Block, names: Sequence[str], path: str) -> Layer:
    rows = []
    for number, line in block:
        rows.append(_fields(line))
        if len(rows[-1]) != len(names):
            wanted = " ".join(names)
            wrong = f"expected {len(names)} columns ({wanted}), found {len(rows[-1])}"
            raise CorpusError(path, number, wrong)
    # [columns][words]
    table = [tuple(map(intern, column)) for column in zip(*rows, strict=True)]
    between = dict(zip(names[1:-1], table[1:-1], strict=True))
    numbers = [number for number, _ in block]
    return Layer(table[0], parse_column(table[-1], numbers, path), columns=between or NO_COLUMNS)


def write_columns(
    sentences: Iterable[Sentence], *, standard: str | None = None, names: Sequence[str] | None = None
) -> Iterator[str]:
    """Write one block per sentence: the word, the named columns (by default pos, if any), the tag."""
    if names is not None:
        check_names(names)
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        between = names[1:-1] if names is not None else [name for name in ("pos",) if name in layer.columns]
        missing = (UNKNOWN_FIELD,) * len(layer)
        table = [layer.words, *[layer.columns.get(name, missing) for name in between]]
        table.append(tuple(format_tags(layer.tags, len(layer), UNKNOWN_FIELD)))
        yield "".join([_join(row) for row in zip(*table, strict=True)]) + "\n"


def _join(row: tuple[str, ...]) -> str:
    for field in row:
        if not field or _UNSAFE.search(field):
            raise unwritable("field", field, "columns")
    return " ".join(row) + "\n"

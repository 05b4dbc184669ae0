"""CoNLL-X, ten columns without comments or extra rows; `_` stands for an unknown head or relation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duilian.corpus.formats.rows import RowFormat, RowReader, comments_to_write, format_rows
from duilian.corpus.lines import Lines, layer_to_write
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck

CONLLX = RowFormat(
    "conllx",
    ("id", "form", "lemma", "upos", "xpos", "feats", "head", "relation", "phead", "pdep"),
    has_extra_rows=False,
)


def read_conllx(
    lines: Lines, *, path: str, standard: str | None, column: str | None = None, trees: TreeCheck = "any"
) -> Iterator[Sentence]:
    """Read one sentence per block; as in CoNLL-U, the coarse tag is called upos and the fine one xpos."""
    return RowReader(CONLLX, path, standard, column, trees).read(lines)


def write_conllx(
    sentences: Iterable[Sentence], *, standard: str | None = None, column: str | None = None
) -> Iterator[str]:
    """Write one block per sentence, without multiword tokens and empty nodes."""
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        rows = format_rows(layer, CONLLX, column, standard or next(iter(sentence)))
        yield "\n".join([*comments_to_write(sentence), *rows]) + "\n\n"

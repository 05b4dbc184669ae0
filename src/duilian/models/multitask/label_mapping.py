"""From a mapping of tags to one of character labels (Qiu et al. 2013, Section 4).

A pair of tags becomes four pairs of labels, one for each boundary letter: B@NR → B@nr, I@NR → I@nr, ….
Names need more, because one standard writes 莫言 as one word and another as surname and given name. For each
way to split a name of a few characters, the labels that it has as one word and as two are paired character by
character: B@NR → S@nr, E@NR → S@nr, I@NR → B@nr, … .
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping as Table
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.labels.encoding import Encoding
from duilian.standards import Mapping

Pairs = Table[str, Sequence[str]]

NAME_TAGS = {"ctb": "NR", "pku": "nr", "gsd": "NNP", "ud": "PROPN", "ud1": "PROPN"}
SPLITS_NAMES = {"pku"}  # surname and given name are two words
LONGEST_NAME = 4


@dataclasses.dataclass(frozen=True)
class LabelMapping:
    """Which labels of two sides stand for each other; a label may have no partner."""

    labels_a: tuple[str, ...]
    labels_b: tuple[str, ...]
    matrix: npt.NDArray[np.bool_]  # [A, B]

    @classmethod
    def of(cls, a: Encoding, b: Encoding, pairs: Pairs) -> LabelMapping:
        """The mapping in a model file, which has the labels of b for each label of a."""
        matrix = np.zeros((len(a.labels), len(b.labels)), np.bool_)
        for label, partners in pairs.items():
            for partner in partners:
                matrix[a.number[label], b.number[partner]] = True
        return cls(a.labels, b.labels, matrix)

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(np.count_nonzero(self.matrix))

    @property
    def T(self) -> LabelMapping:  # noqa: N802  (numpy's name for it)
        """The same mapping, seen from b."""
        return LabelMapping(self.labels_b, self.labels_a, self.matrix.T)

    def to(self, label: str) -> list[str]:
        """The labels of b that this label of a maps to."""
        row = self.matrix[self.labels_a.index(label)]
        return [self.labels_b[k] for k in np.flatnonzero(row)]

    def without_partner(self) -> tuple[list[str], list[str]]:
        """The labels of each side without a partner."""
        lone_a = [label for label, row in zip(self.labels_a, self.matrix, strict=True) if not row.any()]
        lone_b = [label for label, row in zip(self.labels_b, self.matrix.T, strict=True) if not row.any()]
        return lone_a, lone_b

    def native(self, *, is_used: bool = True, is_mean: bool = False) -> _native.LabelMap:
        """The mapping for the native core, empty unless it is used. The scores of the partners of a label are
        averaged (`is_mean`) or summed.
        """
        matrix = self.matrix if is_used else np.zeros_like(self.matrix)
        first = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int32)
        return _native.LabelMap(first, np.nonzero(matrix)[1].astype(np.int32), is_mean)


def label_mapping(
    tags: Mapping, encodings: Sequence[Encoding], standards: Sequence[str], *, align_names: bool = True
) -> LabelMapping:
    """The mapping of the labels of two sides that follows from that of their tags."""
    a, b = encodings
    matrix = np.zeros((len(a.labels), len(b.labels)), np.bool_)
    for tag_a, tag_b in tags.bundles():
        _add(matrix, encodings, (tag_a, tag_b), [(k, k) for k in a.letters])
    names = (NAME_TAGS.get(standards[0], ""), NAME_TAGS.get(standards[1], ""))
    splits = [standard in SPLITS_NAMES for standard in standards]
    if align_names and splits[0] != splits[1] and names in tags.bundles():
        pairs = split_name_pairs(a)
        _add(matrix, encodings, names, [(two, one) for one, two in pairs] if splits[0] else pairs)
    return LabelMapping(a.labels, b.labels, matrix)


def split_name_pairs(encoding: Encoding) -> list[tuple[str, str]]:
    """Boundary letters of a name as one word, with those it has as two words."""
    found: dict[tuple[str, str], None] = {}
    for length in range(2, LONGEST_NAME + 1):
        for surname in range(1, length):
            whole = encoding.letters_of(length)
            parts = [*encoding.letters_of(surname), *encoding.letters_of(length - surname)]
            found |= dict.fromkeys(zip(whole, parts, strict=True))
    return list(found)


def _add(
    matrix: npt.NDArray[np.bool_],
    encodings: Sequence[Encoding],
    tags: tuple[str, str],
    letters: Sequence[tuple[str, str]],
) -> None:
    a, b = encodings
    for letter_a, letter_b in letters:
        matrix[a.number[f"{letter_a}@{tags[0]}"], b.number[f"{letter_b}@{tags[1]}"]] = True

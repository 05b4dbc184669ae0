"""A mapping m: Tᵃ × Tᵇ → {0, 1}: which tags of two standards the same word may have.

The ones of the matrix are the bundled tags of a coupled model. Li et al. (2017) compare four: tight and
relaxed (tables made by hand), automatic (from running one standard's tagger over the other's corpus) and
complete. This module makes all four; none depends on context.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from duilian.arguments import checked
from duilian.errors import ConfigError, StandardError
from duilian.standards.mapping_table import MappingTable
from duilian.standards.paired_tags import universal_of
from duilian.standards.standard import Standard

BoolMatrix = npt.NDArray[np.bool_]
Pair = tuple[str, str]


class Mapping:
    """An immutable 0/1 matrix with tags on both sides: rows of standard a, columns of standard b.

    >>> mapping = Mapping.from_table("ctb-pku.tight")
    >>> mapping("NN", "vn"), mapping.to("LC")
    (True, ('Ng', 'f', 's', 'u'))
    """

    __slots__ = ("_index_a", "_index_b", "matrix", "tags_a", "tags_b")

    tags_a: tuple[str, ...]
    tags_b: tuple[str, ...]
    matrix: BoolMatrix  # [A, B], read-only

    @checked
    def __init__(self, tags_a: Iterable[str], tags_b: Iterable[str], matrix: npt.ArrayLike) -> None:
        self.tags_a, self.tags_b = tuple(tags_a), tuple(tags_b)
        self._index_a, self._index_b = _index(self.tags_a), _index(self.tags_b)
        self.matrix = np.array(matrix, dtype=np.bool_)
        self.matrix.flags.writeable = False
        if self.matrix.shape != (len(self.tags_a), len(self.tags_b)):
            raise ConfigError(
                f"the matrix of a mapping must be {len(self.tags_a)} × {len(self.tags_b)}, "
                f"got shape {self.matrix.shape}"
            )

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"a Mapping is immutable: {name}")
        object.__setattr__(self, name, value)

    @classmethod
    def complete(cls, tags_a: Iterable[str], tags_b: Iterable[str]) -> Mapping:
        """The mapping that allows every pair of tags."""
        tags_a, tags_b = tuple(tags_a), tuple(tags_b)
        return cls(tags_a, tags_b, np.ones((len(tags_a), len(tags_b)), dtype=np.bool_))

    @classmethod
    def from_table(
        cls,
        name: str | Path,
        tags_a: Sequence[str] | None = None,
        tags_b: Sequence[str] | None = None,
        unknown: Literal["error", "complete", "keep"] = "error",
    ) -> Mapping:
        """Load a built-in table (`ctb-pku.tight`, or `pku-ctb.tight` for its transpose) or a file.

        The tags default to those of the table's standards. If they are given (usually those of the data), the
        table is reduced to them; `unknown` says whether a tag left without a partner is an error, maps to
        every tag, or keeps none.
        """
        if unknown not in ("error", "complete", "keep"):
            raise ConfigError(f"unknown must be 'error', 'complete' or 'keep', got {unknown!r}")
        table = MappingTable.load(name)
        known_a = dict.fromkeys(a for a, _ in table.pairs)
        known_b = dict.fromkeys(b for _, b in table.pairs)
        tags_a = _tags(table.left, known_a) if tags_a is None else tuple(tags_a)
        tags_b = _tags(table.right, known_b) if tags_b is None else tuple(tags_b)
        like_a, like_b = (_by_universal(tags) for tags in (tags_a, tags_b))
        kept = [
            (a, b) for left, right in table.pairs for a in like_a.get(left, ()) for b in like_b.get(right, ())
        ]
        mapping = cls._with_pairs(kept, tags_a, tags_b)
        if unknown == "complete":
            return mapping.completed()
        if unknown == "keep":
            return mapping
        lone_a, lone_b = mapping.without_partner()
        for tag in lone_a:
            _fail_lone(table.path, tag, [b for a, b in table.pairs if a == tag])
        for tag in lone_b:
            _fail_lone(table.path, tag, [a for a, b in table.pairs if b == tag])
        return mapping

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[Pair],
        tags_a: Sequence[str] | None = None,
        tags_b: Sequence[str] | None = None,
        min_count: int = 1,
    ) -> Mapping:
        """The automatic mapping: pairs seen at least `min_count` times, e.g. gold and predicted tags.

        Tags default to those seen, in alphabetical order. Those without a partner stay so: see `completed`.
        """
        if min_count < 1:
            raise ConfigError(f"min_count must be at least 1, got {min_count!r}")
        counts = Counter(pairs)
        tags_a = sorted({a for a, _ in counts}) if tags_a is None else tags_a
        tags_b = sorted({b for _, b in counts}) if tags_b is None else tags_b
        for side, tags in ((0, set(tags_a)), (1, set(tags_b))):
            foreign = sorted({pair[side] for pair in counts} - tags)
            if foreign:
                raise StandardError(
                    f"the pairs have the tag {foreign[0]!r}, which is not among {sorted(tags)}"
                )
        frequent = [pair for pair, count in counts.items() if count >= min_count]
        return cls._with_pairs(frequent, tags_a, tags_b)

    @classmethod
    def _with_pairs(cls, pairs: Iterable[Pair], tags_a: Iterable[str], tags_b: Iterable[str]) -> Mapping:
        tags_a, tags_b = tuple(tags_a), tuple(tags_b)
        index_a, index_b = _index(tags_a), _index(tags_b)
        matrix = np.zeros((len(tags_a), len(tags_b)), dtype=np.bool_)
        for a, b in pairs:
            matrix[index_a[a], index_b[b]] = True
        return cls(tags_a, tags_b, matrix)

    def __call__(self, tag_a: str, tag_b: str) -> bool:
        return bool(self.matrix[_index_of(self._index_a, tag_a), _index_of(self._index_b, tag_b)])

    def to(self, tag_a: str) -> tuple[str, ...]:
        """The tags of b that may go with this tag of a."""
        row = self.matrix[_index_of(self._index_a, tag_a)]
        return tuple(self.tags_b[j] for j in np.flatnonzero(row))

    def back(self, tag_b: str) -> tuple[str, ...]:
        """The tags of a that may go with this tag of b."""
        return self.T.to(tag_b)

    @property
    def T(self) -> Mapping:  # noqa: N802  (numpy's name for it)
        """The same mapping seen from b: `m(a, b) == m.T(b, a)`."""
        return Mapping(self.tags_b, self.tags_a, self.matrix.T)

    @property
    def size(self) -> int:
        """The number of bundled tags."""
        return int(np.count_nonzero(self.matrix))

    def bundles(self) -> list[Pair]:
        """The bundled tags, row by row."""
        return [(self.tags_a[i], self.tags_b[j]) for i, j in np.argwhere(self.matrix)]

    def union(self, other: Mapping) -> Mapping:
        """The pairs that either mapping allows."""
        return Mapping(self.tags_a, self.tags_b, self.matrix | self._aligned(other))

    def intersection(self, other: Mapping) -> Mapping:
        """The pairs that both mappings allow."""
        return Mapping(self.tags_a, self.tags_b, self.matrix & self._aligned(other))

    def covers(self, other: Mapping) -> bool:
        """Whether this mapping allows every pair that the other allows."""
        return bool(np.all(self.matrix >= self._aligned(other)))

    def without_partner(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tags of a and of b that are in no bundle; words with such a tag are useless for training."""
        lone_a, lone_b = self._lone()
        return (
            tuple(self.tags_a[i] for i in np.flatnonzero(lone_a)),
            tuple(self.tags_b[j] for j in np.flatnonzero(lone_b)),
        )

    def completed(self) -> Mapping:
        """The same mapping, except that a tag without a partner maps to every tag of the other side."""
        lone_a, lone_b = self._lone()
        return Mapping(self.tags_a, self.tags_b, self.matrix | lone_a[:, None] | lone_b[None, :])

    def to_text(self) -> str:
        """The matrix for people to read: `x` where two tags may go together, `.` elsewhere."""
        stub = max((_width(tag) for tag in self.tags_a), default=0)
        widths = [max(_width(tag), 1) for tag in self.tags_b]
        rows = [["", *self.tags_b]]
        rows += [
            [tag, *("x" if m else "." for m in row)]
            for tag, row in zip(self.tags_a, self.matrix, strict=True)
        ]
        return "\n".join(
            " ".join(_padded(cell, w) for cell, w in zip(row, [stub, *widths], strict=True)).rstrip()
            for row in rows
        )

    def _lone(self) -> tuple[BoolMatrix, BoolMatrix]:
        paired_a: BoolMatrix = np.any(self.matrix, axis=1)  # [A]
        paired_b: BoolMatrix = np.any(self.matrix, axis=0)  # [B]
        return ~paired_a, ~paired_b

    def _aligned(self, other: Mapping) -> BoolMatrix:
        if set(other.tags_a) != set(self.tags_a) or set(other.tags_b) != set(self.tags_b):
            raise ConfigError(
                "two mappings can be combined or compared only if they have the same tags on each side"
            )
        rows = [other._index_a[tag] for tag in self.tags_a]
        columns = [other._index_b[tag] for tag in self.tags_b]
        return other.matrix[np.ix_(rows, columns)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        same_tags = self.tags_a == other.tags_a and self.tags_b == other.tags_b
        return same_tags and bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((self.tags_a, self.tags_b, self.matrix.tobytes()))

    def __reduce__(self) -> tuple[type[Mapping], tuple[tuple[str, ...], tuple[str, ...], BoolMatrix]]:
        return Mapping, (self.tags_a, self.tags_b, self.matrix)  # a copy keeps the matrix read-only

    def __repr__(self) -> str:
        return f"Mapping({len(self.tags_a)} × {len(self.tags_b)} tags, {self.size} bundles)"


def _index(tags: tuple[str, ...]) -> dict[str, int]:
    for tag in tags:
        if not isinstance(tag, str):
            raise ConfigError(f"a tag must be a string, got {tag!r}")
    index = {tag: i for i, tag in enumerate(tags)}
    if len(index) != len(tags):
        twice = next(tag for tag, count in Counter(tags).items() if count > 1)
        raise ConfigError(f"the tag {twice!r} is given twice")
    return index


def _index_of(index: dict[str, int], tag: str) -> int:
    try:
        return index[tag]
    except KeyError:
        raise StandardError(f"the mapping has no tag {tag!r}", f"its tags are {' '.join(index)}") from None


def _tags(standard: Standard | None, named: Iterable[str]) -> tuple[str, ...]:
    return tuple(named) if standard is None or standard.tags is None else standard.tags


def _by_universal(tags: Iterable[str]) -> dict[str, list[str]]:
    """Tags by their names in tables, where a pair goes by its universal tag."""
    found: dict[str, list[str]] = {}
    for tag in tags:
        found.setdefault(universal_of(tag), []).append(tag)
    return found


def _fail_lone(path: str, tag: str, partners: Sequence[str]) -> NoReturn:
    hint = "add it to the table, or let it map to every tag with unknown='complete'"
    if partners:
        missing = " ".join(partners)
        raise StandardError(f"{path}: tag {tag!r} maps only to {missing}, not among the given tags", hint)
    raise StandardError(f"{path}: the table does not contain the tag {tag!r}", hint)


def _width(text: str) -> int:
    """Width on a terminal: Chinese characters take two columns, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))

"""Words as labels on units: `B@NN I@NN E@NN S@PU`, and which label may follow which.

A unit is a character, or a run of letters that is never cut. A unit may or may not be the first of its word,
and may or may not be the last; a scheme has a letter for each of the four cases. In schemes with fewer
letters, one letter covers two cases and the neighbours tell which. Li et al. (2016) use BIES.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from duilian.arguments import check_fields
from duilian.errors import ConfigError, StandardError
from duilian.wording import counted

BoolArray = npt.NDArray[np.bool_]

SEPARATOR = "@"


@dataclasses.dataclass(frozen=True, slots=True)
class BoundaryScheme:
    """The letters for the first, inner and last units of a longer word, and for a one-unit word.

    >>> BoundaryScheme.BIES.encode([2, 1], ["NN", "VV"])
    ['B@NN', 'E@NN', 'S@VV']
    """

    begin: str
    inside: str
    end: str
    single: str

    BIES: ClassVar[BoundaryScheme]
    BMES: ClassVar[BoundaryScheme]
    BI: ClassVar[BoundaryScheme]
    IE: ClassVar[BoundaryScheme]

    def __post_init__(self) -> None:
        check_fields(self)
        for letter in self.letters:
            if not letter or SEPARATOR in letter:
                raise ConfigError(
                    f"a boundary letter must be non-empty and must not contain {SEPARATOR!r}, got {letter!r}"
                )
        # Either neighbour can tell a cut from a join; if neither does, words cannot be recovered.
        open_left = [one for one in self.letters if self._is_last(one) and self._joins_next(one)]
        open_right = [one for one in self.letters if self._is_first(one) and self._joins_previous(one)]
        if open_left and open_right:
            raise ConfigError(
                f"the boundary letters {self.name!r} are ambiguous: {open_left[0]} before {open_right[0]} "
                "may be one word or two"
            )

    @classmethod
    def named(cls, name: str) -> BoundaryScheme:
        """Return the scheme of this name: BIES, BMES, BI or IE."""
        found = {"BIES": cls.BIES, "BMES": cls.BMES, "BI": cls.BI, "IE": cls.IE}.get(name)
        if found is None:
            raise ConfigError(f"there is no boundary scheme {name!r}, only BIES, BMES, BI and IE")
        return found

    @property
    def name(self) -> str:
        """The letters as one string."""
        return "".join(self.letters)

    @property
    def letters(self) -> tuple[str, ...]:
        """The distinct letters."""
        return tuple(dict.fromkeys((self.begin, self.inside, self.end, self.single)))

    def labels(self, tags: Sequence[str] | None = None) -> list[str]:
        """All labels, tag by tag; without tags, the bare letters (segmentation only)."""
        if tags is None:
            return list(self.letters)
        return [f"{letter}{SEPARATOR}{tag}" for tag in tags for letter in self.letters]

    def split(self, label: str) -> tuple[str, str | None]:
        """Split a label into letter and tag; the tag of a bare letter is None."""
        letter, separator, tag = label.partition(SEPARATOR)
        if letter not in (self.begin, self.inside, self.end, self.single):
            raise StandardError(f"label {label!r} does not start with a boundary letter of {self.name}")
        return letter, tag if separator else None

    def encode(self, lengths: Sequence[int], tags: Sequence[str] | None = None) -> list[str]:
        """One label per unit, for words of these lengths in units."""
        if tags is not None and len(tags) != len(lengths):
            raise ConfigError(f"{counted(len(lengths), 'word')}, but {counted(len(tags), 'tag')}")
        labels: list[str] = []
        for index, length in enumerate(lengths):
            if length < 1:
                raise ConfigError(f"a word must have at least one unit, word {index + 1} has {length}")
            suffix = "" if tags is None else f"{SEPARATOR}{tags[index]}"
            labels += [letter + suffix for letter in self._letters_of(length)]
        return labels

    def decode(self, labels: Sequence[str]) -> list[tuple[int, int, str | None]]:
        """Start, end (exclusive) and tag of each word; raises StandardError for an illegal sequence."""
        words: list[tuple[int, int, str | None]] = []
        start = 0
        parts = [self.split(label) for label in labels]
        if parts and not self._is_first(parts[0][0]):
            raise StandardError(f"label {labels[0]!r} cannot start a sentence")
        for t in range(1, len(parts)):
            if self._cuts(parts[t - 1], parts[t]):
                words.append((start, t, parts[start][1]))
                start = t
            elif not self._joins(parts[t - 1], parts[t]):
                raise StandardError(f"label {labels[t]!r} at unit {t + 1} cannot follow {labels[t - 1]!r}")
        if parts:
            if not self._is_last(parts[-1][0]):
                raise StandardError(f"label {labels[-1]!r} cannot end a sentence")
            words.append((start, len(parts), parts[start][1]))
        return words

    def allowed_start(self, labels: Sequence[str]) -> BoolArray:
        """[L] which labels may start a sentence."""
        return np.array([self._is_first(self.split(label)[0]) for label in labels], dtype=np.bool_)

    def allowed_end(self, labels: Sequence[str]) -> BoolArray:
        """[L] which labels may end a sentence."""
        return np.array([self._is_last(self.split(label)[0]) for label in labels], dtype=np.bool_)

    def allowed(self, labels: Sequence[str]) -> BoolArray:
        """[L, L] whether label j may follow label i.

        Together with `allowed_start` and `allowed_end`, this admits exactly the encodings of segmentations.
        """
        parts = [self.split(label) for label in labels]
        joins_next = np.array([self._joins_next(letter) for letter, _ in parts], dtype=np.bool_)
        joins_previous = np.array([self._joins_previous(letter) for letter, _ in parts], dtype=np.bool_)
        tag_ids = {tag: index for index, tag in enumerate(dict.fromkeys(tag for _, tag in parts))}
        tags = np.array([tag_ids[tag] for _, tag in parts], dtype=np.int64)
        joins: BoolArray = joins_next[:, None] & joins_previous[None, :] & (tags[:, None] == tags[None, :])
        cuts: BoolArray = self.allowed_end(labels)[:, None] & self.allowed_start(labels)[None, :]
        return joins | cuts

    def _letters_of(self, length: int) -> list[str]:
        if length == 1:
            return [self.single]
        return [self.begin, *[self.inside] * (length - 2), self.end]

    def _is_first(self, letter: str) -> bool:
        return letter in (self.begin, self.single)

    def _is_last(self, letter: str) -> bool:
        return letter in (self.end, self.single)

    def _joins_next(self, letter: str) -> bool:
        return letter in (self.begin, self.inside)

    def _joins_previous(self, letter: str) -> bool:
        return letter in (self.inside, self.end)

    def _cuts(self, left: tuple[str, str | None], right: tuple[str, str | None]) -> bool:
        return self._is_last(left[0]) and self._is_first(right[0])

    def _joins(self, left: tuple[str, str | None], right: tuple[str, str | None]) -> bool:
        return self._joins_next(left[0]) and self._joins_previous(right[0]) and left[1] == right[1]


BoundaryScheme.BIES = BoundaryScheme("B", "I", "E", "S")
BoundaryScheme.BMES = BoundaryScheme("B", "M", "E", "S")
BoundaryScheme.BI = BoundaryScheme("B", "I", "I", "B")
BoundaryScheme.IE = BoundaryScheme("I", "I", "E", "E")


@dataclasses.dataclass(frozen=True, eq=False)
class LabelMeaning:
    """What labels mean: a word ends between two units if the first may end one and the second start one."""

    tags: Sequence[str | None]  # [L]
    starts: BoolArray  # [L]
    ends: BoolArray  # [L]

    @functools.cached_property
    def edges(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """The same for the native core."""
        return self.starts.astype(np.uint8), self.ends.astype(np.uint8)

    @functools.cached_property
    def names(self) -> tuple[str, ...] | None:
        """The tag of each label; None if labels have no tags."""
        return None if None in self.tags else tuple(map(str, self.tags))

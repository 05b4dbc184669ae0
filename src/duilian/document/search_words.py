"""Words as a search engine indexes them: those of every standard and their parts, with positions."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.document.word_table import WordTable
from duilian.text import Folding

TERMS = Folding(width=True, script="simplified")
"""What an index sees of a word, besides lower case: half-width and simplified characters."""


class SearchWord(NamedTuple):
    """A word, or a part of one, for the index of a search engine.

    Positions are Lucene's: `increment` counts from the word before, and a word that spans several positions
    has that `length`. Punctuation takes a position, so that phrases do not match across it.

    >>> word = SearchWord("大学", 5, 7, position=3, increment=1, length=1, standards=("ud",))
    >>> word.is_part
    False
    """

    text: str  # as in the index: half-width, lower case, simplified
    start: int  # in characters of the text
    end: int
    position: int
    increment: int
    length: int
    standards: tuple[str, ...]  # where it is a word; empty for a part

    @property
    def is_part(self) -> bool:
        """Whether it is not a word in any standard."""
        return not self.standards


def search_words(
    text: str, layers: dict[str, WordTable], *, parts: bool = True, fold: bool = True
) -> list[SearchWord]:
    """Return the words of all standards and their parts, by start, longer ones first."""
    terms, rows = _found(text, layers, parts, fold)
    names = tuple(layers)
    increments = np.diff(rows[:, 2], prepend=np.int32(-1)).tolist()
    return [
        SearchWord(term, start, end, position, increment, length, _names(names, standards))
        for term, (start, end, position, length, standards), increment in zip(
            terms, rows.tolist(), increments, strict=True
        )
    ]


def search_terms(
    text: str, layers: dict[str, WordTable], *, parts: bool = True, fold: bool = True
) -> list[str]:
    """Return only the texts of the same words."""
    return _found(text, layers, parts, fold)[0]


def _found(
    text: str, layers: dict[str, WordTable], parts: bool, fold: bool
) -> tuple[list[str], npt.NDArray[np.int32]]:
    words = [
        (np.ascontiguousarray(layer.start), np.ascontiguousarray(layer.end)) for layer in layers.values()
    ]
    return _native.search_words(text, words, parts, TERMS.native if fold else None)


@functools.lru_cache(maxsize=1024)
def _names(names: tuple[str, ...], standards: int) -> tuple[str, ...]:
    return tuple(name for bit, name in enumerate(names) if standards >> bit & 1)

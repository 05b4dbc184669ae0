"""Words as a neural parser sees them: the rows of their features in the tables."""

from __future__ import annotations

import itertools
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from duilian.models.neural_parser.storage import NeuralParserModel
from duilian.models.parser.tree_packing import Ids
from duilian.standards import split_pair
from duilian.text import Folding

NONE, UNKNOWN = 0, 1  # the first rows of most tables
MAX_LENGTH = 6  # longer words count as that long
FIRST_ROOM, MAX_KNOWN = 2**10, 2**16  # words whose features are kept
# Letters, digits and their signs become narrow; Chinese punctuation stays as it is.
RUNS = ((ord("０"), 10), (ord("Ａ"), 26), (ord("ａ"), 26))
WIDE = "％．－＋＆＃＠＄／" + "".join(chr(first + k) for first, count in RUNS for k in range(count))
NARROW = {ord(wide): ord(wide) - 0xFEE0 for wide in WIDE}
NUMERALS = frozenset("零一二三四五六七八九十百千万亿〇两")

Features = npt.NDArray[np.int32]


class WordPacker:
    """Finds the features of words, which are kept for the next time."""

    def __init__(self, model: NeuralParserModel) -> None:
        self._fold = Folding(width=False, script=model.config.script)
        self._names = model.features
        self._words = _numbered(model.words, 2)
        self._characters = _numbered(model.characters, 2)
        self._vectors = _numbered(model.vector_words, 1)
        self._tags = _numbered(model.tags, 2)
        self._rows = {name: len(table) for name, table in model.tables.items()}
        self._lock = threading.Lock()
        self._forget()

    def features(self, words: Sequence[Sequence[str]], tags: Ids) -> Features:
        """[words, features]  the rows of all words with these tags, numbered as in the tables."""
        with self._lock:
            if len(self._known) > MAX_KNOWN:
                self._forget()
            places = [self._place(word) for word in itertools.chain.from_iterable(words)]
            found = self._kept[np.array(places, np.int64)]
        if "tag" in self._names:
            found[:, self._names.index("tag")] = tags
        return found

    def tag_number(self, tag: str) -> int:
        """The row of a tag, or of part of a pair if the parser does not know the pair."""
        known = (self._tags[name] for name in (tag, *split_pair(tag)[::-1]) if name in self._tags)
        return next(known, UNKNOWN)

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._kept = np.zeros((FIRST_ROOM, len(self._names)), np.int32)

    def _place(self, word: str) -> int:
        place = self._known.get(word)
        if place is None:
            row, place = self._row(self._fold(word).translate(NARROW)), len(self._known)
            if place == len(self._kept):
                self._kept = np.concatenate([self._kept, np.zeros_like(self._kept)])
            self._kept[place], self._known[word] = row, place
        return place

    def _row(self, word: str) -> list[int]:
        is_long = len(word) > 2
        makers: Mapping[str, Callable[[], int]] = {
            "word": lambda: self._words.get(word, UNKNOWN),
            "first": lambda: self._characters.get(word[0], UNKNOWN),
            "last": lambda: self._characters.get(word[-1], UNKNOWN),
            "second": lambda: self._characters.get(word[1], UNKNOWN) if is_long else NONE,
            "suffix": lambda: hashed(word[-2:], self._rows["suffix"]) if is_long else NONE,
            "prefix": lambda: hashed(word[:2], self._rows["prefix"]) if is_long else NONE,
            "length": lambda: min(len(word), MAX_LENGTH),
            "shape": lambda: shape(word),
            "tag": lambda: NONE,
            "vector_suffix": lambda: self._longest([word[k:] for k in range(len(word))]),
            "vector_prefix": lambda: self._longest([word[:k] for k in range(len(word), 0, -1)]),
        }
        return [makers[name]() for name in self._names]

    def _longest(self, parts: Sequence[str]) -> int:
        """The row of the first part that has a vector."""
        return next((self._vectors[part] for part in parts if part in self._vectors), NONE)


def hashed(text: str, rows: int) -> int:
    """The row of a text in a table that texts are hashed into; row 0 is for no text."""
    found = 0
    for character in text:
        found = (found * 1000003 + ord(character)) & 0xFFFFFFFF
    return 1 + (found ^ (found >> 15)) % (rows - 1)


def shape(word: str) -> int:
    """What a word looks like: digits, letters, other ASCII, numerals, punctuation or anything else."""
    if word.isdigit():
        return 1
    if word.isascii():
        return 2 if word.isalpha() else 3
    if NUMERALS.issuperset(word):
        return 4
    return 5 if unicodedata.category(word[0])[0] == "P" else 6


def _numbered(names: Sequence[str], first: int) -> dict[str, int]:
    return {name: k for k, name in enumerate(names, start=first)}

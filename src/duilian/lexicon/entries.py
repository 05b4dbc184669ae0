"""The entries of a user's lexicon: what one is, the lines of their file, and the table they lie in.

The table is native, a million entries in some 100 MB; see `native/include/duilian/lexicon/word_list.hpp`.
Words are kept in simplified characters, so that an entry is found in either script.
"""

from __future__ import annotations

import dataclasses
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from duilian import _native
from duilian.corpus.lines import shown
from duilian.errors import ConfigError
from duilian.text import check_text, simplified

MOST_WEIGHT = 1e4  # decoding stays exact up to scores of this size
_ESCAPED = re.compile(r"^\\(?=#)", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A word and the tags it may have (none given: any). With a weight it is always a preference."""

    word: str
    tags: tuple[str, ...] = ()
    weight: float | None = None

    def __post_init__(self) -> None:
        check_text(self.word)
        if self.word.split() != [self.word]:
            raise ConfigError(f"a word must be without spaces and not empty, got {shown(self.word)}")
        if isinstance(self.tags, str):
            raise ConfigError(f"the tags of {shown(self.word)} must be a tuple, got {self.tags!r}")
        for tag in self.tags:
            if tag.split() != [tag]:
                raise ConfigError(f"a tag must be without spaces and not empty, got {shown(tag)}")
        if self.weight is not None:
            check_weight(self.weight)
        if len(self.tags) > 1:
            object.__setattr__(self, "tags", tuple(sorted(set(self.tags))))


def check_weight(weight: float) -> float:
    """The weight itself, or a ConfigError."""
    if not 0 < weight <= MOST_WEIGHT:
        raise ConfigError(
            f"a weight must be above 0 and at most {MOST_WEIGHT:.0f}, got {weight!r}",
            hint="for words without exception give no weight, and the mode 'force'",
        )
    return weight


def is_entry(line: str) -> bool:
    """Whether a line of a lexicon's file is meant as an entry: neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def parse_entry(line: str) -> Entry:
    """The entry in a line: word, tags (`NN|VV`) and weight with tabs between; `\\#` begins a word with #."""
    word, *rest = line.split("\t")
    if len(rest) > 2:
        raise ConfigError(
            f"at most 3 columns were expected, found {len(rest) + 1}", hint="word, tags (NN|VV) and weight"
        )
    if not rest and len(word.split()) > 1:
        raise ConfigError(f"the word {shown(word)} has a space in it", hint="put a tab between the columns")
    tags = tuple(rest[0].split("|")) if rest and rest[0] else ()
    return Entry(_ESCAPED.sub("", word), tags, _parse_weight(rest[1]) if len(rest) == 2 else None)


def _parse_weight(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise ConfigError(f"the weight {shown(field)} is not a number") from None


class EntryTable:
    """Entries, numbered in the order in which their words came. `path` is the file they come from."""

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.native = _native.WordList()
        self._lines = array("I")  # [entries]  the line that has the word first; 0: none

    def __len__(self) -> int:
        return len(self.native)

    def __getitem__(self, number: int) -> Entry:
        weight = self.native.weight(number)
        return Entry(
            self.native.word(number), tuple(self.native.tags(number)), None if math.isnan(weight) else weight
        )

    def place(self, number: int) -> str:
        """`path:line` of an entry, empty if it does not come from a file."""
        line = self._lines[number]
        return f"{self.path}:{line}" if line else ""

    def find(self, words: Sequence[str]) -> list[int]:
        """The entry of each word, -1 where there is none."""
        found: list[int] = self.native.find_all([simplified(word) for word in words]).tolist()
        return found

    def add(self, entry: Entry, line: int = 0) -> None:
        """Tags of entries of one word are put together; two weights are a ConfigError."""
        word, weight = simplified(entry.word), math.nan if entry.weight is None else entry.weight
        if not self.native.add(word, list(entry.tags), weight):
            known = self.native.weight(self.find([word])[0])
            raise ConfigError(
                f"the word {shown(entry.word)} has two weights, "
                f"{None if math.isnan(known) else known} and {entry.weight}",
                hint="give one weight, or the same one with each tag",
            )
        if len(self.native) > len(self._lines):
            self._lines.append(line)

    def add_lines(self, block: Sequence[tuple[int, str]]) -> Iterator[tuple[int, ConfigError]]:
        """Adds numbered lines; gives the number and fault of each that is wrong.

        The native table takes the lines that are plainly sound and stops at any other, which is looked at
        here: it may be sound all the same, and if it is not, there is one place that says why.
        """
        text = _simplified_words("\n".join([line for _, line in block])) + "\n"
        lines = (_ESCAPED.sub(" ", text) if "\\#" in text else text).encode()  # with a space it is not sound
        at = done = 0  # bytes and lines dealt with
        while at < len(lines):
            end = self.native.add_lines(lines, at, MOST_WEIGHT)
            count = lines.count(b"\n", at, end)
            self._note_lines([number for number, _ in block[done : done + count]], lines[at:end])
            at, done = end, done + count
            if at == len(lines):
                break
            number, line = block[done]
            at, done = lines.index(b"\n", at) + 1, done + 1
            try:
                if is_entry(line):
                    self.add(parse_entry(line), number)
            except ConfigError as error:
                yield number, error

    def _note_lines(self, numbers: list[int], lines: bytes) -> None:
        """Where the entries stand that these lines have added."""
        added = len(self.native) - len(self._lines)
        if added == len(numbers):
            self._lines.extend(numbers)
        elif added:
            words = [line.partition("\t")[0] for line in lines.decode().split("\n")[:-1]]
            for number, entry in zip(numbers, self.native.find_all(words).tolist(), strict=True):
                if entry == len(self._lines):  # the next new one
                    self._lines.append(number)

    def __getstate__(self) -> dict[str, Any]:
        entries = [dataclasses.astuple(self[number]) for number in range(len(self))]
        return {"path": self.path, "entries": entries, "lines": self._lines}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]
        for word, tags, weight in state["entries"]:
            self.native.add(word, list(tags), math.nan if weight is None else weight)
        self._lines = state["lines"]


def _simplified_words(text: str) -> str:
    """Lines with their first columns in simplified characters; tags stay as they are."""
    found = simplified(text)
    if found == text:
        return text
    codes, folded = (np.frombuffer(each.encode("utf-32-le"), "<u4") for each in (text, found))
    tabs = np.cumsum(codes == ord("\t"))
    before = np.maximum.accumulate(np.where(codes == ord("\n"), tabs, 0))  # tabs before the line
    return np.where(tabs == before, folded, codes).tobytes().decode("utf-32-le")

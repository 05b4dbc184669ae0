"""The entries of a user's lexicon, the lines of its file, and the table that stores them.

The table is native: a million entries take about 100 MB; see `native/include/duilian/lexicon/word_list.hpp`.
Words are stored in simplified characters, so that an entry is found in either script.
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

MAX_WEIGHT = 1e4  # decoding is exact up to scores of this size
_ESCAPED = re.compile(r"^\\(?=#)", re.MULTILINE)
_HAN = "\u3400-\u9fff\U00020000-\U0003ffff"
_JIEBA = re.compile(
    rf"^(?!#)(?:(\S+) [0-9]+ ([A-Za-z]+)|(?=\S*[{_HAN}])(\S+) (?:[0-9]+|([a-z]{{1,4}}))) *$", re.MULTILINE
)
"""A line of jieba's dictionaries. Two columns must begin with a Chinese word: `iPhone 15` is a mistake."""
_SPACED = re.compile(r"(\S+(?: +\S+)+?) +[0-9]+(?: +[A-Za-z]+)? *")
"""Such a line, but with spaces in the word."""


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A word and the tags it may have (any, if none is given). With a weight it is always a preference.

    >>> Entry("杭州湾", tags=("ns", "NR")).weight is None  # forced, unless the lexicon prefers
    True
    """

    word: str
    tags: tuple[str, ...] = ()
    weight: float | None = None

    def __post_init__(self) -> None:
        check_text(self.word)
        if self.word.split() != [self.word]:
            raise _spaced(self.word) if self.word.strip() else ConfigError("a word must not be empty")
        if isinstance(self.tags, str):
            raise ConfigError(f"the tags of {shown(self.word)} must be a tuple, got {self.tags!r}")
        for tag in self.tags:
            if tag.split() != [tag]:
                raise ConfigError(f"a tag must not be empty or have spaces, got {shown(tag)}")
        if self.weight is not None:
            check_weight(self.weight)
        if len(self.tags) > 1:
            object.__setattr__(self, "tags", tuple(sorted(set(self.tags))))


def check_weight(weight: float) -> float:
    """Return the weight if it is valid, else raise a ConfigError."""
    if not 0 < weight <= MAX_WEIGHT:
        raise ConfigError(
            f"a weight must be above 0 and at most {MAX_WEIGHT:.0f}, got {weight!r}",
            hint="to force a word, give no weight and use the mode 'force'",
        )
    return weight


def is_entry(line: str) -> bool:
    """Whether a line of a lexicon file is an entry: neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def parse_entry(line: str) -> Entry:
    """Parse a line: word, tags (`NN|VV`) and weight, separated by tabs; `\\#` begins a word with #.

    A line of jieba's dictionaries, `word frequency tag`, is read, too; its frequency is ignored.
    """
    word, *rest = _with_tabs(line, set()).split("\t")
    if len(rest) > 2:
        raise ConfigError(
            f"expected at most 3 columns, found {len(rest) + 1}", hint="word, tags (NN|VV) and weight"
        )
    if not rest and len(word.split()) > 1:
        raise _spaced(word)
    tags = tuple(rest[0].split("|")) if rest and rest[0] else ()
    return Entry(_ESCAPED.sub("", word), tags, _parse_weight(rest[1]) if len(rest) == 2 else None)


def _spaced(line: str) -> ConfigError:
    """The error for a line of words with spaces, perhaps followed by the frequency and tag of jieba's."""
    found = _SPACED.fullmatch(line)
    word = found[1] if found else line.strip()
    return ConfigError(
        f"the word {shown(word)} contains a space, but text is always cut at spaces",
        hint="write it without the space, or give each part a line of its own; separate columns with tabs",
    )


def _with_tabs(lines: str, loose_tags: set[str]) -> str:
    """Rewrite lines of jieba's dictionaries as word and tag; add those tags to the loose ones."""

    def tabbed(found: re.Match[str]) -> str:
        word, tag, chinese_word, lone_tag = found.groups("")
        loose_tags.add(tag or lone_tag)
        return f"{word}{chinese_word}\t{tag}{lone_tag}"

    return _JIEBA.sub(tabbed, lines) if " " in lines else lines


def _parse_weight(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise ConfigError(f"the weight {shown(field)} is not a number") from None


class EntryTable:
    """Entries, numbered in the order in which their words were added. `path` is their file.

    `loose_tags` are those of jieba's dictionaries, which are ignored if a model does not know them.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.loose_tags: set[str] = set()
        self.native = _native.WordList()
        self._lines = array("I")  # [entries]  the first line with the word; 0 if there is none

    def __len__(self) -> int:
        return len(self.native)

    def __getitem__(self, number: int) -> Entry:
        weight = self.native.weight(number)
        return Entry(
            self.native.word(number), tuple(self.native.tags(number)), None if math.isnan(weight) else weight
        )

    def place(self, number: int) -> str:
        """The `path:line` of an entry; empty if it is not from a file."""
        line = self._lines[number]
        return f"{self.path}:{line}" if line else ""

    def find(self, words: Sequence[str]) -> list[int]:
        """The number of each word's entry, -1 if there is none."""
        found: list[int] = self.native.find_all([simplified(word) for word in words]).tolist()
        return found

    def add(self, entry: Entry, line: int = 0) -> None:
        """Add an entry; the tags of entries for the same word are merged; two weights are a ConfigError."""
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
        """Add numbered lines; yield the number and error of each malformed one.

        The native table takes lines that are clearly well formed and stops at any other. That line is parsed
        here: it may be well formed after all, and if not, there is one place that says why.
        """
        given = "\n".join([line for _, line in block])
        text = _simplified_words(_with_tabs(given, self.loose_tags)) + "\n"
        lines = (_ESCAPED.sub(" ", text) if "\\#" in text else text).encode()  # a space makes the table stop
        at = done = 0  # bytes and lines processed
        while at < len(lines):
            end = self.native.add_lines(lines, at, MAX_WEIGHT)
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
        """Record the lines of the entries that these lines added."""
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
        return {"path": self.path, "entries": entries, "lines": self._lines, "loose": self.loose_tags}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]
        for word, tags, weight in state["entries"]:
            self.native.add(word, list(tags), math.nan if weight is None else weight)
        self._lines, self.loose_tags = state["lines"], state["loose"]


def _simplified_words(text: str) -> str:
    """The lines with their first column in simplified characters; tags are unchanged."""
    found = simplified(text)
    if found == text:
        return text
    codes, folded = (np.frombuffer(each.encode("utf-32-le"), "<u4") for each in (text, found))
    tabs = np.cumsum(codes == ord("\t"))
    before = np.maximum.accumulate(np.where(codes == ord("\n"), tabs, 0))  # tabs before the line
    return np.where(tabs == before, folded, codes).tobytes().decode("utf-32-le")

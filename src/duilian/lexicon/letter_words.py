"""Alphabetic words within Chinese text, for models that have learned to tag them (`[mixing]` of a recipe).

Han characters and letters form one word only if the training corpora or the dictionary contain that very
word (K歌, T恤). Elsewhere a word ends between them, even if digits follow the letters (iPhone15). An
alphabetic word gets a part-of-speech tag, or the tag for foreign words that its standard prescribes.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian.features import Reading
from duilian.labels.units import UnitBatch
from duilian.text import BEGINS, GOES_ON, NOT_FOREIGN, ONLY_FOREIGN

English = Literal["tags", "standard"]

LATIN = "A-Za-zＡ-Ｚａ-ｚÀ-ÖØ-öø-ɏ"
HAN = "々〇㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
DIGITS = "0-9０-９"
RUNS = re.compile(f"[{LATIN}]+[{DIGITS}]*")  # iPhone15 ends like a word of letters alone
_IS_LATIN = re.compile(f"[{LATIN}]").match


@functools.cache  # the class of Han characters takes milliseconds to compile
def meetings() -> re.Pattern[str]:
    """The pattern of places where letters and Han characters meet."""
    return re.compile(f"[{LATIN}][{DIGITS}]*(?=[{HAN}])|[{HAN}](?=[{LATIN}])")


@functools.cache
def _han() -> re.Pattern[str]:
    return re.compile(f"[{HAN}]")


class LetterRun(NamedTuple):
    """A run of letters in a text, with the digits after it, and whether Han on either side is glued to it."""

    start: int
    end: int
    touches: tuple[bool, bool]  # Han before it, after it
    glued: tuple[bool, bool]


class GluedWords:
    """Words of Han and letters, found at the places where the two meet."""

    def __init__(self, words: Iterable[str]) -> None:
        self._at: dict[str, list[tuple[str, int]]] = {}  # by the two characters that meet: word, place
        for word in words:
            for meeting in meetings().finditer(word):
                place = meeting.end()
                self._at.setdefault(word[place - 1 : place + 1], []).append((word, place))
        self.longest = max((len(word) for found in self._at.values() for word, _ in found), default=0)

    def __contains__(self, pair: str) -> bool:
        return pair in self._at

    def covers(self, text: str, at: int) -> bool:
        """Whether one of the words spans a place in a folded text without cutting a run of letters."""
        return any(
            text.startswith(word, at - place)
            and at >= place
            and not _cuts(text, at - place)
            and not _cuts(text, at - place + len(word))
            for word, place in self._at.get(text[at - 1 : at + 1], ())
        )


@dataclasses.dataclass(frozen=True)
class LetterWords:
    """What is known about alphabetic words before the model runs; `reading` is the model's."""

    reading: Reading
    english: English = "tags"

    @classmethod
    def of(cls, reading: Reading | None, english: English) -> LetterWords | None:
        """None for a model that has not learned to tag alphabetic words."""
        is_for_them = reading is not None and reading.folding.letters == "cased"
        return cls(reading, english) if reading is not None and is_for_them else None

    @functools.cached_property
    def _glued(self) -> GluedWords:
        dictionary = self.reading.dictionary
        return GluedWords(
            filter(meetings().search, () if dictionary is None else dictionary.native.mixed_words())
        )

    def facts(self, units: UnitBatch) -> npt.NDArray[np.uint16]:
        """The facts about each unit (see `text.Split`), including those that follow from letters."""
        found = [(k, run) for k, text in enumerate(units.batch) for run in self._runs(text)]
        if not found:
            return units.known
        base = np.cumsum([0, *(len(text) + 1 for text in units.batch)])
        owner = np.repeat(np.arange(len(units.batch)), np.diff(units.sentence[units.text]))
        places = base[np.array([k for k, _ in found])]
        start = np.array([run.start for _, run in found]) + places
        end = np.array([run.end for _, run in found]) + places
        touches = np.array([run.touches for _, run in found])
        glued = np.array([run.glued for _, run in found])
        begin = units.start + base[owner]
        first, after = np.searchsorted(begin, start), np.searchsorted(begin, end)
        is_unit = begin[np.minimum(first, len(begin) - 1)] == start  # not in the middle of one
        return self._marked(first[is_unit], after[is_unit], touches[is_unit], glued[is_unit], units.known)

    def _marked(
        self,
        first: npt.NDArray[np.int64],
        after: npt.NDArray[np.int64],
        touches: npt.NDArray[np.bool_],
        glued: npt.NDArray[np.bool_],
        known: npt.NDArray[np.uint16],
    ) -> npt.NDArray[np.uint16]:
        """Add the facts about runs of letters; each run has a first unit and one after it."""
        marked, last = known.copy(), len(known)
        cut = touches & ~glued
        for unit in (first[cut[:, 0]], after[cut[:, 1] & (after < last)]):
            marked[unit] |= np.where(known[unit] & GOES_ON, 0, BEGINS).astype(np.uint16)
        if self.english == "tags":
            np.bitwise_or.at(marked, first, np.uint16(NOT_FOREIGN))
            return marked
        follows = np.append(known, 0)[after]
        is_alone = ~glued.any(axis=1) & ((known[first] | follows) & GOES_ON == 0) & (after == first + 1)
        np.bitwise_or.at(marked, first[is_alone], np.uint16(ONLY_FOREIGN))
        return marked

    def _runs(self, text: str) -> Iterator[LetterRun]:
        if text.isascii():
            for run in RUNS.finditer(text):
                yield LetterRun(run.start(), run.end(), (False, False), (False, False))
            return
        is_han = _han().match
        for run in RUNS.finditer(text):
            places = (run.start(), run.end())
            before = places[0] > 0 and is_han(text, places[0] - 1) is not None
            behind = is_han(text, places[1]) is not None
            glued = before and self._is_glued(text, places[0]), behind and self._is_glued(text, places[1])
            yield LetterRun(*places, (before, behind), glued)

    def _is_glued(self, text: str, at: int) -> bool:
        glued = self._glued
        if not self._may_meet(text[at - 1 : at + 1]):
            return False
        begin = max(0, at - glued.longest - 1)
        return glued.covers(self._fold(text[begin : at + glued.longest + 1]), at - begin)

    @functools.cached_property
    def _may_meet(self) -> Callable[[str], bool]:
        """Whether two characters meet in a known word; cached, because texts repeat themselves."""
        return functools.lru_cache(maxsize=1 << 16)(lambda pair: self._fold(pair) in self._glued)

    def _fold(self, text: str) -> str:
        return lowered(self.reading.folding(text))


def lowered(text: str) -> str:
    """ASCII letters in lower case, as dictionaries have them for models that see their case."""
    return "".join(c.lower() if c.isascii() else c for c in text)


def _cuts(text: str, at: int) -> bool:
    """Whether the place lies inside a run of letters."""
    return 0 < at < len(text) and bool(_IS_LATIN(text, at - 1)) and bool(_IS_LATIN(text, at))

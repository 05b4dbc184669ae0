"""A user's lexicon: words that must be words, or had better be, where a text has them.

Matches become wishes to the decoder: labels that are allowed at a unit, or a bonus on them. Words that a text
does not have leave its analysis alone. The same matches can be columns for feature templates, so that a
model learns how far to trust the lexicon.

The entries lie in a native table, a million of them in some 100 MB, which also finds them in texts; see
`native/include/duilian/lexicon/word_list.hpp`.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import math
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from duilian import _native
from duilian import text as texts
from duilian.corpus.files import display_name, read_lines
from duilian.corpus.lines import shown
from duilian.corpus.storage import ReadReport
from duilian.errors import ConfigError, CorpusError, StandardError
from duilian.text import check_text
from duilian.wishes import Wished, WishedWord

if TYPE_CHECKING:
    from duilian.models.encoding import Encoding, Level

Mode = Literal["force", "prefer"]
_Found = tuple[int, int, int, bool]
"""First unit, unit behind the last, number of the entry, whether it is a preference."""

WEIGHT = 2.0  # per unit
MOST_WEIGHT = 1e4  # decoding stays exact up to scores of this size
LINES_AT_ONCE = 50_000
LONG = 5  # words of so many units and more are one class of length, as in the template `len`


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


class Match(NamedTuple):
    """An entry that fires: on the units from `start` to `end` (exclusive)."""

    start: int
    end: int
    word: str
    mode: Mode


class Finding(NamedTuple):
    """A place where the text has the word of an entry: characters from `start` to `end` (exclusive).

    `why_not` is empty if the entry fires, otherwise it says in a few words why it does not.
    """

    start: int
    end: int
    word: str
    mode: Mode
    why_not: str = ""

    @property
    def fires(self) -> bool:
        """Whether the decoder hears of it."""
        return not self.why_not


def check_weight(weight: float) -> float:
    """The weight itself, or a ConfigError."""
    if not 0 < weight <= MOST_WEIGHT:
        raise ConfigError(
            f"a weight must be above 0 and at most {MOST_WEIGHT:.0f}, got {weight!r}",
            hint="for words without exception give no weight, and the mode 'force'",
        )
    return weight


class Lexicon:
    """Entries, found in texts. Their order does not matter; entries of one word are merged.

    `mode` is what entries without a weight do: `force` leaves no other analysis, `prefer` adds `weight` to
    the score of the labels on each unit.
    """

    def __init__(
        self, entries: Iterable[Entry | str] = (), *, mode: Mode = "force", weight: float = WEIGHT
    ) -> None:
        if mode not in ("force", "prefer"):
            raise ConfigError(f"mode must be 'force' or 'prefer', got {mode!r}")
        self.mode: Mode = mode
        self.weight = check_weight(weight)
        self.skipped = 0  # how many malformed lines a lenient reading left out
        self.problems: tuple[str, ...] = ()  # the first few messages about them
        self._words = _native.WordList()
        for entry in entries:
            _add(entry if isinstance(entry, Entry) else Entry(entry), self._words)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        mode: Mode = "force",
        weight: float = WEIGHT,
        encoding: str = "utf-8",
        lenient: bool = False,
    ) -> Self:
        """A lexicon from a file, one entry a line: word, tags (`NN|VV`) and weight, with tabs between.

        Tags and weight may be left out. `#` starts a line of comment. `lenient` skips and counts wrong lines.
        """
        lexicon = cls(mode=mode, weight=weight)
        report = ReadReport()
        lines = read_lines(path, encoding=encoding, skip=report.skip if lenient else None)
        while block := list(itertools.islice(lines, LINES_AT_ONCE)):
            for number, error in _add_block(block, lexicon._words):
                problem = CorpusError(display_name(path), number, error.message, error.hint)
                if not lenient:
                    raise problem
                report.skip(problem)
        lexicon.skipped, lexicon.problems = report.skipped, tuple(report.problems)
        return lexicon

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._numbers([check_text(word)])[0] >= 0

    def __iter__(self) -> Iterator[Entry]:
        return map(self._entry, self._words.sorted().tolist())

    def __repr__(self) -> str:
        return f"<Lexicon: {len(self)} words, mode {self.mode}>"

    def __getstate__(self) -> dict[str, Any]:
        entries = [(entry.word, entry.tags, entry.weight) for entry in self]
        return {**self.__dict__, "_words": entries}

    def __setstate__(self, state: dict[str, Any]) -> None:
        words = _native.WordList()
        for word, tags, weight in state.pop("_words"):
            words.add(word, list(tags), math.nan if weight is None else weight)
        self.__dict__.update(state, _words=words)

    def _entry(self, number: int) -> Entry:
        weight = self._words.weight(number)
        return Entry(
            self._words.word(number), tuple(self._words.tags(number)), None if math.isnan(weight) else weight
        )

    def _numbers(self, words: Sequence[str]) -> list[int]:
        """The entry of each word, -1 where there is none."""
        found: list[int] = self._words.find_all(list(words)).tolist()
        return found

    def explain(self, units: Sequence[str], *, level: Level = "char") -> list[Match]:
        """Which entry fires where. Of overlapping matches forced ones win, then longer, then earlier ones.

        At word level only entries with tags fire, on a unit that is the word.
        """
        check_text("".join(units))
        return [
            Match(start, end, self._words.word(entry), _mode(is_soft))
            for start, end, entry, is_soft in self._matches([units], level, None)[0]
        ]

    def trace(self, text: str, *, join_letters: bool = False, join_digits: bool = False) -> list[Finding]:
        """Every place where a text has the word of an entry: which fire, and why others do not.

        Sentences are analysed one by one. `join_letters` and `join_digits` are those of the model.
        """
        units = [
            texts.units(text[a:b], join_letters=join_letters, join_digits=join_digits) + a
            for a, b in texts.sentences(text).tolist()
        ]
        return self.trace_units(text, units)

    def trace_units(self, text: str, units: Sequence[texts.Spans]) -> list[Finding]:
        """The same for the units of each sentence of a text, which the analyser has found."""
        gaps = [(np.flatnonzero(spans[1:, 0] > spans[:-1, 1]) + 1).tolist() for spans in units]
        matches = self._matches([texts.cut(text, spans) for spans in units], "char", gaps)
        fired = [
            (int(spans[start, 0]), int(spans[end - 1, 1]))
            for spans, found in zip(units, matches, strict=True)
            for start, end, _, _ in found
        ]
        edges = {int(edge) for spans in units for edge in spans.ravel()}
        return [
            Finding(
                start,
                end,
                self._words.word(entry),
                _mode(self._is_soft(entry)),
                _why_not(text, (start, end), fired, edges),
            )
            for start, end, entry in self._words.occurrences(text).tolist()
        ]

    def _is_soft(self, entry: int) -> bool:
        return self.mode == "prefer" or not math.isnan(self._words.weight(entry))

    def _matches(
        self, sentences: Sequence[Sequence[str]], level: Level, gaps: Sequence[Sequence[int]] | None
    ) -> list[list[_Found]]:
        """For each sentence the units, entry and softness of what fires in it."""
        if level == "word":
            return [
                [
                    (t, t + 1, entry, self._is_soft(entry))
                    for t, entry in enumerate(self._numbers(units))
                    if entry >= 0 and self._words.tags(entry)
                ]
                for units in sentences
            ]
        found: list[list[_Found]] = [[] for _ in sentences]
        rows = self._words.matches(
            [list(units) for units in sentences],
            [] if gaps is None else [list(each) for each in gaps],
            self.mode == "prefer",
        )
        for sentence, start, end, entry, is_soft in rows.tolist():
            found[sentence].append((start, end, entry, bool(is_soft)))
        return found

    def columns(self, units: Sequence[str]) -> dict[str, list[str]]:
        """The matches as columns for templates.

        `lexicon`: place in the word and its number of units (`B2`, `I3`, `E2`, `S`; `O` for no word);
        `lexicon_tag`: the word's tags (`NN|VV`; `-` if it has none, `O` for no word).
        """
        check_text("".join(units))
        places, tags = ["O"] * len(units), ["O"] * len(units)
        for start, end, entry, _ in self._matches([units], "char", None)[0]:
            places[start:end] = _places(end - start)
            tags[start:end] = ["|".join(self._words.tags(entry)) or "-"] * (end - start)
        return {"lexicon": places, "lexicon_tag": tags}

    def wished(
        self,
        encoding: Encoding,
        sentences: Sequence[Sequence[str]],
        gaps: Sequence[Sequence[int]],
        *,
        cut_at_gaps: bool = False,
    ) -> Wished:
        """What the lexicon asks of the decoder for sentences of units.

        `gaps`: for each sentence the units with white space or something invisible before them, which no word
        of the lexicon reaches over; if asked, no word at all does.
        """
        self.check_tags(encoding.tags)
        wished = Wished(encoding)
        found = self.matched(sentences, gaps, level=encoding.level)
        for units, words, apart in zip(sentences, found, gaps, strict=True):
            wished.add_sentence(words, len(units), apart if cut_at_gaps else ())
        return wished

    def matched(
        self, sentences: Sequence[Sequence[str]], gaps: Sequence[Sequence[int]], *, level: Level = "char"
    ) -> list[list[WishedWord]]:
        """The words that fire in each sentence of units; no word reaches over the gaps before these units."""
        return [
            [
                WishedWord(start, end, self._tags(entry), self._bonus(entry) if is_soft else None)
                for start, end, entry, is_soft in found
            ]
            for found in self._matches(sentences, level, gaps)
        ]

    def _tags(self, entry: int) -> tuple[str, ...]:
        return tuple(self._words.tags(entry))

    def _bonus(self, entry: int) -> float:
        weight = self._words.weight(entry)
        return self.weight if math.isnan(weight) else weight

    def check_tags(self, known: Collection[str] | None) -> None:
        """Refuse a tag that a model does not know (None: it has no tags, and all are as good)."""
        # All entries, and not only those that match: a mistake shows at the first text, not in the middle.
        used = self._words.all_tags()
        unknown = set(used).difference(known or used)
        if not unknown:
            return
        entry = next(entry for entry in self if unknown.intersection(entry.tags))
        tag = next(tag for tag in entry.tags if tag in unknown)
        raise StandardError(
            f"the lexicon's word {shown(entry.word)} has the tag {shown(tag)}, which the model does not know",
            hint=f"the model's tags are {', '.join(known or ())}",
        )


def _parse(line: str) -> Entry:
    word, *rest = line.split("\t")
    if len(rest) > 2:
        raise ConfigError(
            f"at most 3 columns were expected, found {len(rest) + 1}", hint="word, tags (NN|VV) and weight"
        )
    if not rest and len(word.split()) > 1:
        raise ConfigError(f"the word {shown(word)} has a space in it", hint="put a tab between the columns")
    tags = tuple(rest[0].split("|")) if rest and rest[0] else ()
    return Entry(word, tags, _parse_weight(rest[1]) if len(rest) == 2 else None)


def _parse_weight(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise ConfigError(f"the weight {shown(field)} is not a number") from None


def _add(entry: Entry, words: _native.WordList) -> None:
    weight = math.nan if entry.weight is None else entry.weight
    if not words.add(entry.word, list(entry.tags), weight):
        known = words.weight(int(words.find_all([entry.word])[0]))
        raise ConfigError(
            f"the word {shown(entry.word)} has two weights, "
            f"{None if math.isnan(known) else known} and {entry.weight}",
            hint="give one weight, or the same one with each tag",
        )


def _add_block(
    block: Sequence[tuple[int, str]], words: _native.WordList
) -> Iterator[tuple[int, ConfigError]]:
    """Adds numbered lines; gives the number and fault of each that is wrong.

    The native table takes the lines that are plainly sound and stops at any other, which is looked at here:
    it may be sound all the same, and if it is not, there is one place that says why.
    """
    text = "\n".join([line for _, line in block]).encode() + b"\n"
    at = seen = passed = 0  # bytes dealt with; bytes whose lines were counted; those lines
    while (at := words.add_lines(text, at, MOST_WEIGHT)) < len(text):
        passed += text.count(b"\n", seen, at)
        seen = at
        number, line = block[passed]
        at += len(line.encode()) + 1
        try:
            if line.strip() and not line.lstrip().startswith("#"):
                _add(_parse(line), words)
        except ConfigError as error:
            yield number, error


def _mode(is_soft: bool) -> Mode:
    return "prefer" if is_soft else "force"


def _why_not(text: str, place: tuple[int, int], fired: Sequence[tuple[int, int]], edges: set[int]) -> str:
    """In a few words; empty if the place is among those that fired, which are in order."""
    start, end = place
    if start not in edges or end not in edges:
        return "begins or ends inside a unit that is never cut"
    for a, b in fired[max(0, bisect.bisect_right(fired, place) - 1) :]:
        if (a, b) == place:
            return ""
        if a < end and start < b:
            return f"overlaps {shown(text[a:b])}, which goes first"
        if a >= end:
            break
    return "a sentence ends in it, or something invisible stands in it"


@functools.cache
def _places(count: int) -> tuple[str, ...]:
    if count == 1:
        return ("S",)
    size = f"{LONG}+" if count >= LONG else str(count)
    return (f"B{size}", *[f"I{size}"] * (count - 2), f"E{size}")

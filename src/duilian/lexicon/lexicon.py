"""A user's lexicon: words that must be words, or had better be, where a text has them.

Matches become constraints to the decoder: labels that are allowed at a unit, or a bonus on them. Words that a text
does not have leave its analysis alone. The same matches can be columns for feature templates, so that a
model learns how far to trust the lexicon.

A word is found in either script: entries and texts are compared in simplified characters, one for one.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import numpy as np

from duilian import text as texts
from duilian.corpus.files import display_name, read_lines
from duilian.corpus.lines import shown
from duilian.corpus.storage import ReadReport
from duilian.errors import ConfigError, CorpusError, StandardError
from duilian.lexicon.constraints import ConstrainedWord, WordConstraints
from duilian.lexicon.entries import Entry, EntryTable, check_weight
from duilian.text import check_text, simplified

if TYPE_CHECKING:
    from duilian.labels.encoding import Encoding, Level

__all__ = ["Entry", "EntryMode", "Finding", "Lexicon", "Match"]

EntryMode = Literal["force", "prefer"]
_Found = tuple[int, int, int, bool]
"""First unit, unit behind the last, number of the entry, whether it is a preference."""

WEIGHT = 5.0  # per unit: a word is found unless the model is very sure of others
LINES_AT_ONCE = 50_000
LONG = 5  # words of so many units and more are one class of length, as in the template `len`


class Match(NamedTuple):
    """An entry that fires: on the units from `start` to `end` (exclusive)."""

    start: int
    end: int
    word: str
    mode: EntryMode


class Finding(NamedTuple):
    """A place where the text has the word of an entry: characters from `start` to `end` (exclusive).

    `why_not` is empty if the entry fires, otherwise it says in a few words why it does not. An analyser's
    findings are about its answer: an entry fires if it is a word with a fitting tag in every standard;
    `why_not` says what is there instead, and `standards` has those in which it is a word all the same.
    """

    start: int
    end: int
    word: str  # in the text's own characters
    mode: EntryMode
    why_not: str = ""
    tags: tuple[str, ...] = ()  # that the entry allows
    place: str = ""  # of the entry, `path:line`, if it comes from a file
    standards: tuple[str, ...] = ()

    @property
    def fires(self) -> bool:
        """Whether it came true; without an analysis to look at, whether the decoder hears of it."""
        return not self.why_not


class Lexicon:
    """Entries, found in texts. Their order does not matter; entries of one word are merged.

    `mode` is what entries without a weight do: `force` leaves no other analysis, `prefer` adds `weight` to
    the score of the labels on each unit.
    """

    def __init__(
        self, entries: Iterable[Entry | str] = (), *, mode: EntryMode = "force", weight: float = WEIGHT
    ) -> None:
        if mode not in ("force", "prefer"):
            raise ConfigError(f"mode must be 'force' or 'prefer', got {mode!r}")
        self.mode: EntryMode = mode
        self.weight = check_weight(weight)
        self.skipped = 0  # how many malformed lines a lenient reading left out
        self.problems: tuple[str, ...] = ()  # the first few messages about them
        self._entries = EntryTable()
        for entry in entries:
            self._entries.add(entry if isinstance(entry, Entry) else Entry(entry))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        mode: EntryMode = "force",
        weight: float = WEIGHT,
        encoding: str = "utf-8",
        lenient: bool = False,
    ) -> Self:
        """A lexicon from a file, one entry a line: word, tags (`NN|VV`) and weight, with tabs between.

        Tags and weight may be left out. `#` starts a line of comment, `\\#` a word that begins with #.
        `lenient` skips and counts wrong lines.
        """
        lexicon = cls(mode=mode, weight=weight)
        lexicon._entries = EntryTable(display_name(path))
        report = ReadReport()
        lines = read_lines(path, encoding=encoding, skip=report.skip if lenient else None)
        while block := list(itertools.islice(lines, LINES_AT_ONCE)):
            for number, error in lexicon._entries.add_lines(block):
                problem = CorpusError(display_name(path), number, error.message, error.hint)
                if not lenient:
                    raise problem
                report.skip(problem)
        lexicon.skipped, lexicon.problems = report.skipped, tuple(report.problems)
        return lexicon

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._entries.find([word])[0] >= 0

    def __iter__(self) -> Iterator[Entry]:
        """The entries by their words, which are in simplified characters."""
        return map(self._entries.__getitem__, self._entries.native.sorted().tolist())

    def __repr__(self) -> str:
        return f"<Lexicon: {len(self)} words, mode {self.mode}>"

    def explain(self, units: Sequence[str], *, level: Level = "char") -> list[Match]:
        """Which entry fires where. Of overlapping matches forced ones win, then longer, then earlier ones.

        At word level only entries with tags fire, on a unit that is the word.
        """
        check_text("".join(units))
        return [
            Match(start, end, "".join(units[start:end]), _mode(is_soft))
            for start, end, _, is_soft in self._matches([units], level, None)[0]
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
        sentences = [texts.cut(text, spans) for spans in units]
        matches = self._matches(sentences, "char", gaps)
        fired, inner = (
            [
                (int(spans[start, 0]), int(spans[end - 1, 1]))
                for spans, found in zip(units, each, strict=True)
                for start, end, _, _ in found
            ]
            for each in (matches, self._inner(sentences, matches))
        )
        edges, heard = {int(edge) for spans in units for edge in spans.ravel()}, {*fired, *inner}
        return [
            Finding(
                start,
                end,
                text[start:end],
                _mode(self._is_soft(entry)),
                "" if (start, end) in heard else _why_not(text, (start, end), fired, edges),
                self._tags(entry),
                self._entries.place(entry),
            )
            for start, end, entry in self._entries.native.occurrences(simplified(text)).tolist()
        ]

    def _is_soft(self, entry: int) -> bool:
        return self.mode == "prefer" or not math.isnan(self._entries.native.weight(entry))

    def _matches(
        self, sentences: Sequence[Sequence[str]], level: Level, gaps: Sequence[Sequence[int]] | None
    ) -> list[list[_Found]]:
        """For each sentence the units, entry and softness of what fires in it."""
        if level == "word":
            return [
                [
                    (t, t + 1, entry, self._is_soft(entry))
                    for t, entry in enumerate(self._entries.find(units))
                    if entry >= 0 and self._tags(entry)
                ]
                for units in sentences
            ]
        found: list[list[_Found]] = [[] for _ in sentences]
        rows = self._entries.native.matches(
            _simplified_units(sentences),
            [] if gaps is None else [list(each) for each in gaps],
            self.mode == "prefer",
        )
        for sentence, start, end, entry, is_soft in rows.tolist():
            found[sentence].append((start, end, entry, bool(is_soft)))
        return found

    def _inner(
        self, sentences: Sequence[Sequence[str]], matches: Sequence[Sequence[_Found]]
    ) -> list[list[_Found]]:
        """Preferred words at the beginning or end of a longer one that is preferred, and may lose."""
        found: list[list[_Found]] = [[] for _ in sentences]
        outer = [
            (sentence, start, sentences[sentence][start:end])
            for sentence, each in enumerate(matches)
            for start, end, _, is_soft in each
            if is_soft and end - start > 1
        ]
        words = ["".join(units) for _, _, units in outer]
        first = list(itertools.accumulate((len(word) + 1 for word in words), initial=0))
        for start, end, entry in self._entries.native.occurrences(simplified("\n".join(words))).tolist():
            owner = bisect.bisect_right(first, start) - 1
            a, b = start - first[owner], end - first[owner]
            if (a == 0) == (b == len(words[owner])):
                continue
            sentence, at, units = outer[owner]
            edges = list(itertools.accumulate(map(len, units), initial=0))
            if a in edges and b in edges:
                found[sentence].append((at + edges.index(a), at + edges.index(b), entry, True))
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
            tags[start:end] = ["|".join(self._tags(entry)) or "-"] * (end - start)
        return {"lexicon": places, "lexicon_tag": tags}

    def constraints(
        self,
        encoding: Encoding,
        standard: str,
        sentences: Sequence[Sequence[str]],
        gaps: Sequence[Sequence[int]],
        *,
        cut_at_gaps: bool = False,
    ) -> WordConstraints:
        """What the lexicon asks of the decoder for sentences of units, whose labels are of a standard.

        `gaps`: for each sentence the units with white space or something invisible before them, which no word
        of the lexicon reaches over; if asked, no word at all does.
        """
        self.check_tags({standard: encoding.tags})
        constrained = WordConstraints(encoding, standard)
        found = self.matched(sentences, gaps, level=encoding.level)
        for units, words, apart in zip(sentences, found, gaps, strict=True):
            constrained.add_sentence(words, len(units), apart if cut_at_gaps else ())
        return constrained

    def matched(
        self, sentences: Sequence[Sequence[str]], gaps: Sequence[Sequence[int]], *, level: Level = "char"
    ) -> list[list[ConstrainedWord]]:
        """The words that fire in each sentence of units; no word reaches over the gaps before these units."""
        matches = self._matches(sentences, level, gaps)
        inner = self._inner(sentences, matches) if level == "char" else [[] for _ in matches]
        return [
            [
                ConstrainedWord(
                    start,
                    end,
                    self._tags(entry),
                    self._bonus(entry) if is_soft else None,
                    self._is_sign(entry),
                )
                for start, end, entry, is_soft in (*outer, *inside)
            ]
            for outer, inside in zip(matches, inner, strict=True)
        ]

    def _tags(self, entry: int) -> tuple[str, ...]:
        return tuple(self._entries.native.tags(entry))

    def _bonus(self, entry: int) -> float:
        weight = self._entries.native.weight(entry)
        return self.weight if math.isnan(weight) else weight

    def _is_sign(self, entry: int) -> bool:
        return not any(map(str.isalnum, self._entries.native.word(entry)))

    def check_tags(self, known: Mapping[str, Sequence[str] | None]) -> None:
        """Refuse a tag that none of a model's standards knows (None: it has no tags, and all are as good)."""
        # All entries, and not only those that match: a mistake shows at the first text, not in the middle.
        sets = [tags for tags in known.values() if tags is not None]
        unknown = set(self._entries.native.all_tags()).difference(*sets)
        if not unknown or len(sets) < len(known):
            return
        numbers = range(len(self._entries))
        entry = next(number for number in numbers if not unknown.isdisjoint(self._tags(number)))
        tag = next(tag for tag in self._tags(entry) if tag in unknown)
        word, place = self._entries[entry].word, self._entries.place(entry)
        raise StandardError(
            f"{place}: " * bool(place)
            + f"the lexicon's word {shown(word)} has the tag {shown(tag)}, which the model does not know",
            hint="; ".join(f"the tags of {name} are {' '.join(tags or ())}" for name, tags in known.items()),
        )


def _simplified_units(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    joined = "\n".join(itertools.chain.from_iterable(sentences))  # no unit has a line break
    found = simplified(joined)
    if found == joined:
        return [list(units) for units in sentences]
    units = iter(found.split("\n"))
    return [list(itertools.islice(units, len(each))) for each in sentences]


def _mode(is_soft: bool) -> EntryMode:
    return "prefer" if is_soft else "force"


def _why_not(text: str, place: tuple[int, int], fired: Sequence[tuple[int, int]], edges: set[int]) -> str:
    """In a few words why a place is not among those that fired, which are in order."""
    start, end = place
    if start not in edges or end not in edges:
        return "begins or ends inside a unit that is never cut"
    for a, b in fired[max(0, bisect.bisect_right(fired, place) - 1) :]:
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

"""A user's lexicon: words that must be words, or had better be, where a text has them.

Matches become wishes to the decoder: labels that are allowed at a unit, or a bonus on them. Words that a text
does not have leave its analysis alone. The same matches can be columns for feature templates, so that a
model learns how far to trust the lexicon.

Words are found through the lengths that occur with their first two characters: a lookup for each length.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from duilian import _native
from duilian.corpus.files import display_name, read_lines
from duilian.corpus.lines import shown
from duilian.corpus.storage import ReadReport
from duilian.errors import ConfigError, CorpusError, StandardError
from duilian.text import check_text
from duilian.wishes import Wished, WishedWord

if TYPE_CHECKING:
    from duilian.models.encoding import Encoding, Level

Mode = Literal["force", "prefer"]
_Occurrence = tuple[bool, int, int, str]
"""Whether it is a preference, minus its length in units, its start, the word: the least goes first."""

WEIGHT = 2.0  # per unit
MOST_WEIGHT = 1e4  # decoding stays exact up to scores of this size
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

    def merged(self, other: Entry) -> Entry:
        """What two entries of one word say together: one of the tags of either."""
        if self.weight != other.weight:
            raise ConfigError(
                f"the word {shown(self.word)} has two weights, {self.weight} and {other.weight}",
                hint="give one weight, or the same one with each tag",
            )
        return Entry(self.word, self.tags + other.tags, self.weight)


class Match(NamedTuple):
    """An entry that fires: on the units from `start` to `end` (exclusive)."""

    start: int
    end: int
    word: str
    mode: Mode


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
        merged: dict[str, Entry] = {}
        for entry in entries:
            _add(entry if isinstance(entry, Entry) else Entry(entry), merged)
        self._take(merged)

    def _take(self, entries: dict[str, Entry]) -> None:
        is_soft = self.mode == "prefer"
        self._entries = entries
        self._is_soft = {word: is_soft or entry.weight is not None for word, entry in entries.items()}
        self._lengths = _lengths_by_prefix(entries)
        self._tags = frozenset(tag for entry in entries.values() for tag in entry.tags)

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
        entries: dict[str, Entry] = {}
        for number, line in read_lines(path, encoding=encoding, skip=report.skip if lenient else None):
            try:
                if line.strip() and not line.lstrip().startswith("#"):
                    _add(_parse(line), entries)
            except ConfigError as error:
                problem = CorpusError(display_name(path), number, error.message, error.hint)
                if not lenient:
                    raise problem from None
                report.skip(problem)
        lexicon._take(entries)
        lexicon.skipped, lexicon.problems = report.skipped, tuple(report.problems)
        return lexicon

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, word: object) -> bool:
        return word in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return (self._entries[word] for word in sorted(self._entries))

    def __repr__(self) -> str:
        return f"<Lexicon: {len(self)} words, mode {self.mode}>"

    def explain(self, units: Sequence[str], *, level: Level = "char") -> list[Match]:
        """Which entry fires where. Of overlapping matches forced ones win, then longer, then earlier ones.

        At word level only entries with tags fire, on a unit that is the word.
        """
        if level == "word":
            return [
                Match(t, t + 1, unit, "prefer" if self._is_soft[unit] else "force")
                for t, unit in enumerate(units)
                if unit in self._entries and self._entries[unit].tags
            ]
        return [
            Match(start, end, word, "prefer" if is_soft else "force")
            for start, end, word, is_soft in _without_overlaps(self._occurrences(units), len(units))
        ]

    def columns(self, units: Sequence[str]) -> dict[str, list[str]]:
        """The matches as columns for templates.

        `lexicon`: place in the word and its number of units (`B2`, `I3`, `E2`, `S`; `O` for no word);
        `lexicon_tag`: the word's tags (`NN|VV`; `-` if it has none, `O` for no word).
        """
        places, tags = ["O"] * len(units), ["O"] * len(units)
        for start, end, word, _ in self.explain(units):
            places[start:end] = _places(end - start)
            tags[start:end] = ["|".join(self._entries[word].tags) or "-"] * (end - start)
        return {"lexicon": places, "lexicon_tag": tags}

    def wishes(self, encoding: Encoding, sentences: Iterable[Sequence[str]]) -> _native.Wishes:
        """What the lexicon asks of the decoder for sentences of units."""
        self._check_tags(encoding)
        wished = Wished(encoding)
        for units in sentences:
            words = [
                WishedWord(match.start, match.end, self._entries[match.word].tags, self._bonus_of(match))
                for match in self.explain(units, level=encoding.level)
            ]
            wished.add_sentence(words, len(units))
        return wished.native()

    def _bonus_of(self, match: Match) -> float | None:
        """What a match adds to its labels; None if it forbids the others."""
        if match.mode == "force":
            return None
        weight = self._entries[match.word].weight
        return self.weight if weight is None else weight

    def _occurrences(self, units: Sequence[str]) -> list[_Occurrence]:
        """Every place where an entry begins and ends with a unit."""
        text = "".join(units)
        offsets = [0, *itertools.accumulate(map(len, units))]
        unit_at = {offset: t for t, offset in enumerate(offsets)}
        is_soft, lengths = self._is_soft, self._lengths
        found = []
        for start, at in enumerate(offsets[:-1]):
            for length in lengths.get(text[at : at + 2], (1,)):
                soft = is_soft.get(text[at : at + length])
                if soft is not None and (end := unit_at.get(at + length)) is not None:
                    found.append((soft, start - end, start, text[at : at + length]))
        return found

    def _check_tags(self, encoding: Encoding) -> None:
        # All entries, and not only those that match: a mistake shows at the first text, not in the middle.
        unknown = self._tags.difference(encoding.tags or self._tags)
        if not unknown:
            return
        entry = next(entry for entry in self if unknown.intersection(entry.tags))
        tag = next(tag for tag in entry.tags if tag in unknown)
        raise StandardError(
            f"the lexicon's word {shown(entry.word)} has the tag {shown(tag)}, which the model does not know",
            hint=f"the model's tags are {', '.join(encoding.tags or ())}",
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


def _add(entry: Entry, entries: dict[str, Entry]) -> None:
    known = entries.get(entry.word)
    entries[entry.word] = entry if known is None else known.merged(entry)


def _lengths_by_prefix(words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """First two characters → the lengths of the words that begin with them, and 1."""
    masks: dict[str, int] = {}  # bit n for length n: 100,000 sets would take long to make
    for word in words:
        masks[word[:2]] = masks.get(word[:2], 0b10) | 1 << len(word)
    return {prefix: _bits(mask) for prefix, mask in masks.items()}


@functools.cache
def _bits(mask: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _without_overlaps(found: list[_Occurrence], length: int) -> list[tuple[int, int, str, bool]]:
    """Start, end, word and softness of those that are left when the better of two that overlap stays."""
    found.sort()
    is_taken = bytearray(length)
    kept = []
    for is_soft, minus_length, start, word in found:
        end = start - minus_length
        if is_taken.find(1, start, end) < 0:
            is_taken[start:end] = b"\1" * (end - start)
            kept.append((start, end, word, is_soft))
    kept.sort()
    return kept


@functools.cache
def _places(count: int) -> tuple[str, ...]:
    if count == 1:
        return ("S",)
    size = f"{LONG}+" if count >= LONG else str(count)
    return (f"B{size}", *[f"I{size}"] * (count - 2), f"E{size}")

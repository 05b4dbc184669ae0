"""Constraints on words as the decoder takes them: allowed labels, and bonuses on labels.

The units of a fixed word keep only the labels of that word; for a preferred word those labels score higher.
See `Constraints` in `native/include/duilian/score/predictor.hpp`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from duilian import _native
from duilian.standards import tag_classes

if TYPE_CHECKING:
    from duilian.labels.encoding import Encoding

Labels = tuple[int, ...]
BonusSpan = tuple[float, int, int]  # a bonus on units from the first number to the second (exclusive)
_Run = tuple[int, int, Labels]  # the units of a word that may have the same labels
MIN_NOUN_LENGTH = 4  # units; most words this long are nouns, but taggers misjudge new ones
NOUN_BONUS = 2.0  # maximum bonus on nouns for such a word without tags


class ConstrainedWord(NamedTuple):
    """Units `start` to `end` (exclusive) are a word with one of these tags (none: any that suits)."""

    start: int
    end: int
    tags: tuple[str, ...]
    bonus: float | None  # added to the score of each unit; None: no other word is allowed
    is_symbol: bool = False  # has neither letters nor digits, so without tags it may be punctuation


class WordConstraints:
    """Collects constraints sentence by sentence; units are counted through all sentences.

    `standard` determines the tags of punctuation and of nouns.
    """

    def __init__(self, encoding: Encoding, standard: str = "") -> None:
        known = _label_classes(encoding, standard)
        self._usual, self._nouns, self._runs_of = known.usual, known.nouns, known.runs_of
        self._edges = known.edges
        self._first = 0  # unit where the next sentence begins
        self._allowed: dict[int, Labels] = {}
        self._bonus: dict[int, dict[Labels, float]] = {}
        self._nouns_at: dict[int, tuple[Labels, float]] = {}

    def add_sentence(self, words: Sequence[ConstrainedWord], length: int) -> None:
        """Add the words of the next sentence, which has `length` units. Words do not overlap, except that
        preferred words may be at either end of a longer one: the larger of two bonuses on a label counts.
        """
        preferred: dict[Labels, list[BonusSpan]] = {}
        for word in words:
            count, first = word.end - word.start, self._first + word.start
            tags = word.tags or (() if word.is_symbol else self._usual)
            for begin, end, labels in self._runs_of(tags, count):
                if word.bonus is None:
                    self._allowed.update(dict.fromkeys(range(first + begin, first + end), labels))
                else:
                    preferred.setdefault(labels, []).append((word.bonus, first + begin, first + end))
            if self._nouns and not word.tags and count >= MIN_NOUN_LENGTH:
                bonus = NOUN_BONUS if word.bonus is None else min(NOUN_BONUS, word.bonus)
                self._nouns_at[first] = self._runs_of(self._nouns, count)[0][2], bonus
        for labels, spans in preferred.items():
            for unit, bonus in largest_bonuses(spans):
                self._bonus.setdefault(unit, {})[labels] = bonus
        if any(self._edges):
            self._close_edges(words, length)
        self._first += length

    def go_to(self, unit: int) -> None:
        """Let the next sentence begin at this unit; units in between are unconstrained."""
        self._first = unit

    def _close_edges(self, words: Sequence[ConstrainedWord], length: int) -> None:
        # After all words: an adjacent word says more than the edge does.
        for word in words:
            for t, labels in ((word.start - 1, self._edges.before), (word.end, self._edges.after)):
                if not labels or not 0 <= t < length:
                    continue
                if word.bonus is None:
                    self._allowed.setdefault(self._first + t, labels)
                else:
                    self._bonus.setdefault(self._first + t, {labels: word.bonus})

    def native(self) -> _native.Constraints:
        """All constraints so far."""
        rows = [
            (unit, *row)
            for unit, found in self._bonus.items()
            for row in (found.items() if len(found) == 1 else _larger(tuple(found.items())))
        ]
        rows += [(unit, *row) for unit, row in self._nouns_at.items()]
        rows.sort(key=operator.itemgetter(0))
        sizes = [len(labels) for _, labels, _ in rows]
        return _native.Constraints(
            self._tag_sets(),
            np.repeat(np.array([unit for unit, _, _ in rows], np.int64), sizes),
            _joined([labels for _, labels, _ in rows]),
            np.repeat(np.array([bonus for _, _, bonus in rows], np.float32), sizes),
        )

    def _tag_sets(self) -> _native.TagSets:
        if not self._allowed:
            return _native.TagSets(np.array([0], np.int32), np.array([], np.int32))
        units = sorted(self._allowed)
        labels = [self._allowed[unit] for unit in units]
        sizes = np.zeros(self._first + 1, np.int32)
        sizes[np.array(units) + 1] = [len(each) for each in labels]
        return _native.TagSets(np.cumsum(sizes, dtype=np.int32), _joined(labels))


def largest_bonuses(spans: list[BonusSpan]) -> Iterator[tuple[int, float]]:
    """Each unit of the spans with its largest bonus. Nested spans cost no more than spans side by side."""
    done_to: dict[int, int] = {}  # for a unit that had its bonus: all units before this one had theirs
    for bonus, unit, end in sorted(spans, reverse=True):
        while unit < end:
            following = done_to.get(unit)
            if following is None:
                yield unit, bonus
                following = unit + 1
            done_to[unit] = max(following, end)
            unit = following


@functools.lru_cache(maxsize=4096)  # words with the same tags and weights share their labels
def _larger(found: tuple[tuple[Labels, float], ...]) -> tuple[tuple[Labels, float], ...]:
    """Bonuses on sets of labels such that each label has only one, the largest."""
    of_label: dict[int, float] = {}
    for labels, bonus in found:
        of_label |= {label: max(bonus, of_label.get(label, 0.0)) for label in labels}
    bonuses = set(of_label.values())
    return tuple((tuple(label for label in of_label if of_label[label] == each), each) for each in bonuses)


def _joined(labels: list[Labels]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(list(itertools.chain.from_iterable(labels)), np.int32)


def _runs_of_words(encoding: Encoding) -> Callable[[tuple[str, ...], int], list[_Run]]:
    """Return a function from a word's tags and number of units to the labels that its units may have."""

    def names(tag: str, count: int) -> list[str]:
        return [tag] if encoding.level == "word" else encoding.boundaries.encode([count], [tag])

    @functools.cache
    def runs_of(tags: tuple[str, ...], count: int) -> list[_Run]:
        runs, end = [], 0
        for labels, units in itertools.groupby(labels_of(tags, count)):
            begin, end = end, end + sum(1 for _ in units)
            runs.append((begin, end, labels))
        return runs

    def labels_of(tags: tuple[str, ...], count: int) -> list[Labels]:
        if encoding.tags is None:
            return [(encoding.number[letter],) for letter in encoding.boundaries.encode([count])]
        rows = [[encoding.number[name] for name in names(tag, count)] for tag in tags or encoding.tags]
        return [tuple(sorted(column)) for column in zip(*rows, strict=True)]

    return runs_of


class _LabelClasses(NamedTuple):
    """Tags and labels that depend only on the encoding and its standard."""

    usual: tuple[str, ...]  # tags of words that are not punctuation
    nouns: tuple[str, ...]
    runs_of: Callable[[tuple[str, ...], int], list[_Run]]
    edges: _Edges


@functools.lru_cache(maxsize=64)
def _label_classes(encoding: Encoding, standard: str) -> _LabelClasses:
    classes, known = tag_classes(standard), encoding.tags or ()
    return _LabelClasses(
        tuple(tag for tag in known if tag not in classes.get("punctuation", ())),
        tuple(tag for tag in known if tag in classes.get("noun", ())),
        _runs_of_words(encoding),
        _open_edges(encoding),
    )


class _Edges(NamedTuple):
    """The labels that keep the units next to a word out of it; empty if the word's own labels do so.

    In the scheme BI, a word's last unit does not say that the word ends: the next one must be a B.
    """

    before: Labels
    after: Labels


def _open_edges(encoding: Encoding) -> _Edges:
    allows, start, end = encoding.succession
    is_open_before = allows[np.ix_(~end, start)].any()
    is_open_after = allows[np.ix_(end, ~start)].any()
    return _Edges(
        tuple(np.flatnonzero(end).tolist()) if is_open_before else (),
        tuple(np.flatnonzero(start).tolist()) if is_open_after else (),
    )

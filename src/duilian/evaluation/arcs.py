"""Heads and relations of gold and answer, word by word, whether both have the same words or not.

Over the same words the rules are those of UAS and LAS. Over different words they are those of CoNLL 2018: the
words must have the same characters, so must their heads, and subtypes of relations do not count.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from duilian.corpus.sentence import Layer
from duilian.evaluation.attachment import without_subtype
from duilian.evaluation.judged import Judged
from duilian.evaluation.score import BoolArray, Score
from duilian.text import is_punctuation

DISTANCES = (1, 2, 3, 6)  # the longest arcs of each group but the last, in words
ROOT = "root"
_NO_HEAD, _ROOT, _ELSEWHERE = -1, -2, -3  # in place of a head's number


@dataclasses.dataclass(frozen=True, slots=True)
class JudgedArc:
    """The head of a word, numbered through all sentences, and the relation; group is that of its length."""

    head: int
    relation: str | None
    group: str | None


@dataclasses.dataclass(frozen=True, eq=False)
class JudgedArcs:
    """The arcs of all words of gold and of an answer; None of `of` if one side has no heads."""

    judged: Judged
    gold: Sequence[JudgedArc]
    guess: Sequence[JudgedArc]

    @classmethod
    def of(cls, judged: Judged) -> JudgedArcs | None:
        if not judged.has("heads"):
            return None
        keeps = judged.is_parallel
        return cls(judged, *(list(_arcs(side, subtypes=keeps)) for side in (judged.gold, judged.guess)))

    @functools.cached_property
    def is_labelled(self) -> bool:
        """Whether both sides have relations."""
        return self.judged.has("relations")

    @functools.cached_property
    def match(self) -> list[int]:
        """For each gold word the number of the answer's, or -1."""
        return self.judged.alignment.match.tolist()  # type: ignore[no-any-return]

    @functools.cached_property
    def counts(self) -> BoolArray:
        """[G] whether UAS counts the word: it has a gold head and, over the same words, is no punctuation."""
        known = np.array([arc.head != _NO_HEAD for arc in self.gold], np.bool_)
        if not self.judged.is_parallel:
            return known
        words = itertools.chain.from_iterable(layer.words for layer in self.judged.gold)
        return known & np.array([not is_punctuation(word) for word in words], np.bool_)

    @functools.cached_property
    def has_head(self) -> BoolArray:
        """[G] whether the answer has the word, with its head."""
        return np.array([self._is_right(arc, k) for arc, k in zip(self.gold, self.match, strict=True)])

    @functools.cached_property
    def has_arc(self) -> BoolArray:
        """[G] the same with the relation."""
        same = [
            k >= 0 and arc.relation == self.guess[k].relation
            for arc, k in zip(self.gold, self.match, strict=True)
        ]
        return self.has_head & np.array(same, np.bool_)

    def _is_right(self, arc: JudgedArc, k: int) -> bool:
        if k < 0 or arc.head == _NO_HEAD:
            return False
        head = arc.head if arc.head == _ROOT else self.match[arc.head]
        return self.guess[k].head == (_ELSEWHERE if head == -1 else head)

    def by_relation(self) -> dict[str, Score]:
        """Words with head and relation, for each relation."""
        found = self._scores(lambda arc: arc.relation, self.has_arc) if self.is_labelled else {}
        return dict(sorted(found.items()))

    def by_distance(self) -> dict[str, Score]:
        """Heads, in groups by how far the head is from its word."""
        found = self._scores(lambda arc: arc.group, self.has_head)
        names = [ROOT, *(group_name(size, DISTANCES) for size in (*DISTANCES, DISTANCES[-1] + 1))]
        return {name: found[name] for name in names if name in found}

    def _scores(self, key: Callable[[JudgedArc], str | None], right: BoolArray) -> dict[str, Score]:
        """Every word with a gold head counts. An arc that is right has gold's name on both sides."""
        columns: tuple[Counter[str | None], ...] = (Counter(), Counter(), Counter())
        names = [key(arc) for arc in self.guess]
        for arc, k, is_right in zip(self.gold, self.match, right.tolist(), strict=True):
            name = None if arc.head == _NO_HEAD else key(arc)
            columns[0][name] += 1
            columns[2][name if is_right else None] += 1
            if k >= 0 and (name is None or is_right):
                names[k] = name
        columns[1].update(names)
        found = {name for column in columns for name in column if name is not None}
        return {name: Score(*(column[name] for column in columns)) for name in found}


def _arcs(layers: Sequence[Layer], *, subtypes: bool) -> Iterator[JudgedArc]:
    start = 0
    for layer in layers:
        heads = layer.heads or (None,) * len(layer)
        relations = layer.relations or (None,) * len(layer)
        for number, (head, relation) in enumerate(zip(heads, relations, strict=True), 1):
            name = relation if subtypes else without_subtype(relation)
            if head is None:
                yield JudgedArc(_NO_HEAD, name, None)
            elif head == 0:
                yield JudgedArc(_ROOT, name, ROOT)
            else:
                yield JudgedArc(start + head - 1, name, group_name(abs(head - number), DISTANCES))
        start += len(layer)


def group_name(size: int, limits: Sequence[int]) -> str:
    """The name of the group of a size: 1-10, 11-20 …, more than the last limit."""
    low = 1
    for limit in limits:
        if size <= limit:
            return str(limit) if low == limit else f"{low}-{limit}"
        low = limit + 1
    return f"{low}+"

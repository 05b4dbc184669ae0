"""The k best analyses of a text from those of its sentences.

Sentences are independent, so the k best analyses of a sequence are among the k best of all but the last
sentence, each combined with one of the k best of the last.
"""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian.models.roles import Ranked

Labels = npt.NDArray[np.int32]


class _Prefix(NamedTuple):
    """An analysis of the sentences so far."""

    score: float  # log probability
    before: _Prefix | None  # without the last sentence
    labels: Labels  # of the last sentence


class KBest:
    """The k best analyses of a sequence of sentences, added one by one.

    The first analysis of each sentence is its answer, and their sequence comes first wherever it ranks.
    """

    def __init__(self, k: int) -> None:
        self._k = k
        self._prefixes: list[_Prefix] = []  # the answer first, the others by score

    def add(self, answers: Sequence[Ranked[Labels]]) -> None:
        """Add the next sentence: its best analyses, the answer first."""
        last = [(math.log(p) if p > 0.0 else -math.inf, labels) for _, p, labels in answers]
        if not self._prefixes:
            self._prefixes = [_Prefix(score, None, labels) for score, labels in last]
            return
        last[1:] = sorted(last[1:], key=operator.itemgetter(0), reverse=True)

        def rivals(i: int) -> list[tuple[float, Labels]]:
            """Analyses that may follow prefix i: with the one at j, i · j pairs are at least as good."""
            return last[: 1 + (self._k - 1) // max(i, 1)]

        pairs = (
            _Prefix(each.score + score, each, labels)
            for i, each in enumerate(self._prefixes)
            for score, labels in rivals(i)
        )
        first = next(pairs)
        self._prefixes = [first, *heapq.nlargest(self._k - 1, pairs, key=lambda each: each.score)]

    def answers(self) -> list[tuple[float, Labels]]:
        """Return probability and labels of the best analyses of all sentences, the answer first."""
        return [(math.exp(each.score), _all_labels(each)) for each in self._prefixes]


def _all_labels(prefix: _Prefix) -> Labels:
    parts = []
    at: _Prefix | None = prefix
    while at is not None:
        parts.append(at.labels)
        at = at.before
    return np.concatenate(parts[::-1])

"""The best analyses of a text from the best ones of its sentences.

Sentences are independent of each other, so that the k best of a row of them are among the k best of all
but the last, each with one of the k best of the last.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]


class _Row(NamedTuple):
    """An analysis of the sentences so far: the log of its probability, that without the last, the last."""

    score: float
    before: _Row | None
    labels: Labels


class KBest:
    """The k best analyses of sentences that are added one after the other."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._rows: list[_Row] = []

    def add(self, answers: Sequence[tuple[float, Labels]]) -> None:
        """Probability and labels of the best analyses of the next sentence."""
        last = [(math.log(p) if p > 0.0 else -math.inf, labels) for p, labels in answers]
        if not self._rows:
            self._rows = [_Row(score, None, labels) for score, labels in last]
            return
        rows = (_Row(row.score + score, row, labels) for row in self._rows for score, labels in last)
        self._rows = heapq.nlargest(self._k, rows, key=lambda row: row.score)

    def answers(self) -> list[tuple[float, Labels]]:
        """Probability and labels of the best analyses of all sentences, the most probable first."""
        return [(math.exp(row.score), _joined(row)) for row in self._rows]


def _joined(row: _Row) -> Labels:
    parts = []
    at: _Row | None = row
    while at is not None:
        parts.append(at.labels)
        at = at.before
    return np.concatenate(parts[::-1])

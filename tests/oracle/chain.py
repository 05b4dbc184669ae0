"""Every question to a linear chain, answered by listing all of its paths.

The score of a path is the sum of its state scores, the transitions between neighbours, and a start
and a stop score. Forward-backward, Viterbi and k-best code must agree with this (Li et al. 2017, Eq. 1-6);
nothing here shares a recursion with them.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable

Bundle = tuple[int, ...]
"""One tag id per side."""

Path = tuple[int, ...]
"""For each position, the index of a state within its column."""

FORBIDDEN = -math.inf


def no_score(bundle: Bundle) -> float:
    """The start or stop score of a chain that has none."""
    return 0.0


def log_sum_exp(scores: Iterable[float]) -> float:
    """log Σ exp(score), shifted by the largest score; -inf for no scores."""
    listed = list(scores)
    largest = max(listed, default=FORBIDDEN)
    if largest == FORBIDDEN:
        return FORBIDDEN
    return largest + math.log(math.fsum(math.exp(score - largest) for score in listed))


@dataclasses.dataclass(frozen=True)
class Best:
    """The highest score, the first path that has it, and all paths that share it."""

    score: float
    path: Path | None  # None: no path is legal
    ties: tuple[Path, ...]  # in the order of `paths`, `path` first


class BruteForceChain:
    """A chain small enough to list all its paths."""

    def __init__(
        self,
        columns: list[list[Bundle]],  # [T][states of t]
        state_score: list[list[float]],  # [T][states of t]
        transition: Callable[[Bundle, Bundle], float],
        start: Callable[[Bundle], float] = no_score,
        stop: Callable[[Bundle], float] = no_score,
    ) -> None:
        if [len(column) for column in columns] != [len(scores) for scores in state_score]:
            raise ValueError("state_score must have one score for each bundle of each column")
        self.columns = columns
        self.state_score = state_score
        self.transition = transition
        self.start = start
        self.stop = stop
        self._paths: list[tuple[float, Path]] | None = None

    def score(self, path: Path) -> float:
        """The score of one path; -inf if any part of it is forbidden."""
        bundles = [column[i] for column, i in zip(self.columns, path, strict=True)]
        parts = [scores[i] for scores, i in zip(self.state_score, path, strict=True)]
        parts += [self.transition(previous, bundle) for previous, bundle in itertools.pairwise(bundles)]
        if bundles:
            parts += [self.start(bundles[0]), self.stop(bundles[-1])]
        return math.fsum(parts)

    def paths(self) -> list[tuple[float, Path]]:
        """All legal paths with their scores, in lexicographic order of their indexes."""
        if self._paths is None:
            every = itertools.product(*(range(len(column)) for column in self.columns))
            scored = [(self.score(path), path) for path in every]
            self._paths = [(score, path) for score, path in scored if score != FORBIDDEN]
        return self._paths

    def log_partition(self) -> float:
        """log Z: the log of the summed exponentials; -inf when no path is legal."""
        return log_sum_exp(score for score, _ in self.paths())

    def log_probabilities(self) -> list[tuple[float, Path]]:
        """Like `paths`, with log p(path) = score - log Z."""
        log_z = self.log_partition()
        return [(score - log_z, path) for score, path in self.paths()]

    def unit_marginals(self) -> list[list[float]]:
        """[t][i]: the probability that the path uses state i at position t; all 0 when no path is legal."""
        probabilities = self._probabilities()
        return [
            [math.fsum(p for p, path in probabilities if path[t] == i) for i in range(len(column))]
            for t, column in enumerate(self.columns)
        ]

    def pair_marginals(self) -> list[list[list[float]]]:
        """[t][i][j]: the probability of state i at position t and j at t + 1, for T - 1 values of t."""
        probabilities = self._probabilities()
        return [
            [
                [
                    math.fsum(p for p, path in probabilities if path[t : t + 2] == (i, j))
                    for j in range(len(right))
                ]
                for i in range(len(left))
            ]
            for t, (left, right) in enumerate(itertools.pairwise(self.columns))
        ]

    def best(self, tolerance: float = 1e-9) -> Best:
        """The highest score and its paths; scores closer than `tolerance` are ties."""
        score = max((score for score, _ in self.paths()), default=FORBIDDEN)
        ties = tuple(path for other, path in self.paths() if other >= score - tolerance)
        return Best(score, ties[0] if ties else None, ties)

    def k_best(self, k: int) -> list[tuple[float, Path]]:
        """The k highest paths (fewer if there are fewer), highest first, equal scores in order of `paths`."""
        return sorted(self.paths(), key=lambda scored: -scored[0])[:k]

    def entropy(self) -> float:
        """-Σ p log p in nats; 0 when no path is legal."""
        return math.fsum(-math.exp(log_p) * log_p for log_p, _ in self.log_probabilities())

    def _probabilities(self) -> list[tuple[float, Path]]:
        return [(math.exp(log_p), path) for log_p, path in self.log_probabilities()]

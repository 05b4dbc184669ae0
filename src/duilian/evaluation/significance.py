"""Is one system better than another, or just lucky? Paired tests over sentences, from counts alone.

Approximate randomisation, also called stratified shuffling (Noreen, 1989; Cohen, 1995): if the systems were
equally good, the two answers to each sentence could be swapped. The p-value is the share of random swaps that
give a difference as large as the one observed. The paired bootstrap (Efron and Tibshirani, 1993) draws
sentences with replacement to estimate how far the difference may be from the observed one. McNemar's test
(1947) looks at the tokens that only one of them gets right, as if tokens were independent of each other.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from duilian.errors import ConfigError
from duilian.evaluation.score import CORRECT, GOLD, GUESS, BoolArray, IntArray

Metric = Literal["accuracy", "precision", "recall", "f1"]
FloatArray = npt.NDArray[np.float64]

# Differences that are equal as fractions may differ as floats, by far less than this percentage.
_TIE = 1e-9
# Numbers drawn at a time: limits memory for any size of corpus.
_MAX_DRAWS = 4_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Bootstrap:
    """The difference a - b in percentage points, overall and in samples of the sentences."""

    difference: float
    samples: FloatArray  # [trials]

    def interval(self, level: float = 95.0) -> tuple[float, float]:
        """The confidence interval of the difference at `level` percent."""
        if not 0 < level < 100:
            raise ConfigError(f"the level must be between 0 and 100 percent, got {level!r}")
        tail = (100 - level) / 2
        low, high = np.percentile(self.samples, [tail, 100 - tail]).tolist()
        return low, high


def p_value(
    scores_a: IntArray, scores_b: IntArray, metric: Metric, trials: int = 10_000, seed: int = 1
) -> float:
    """The probability of a difference at least this large between equally good systems (two-sided).

    Scores are counts per sentence: [N, 3] gold, guess, correct, as returned by `tag_counts`, `chunk_counts`
    and `Alignment.word_counts`. The observed difference counts as one of the trials, so p > 0.

    >>> from duilian.evaluation import tag_counts
    >>> gold = [["NN", "VV"]] * 20
    >>> good, bad = tag_counts(gold, gold), tag_counts(gold, [["NN", "NN"]] * 20)
    >>> p_value(good, bad, "accuracy", trials=1000) < 0.01
    True
    """
    a, b = _checked(scores_a, scores_b, metric, trials)
    # Swapping sentences with equal differences has equal effects, so only their number matters, which is
    # binomial. Most sentences share a few differences, so this saves most draws.
    change, copies = np.unique((b - a)[(a != b).any(axis=1)], axis=0, return_counts=True)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(_value(sums_a, metric) - _value(sums_b, metric))
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _trial_batches(trials, len(copies)):
        moved = rng.binomial(copies, 0.5, size=(size, len(copies))).astype(np.float64) @ change
        shuffled = np.abs(_value(sums_a + moved, metric) - _value(sums_b - moved, metric))
        extreme += int(np.count_nonzero(shuffled >= observed - _TIE))
    return (1 + extreme) / (1 + trials)


def bootstrap(
    scores_a: IntArray, scores_b: IntArray, metric: Metric, trials: int = 10_000, seed: int = 1
) -> Bootstrap:
    """Compare both systems on `trials` samples of N sentences drawn with replacement.

    >>> from duilian.evaluation import tag_counts
    >>> gold = [["NN", "VV"]] * 20
    >>> good, bad = tag_counts(gold, gold), tag_counts(gold, [["NN", "NN"]] * 20)
    >>> bootstrap(good, bad, "accuracy", trials=100).difference
    50.0
    """
    (found,) = bootstrap_all([(scores_a, scores_b)], metric, trials, seed)
    return found


def bootstrap_all(
    pairs: Sequence[tuple[IntArray, IntArray]], metric: Metric, trials: int = 10_000, seed: int = 1
) -> list[Bootstrap]:
    """The same for several pairs of counts over the same sentences, from one drawing of samples."""
    checked = [_checked(a, b, metric, trials) for a, b in pairs]
    every = np.concatenate([side for pair in checked for side in pair], axis=1)  # [N, 6 pairs]
    rng = np.random.default_rng(seed)
    samples = [
        _difference((_times_drawn(rng, size, len(every)) @ every).reshape(size, -1, 6), metric)
        for size in _trial_batches(trials, len(every))
    ]  # [trials of a batch, pairs]
    observed = _difference(every.sum(axis=0).reshape(-1, 6), metric)
    columns = np.concatenate(samples).T
    return [Bootstrap(float(value), column) for value, column in zip(observed, columns, strict=True)]


@dataclasses.dataclass(frozen=True, slots=True)
class McNemar:
    """How many tokens only one of two systems gets right, and the exact two-sided p."""

    only_a: int
    only_b: int

    @property
    def p(self) -> float:
        """2 P(X <= min) for X ~ Binomial(only_a + only_b, 1/2), at most 1.

        >>> McNemar(0, 3).p
        0.25
        """
        tokens, fewer = self.only_a + self.only_b, min(self.only_a, self.only_b)
        # log C(n, k + 1) = log C(n, k) + log (n - k) / (k + 1)
        steps = np.log(tokens - np.arange(fewer)) - np.log(np.arange(fewer) + 1.0)
        terms = np.concatenate([[0.0], np.cumsum(steps)]) - tokens * np.log(2.0)
        top = float(terms.max())
        return min(1.0, 2.0 * math.exp(top) * float(np.exp(terms - top).sum()))


def mcnemar(right_a: BoolArray, right_b: BoolArray) -> McNemar:
    """Compare two systems token by token: [tokens] whether each is right."""
    if right_a.shape != right_b.shape:
        raise ConfigError(f"there are {len(right_a)} tokens of one system, {len(right_b)} of the other")
    only_a, only_b = (int(np.count_nonzero(x & ~y)) for x, y in ((right_a, right_b), (right_b, right_a)))
    return McNemar(only_a, only_b)


def _difference(sums: FloatArray, metric: Metric) -> FloatArray:
    return _value(sums[..., :3], metric) - _value(sums[..., 3:], metric)


def _value(sums: FloatArray, metric: Metric) -> FloatArray:
    """[...] the metric in percent, 0 if there is nothing to count, for sums [..., 3]."""
    correct, gold, guess = sums[..., CORRECT], sums[..., GOLD], sums[..., GUESS]
    if metric == "f1":
        part, whole = 2 * correct, gold + guess
    else:
        part, whole = correct, guess if metric == "precision" else gold
    value: FloatArray = 100.0 * part / np.where(whole > 0, whole, 1.0)
    return value


def _times_drawn(rng: np.random.Generator, trials: int, sentences: int) -> FloatArray:
    """[trials, N] how often each sentence occurs among N drawn with replacement."""
    drawn = rng.integers(0, sentences, size=(trials, sentences))
    drawn += np.arange(trials)[:, None] * sentences
    times = np.bincount(drawn.ravel(), minlength=trials * sentences)
    return times.reshape(trials, sentences).astype(np.float64)


def _trial_batches(trials: int, width: int) -> Iterator[int]:
    """Sizes that sum to `trials`, each small enough to draw at most `_MAX_DRAWS` numbers."""
    size = max(1, _MAX_DRAWS // max(1, width))
    for done in range(0, trials, size):
        yield min(size, trials - done)


def _checked(
    scores_a: IntArray, scores_b: IntArray, metric: str, trials: int
) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(scores_a, dtype=np.float64), np.asarray(scores_b, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape or a.shape[1] != 3 or not len(a):
        raise ConfigError(f"both counts must be [sentences, 3], got {list(a.shape)} and {list(b.shape)}")
    differing = np.flatnonzero(a[:, GOLD] != b[:, GOLD])
    if len(differing):
        raise ConfigError(f"sentence {differing[0] + 1}: the two systems were scored against different gold")
    if metric not in get_args(Metric):
        raise ConfigError(f"there is no metric {metric!r}, only {', '.join(get_args(Metric))}")
    if trials < 1:
        raise ConfigError(f"there must be at least one trial, got {trials!r}")
    return a, b

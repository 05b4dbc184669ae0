"""Calibration of confidence: a curve from a model's probabilities to how often it is right on a dev set.

A search that prunes, and a model that has learned its corpus by heart, are overconfident. The words of a dev
set are sorted by probability and divided into bins; the height of the curve is the share of a bin that is
right. The curve never falls (pool adjacent violators), so words keep their order. Confidence never exceeds
the share of right words in the highest bin.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError

Floats = npt.NDArray[np.floating[Any]]

BINS = 20
MIN_WORDS = 500  # fewer are not enough for a curve
LEAST = 1e-6  # probabilities are clipped to this distance from 0 and 1
PLACES = 6


@dataclasses.dataclass(frozen=True)
class ConfidenceCurve:
    """Points of the curve, in log odds: the model's probabilities, ascending, and the true ones."""

    said: tuple[float, ...]
    true: tuple[float, ...]

    def __post_init__(self) -> None:
        numbers = (*self.said, *self.true)
        is_finite = all(isinstance(each, float) and np.isfinite(each) for each in numbers)
        rises = all(a < b for a, b in zip(self.said, self.said[1:], strict=False))
        never_falls = all(a <= b for a, b in zip(self.true, self.true[1:], strict=False))
        if not self.said or len(self.said) != len(self.true) or not (is_finite and rises and never_falls):
            raise ConfigError("a confidence curve must not decrease")

    @classmethod
    def fitted(cls, p: Floats, is_right: npt.NDArray[np.bool_]) -> Self | None:
        """Fit a curve to words with these probabilities; None if there are too few."""
        if len(p) < MIN_WORDS:
            return None
        order = np.argsort(p, kind="stable")
        x, right = _log_odds(p[order]), is_right[order].astype(np.float64)
        # A bin ends where the probability changes: words with the same probability share a bin.
        edges = np.unique(np.searchsorted(x, x[np.arange(0, len(x), max(1, len(x) // BINS))]))
        counts = np.diff([*edges, len(x)])
        said = np.add.reduceat(x, edges) / counts
        true = _never_falling((np.add.reduceat(right, edges) + 0.5) / (counts + 1.0), counts)
        return cls(*(tuple(np.round(each, PLACES).tolist()) for each in (said, _log_odds(true))))

    def __call__(self, p: Floats) -> npt.NDArray[np.float32]:
        """How often words with these probabilities are right."""
        return self.native(np.ascontiguousarray(p, np.float32))

    @property
    def native(self) -> _native.ConfidenceCurve:
        """The same for the native core."""
        return _compiled(self.said, self.true)

    def state(self) -> list[list[float]]:
        """The curve as a model file stores it."""
        return [list(self.said), list(self.true)]

    @classmethod
    def from_state(cls, state: Any) -> Self:
        """Restore a curve, and check it."""
        if not (
            isinstance(state, list) and len(state) == 2 and all(isinstance(each, list) for each in state)
        ):
            raise ConfigError("a confidence curve is two lists of numbers")
        if len(state[0]) > 2 * BINS + 2:
            raise ConfigError(f"a confidence curve has at most {2 * BINS + 2} points")
        return cls(tuple(state[0]), tuple(state[1]))


@functools.lru_cache(maxsize=64)
def _compiled(said: tuple[float, ...], true: tuple[float, ...]) -> _native.ConfidenceCurve:
    return _native.ConfidenceCurve(said, true)


def _log_odds(p: Floats) -> npt.NDArray[np.float64]:
    p = np.clip(p.astype(np.float64), LEAST, 1.0 - LEAST)
    return np.asarray(np.log(p / (1.0 - p)))


def _never_falling(heights: Floats, counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """The nearest heights that never fall; neighbours that fall are pooled."""
    pools: list[tuple[float, int, int]] = []  # height, words, bins
    for height, count in zip(heights.tolist(), counts.tolist(), strict=True):
        pools.append((height, count, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (low, n, bins), (high, m, before) = pools.pop(), pools.pop()
            pools.append(((low * n + high * m) / (n + m), n + m, bins + before))
    return np.repeat([height for height, _, _ in pools], [bins for _, _, bins in pools])


def curves_of(state: Any, standards: Sequence[str]) -> dict[str, ConfidenceCurve]:
    """The curves of a model file, by standard; older files have none."""
    if not isinstance(state, dict) or not set(state) <= set(standards):
        raise ConfigError("there must be one confidence curve per standard")
    return {name: ConfidenceCurve.from_state(each) for name, each in state.items()}

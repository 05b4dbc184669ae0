"""The sentences of an iteration: a sample of each side, in which some may be drawn more often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian.errors import ConfigError

Ids = npt.NDArray[np.int64]
SentenceWeights = Sequence[float]
"""How often each sentence is drawn, compared with a sentence of weight 1."""

MAX_WEIGHT = 1000.0


class Pool(NamedTuple):
    """Sentences with the same weight."""

    sentences: Ids
    weight: float


def weighted(sentences: Ids, weights: SentenceWeights | None) -> list[Pool]:
    """Group the sentences of a side by weight; without weights, they form one pool."""
    if weights is None:
        return [Pool(sentences, 1.0)]
    given = np.asarray(weights, np.float64)
    if given.shape != sentences.shape:
        raise ConfigError(f"there are {given.size} weights for {len(sentences)} sentences")
    for wrong in given[~((given > 0) & (given <= MAX_WEIGHT))][:1]:
        raise ConfigError(f"a sentence's weight must be above 0 and at most {MAX_WEIGHT:g}, got {wrong:g}")
    return [Pool(sentences[given == weight], float(weight)) for weight in np.unique(given)]


def size(pools: Sequence[Pool]) -> int:
    """The sum of the weights of all sentences, rounded; at least 1."""
    return max(1, round(sum(len(pool.sentences) * pool.weight for pool in pools)))


def draw(rng: np.random.Generator, sides: Sequence[Sequence[Pool]], counts: Sequence[int]) -> Ids:
    """A sample of each side, in random order; a sentence is drawn twice only if its pool has too few."""
    drawn = []
    for pools, count in zip(sides, counts, strict=True):
        for pool, wanted in zip(pools, _split(pools, count), strict=True):
            rounds = -(-wanted // len(pool.sentences))
            turns = [rng.permutation(pool.sentences) for _ in range(rounds)]
            drawn.append(np.concatenate([*turns, np.zeros(0, np.int64)])[:wanted])
    return rng.permutation(np.concatenate(drawn)).astype(np.int64)


def _split(pools: Sequence[Pool], count: int) -> list[int]:
    """How many of `count` sentences come from each pool, rounded by the method of largest remainders."""
    worth = np.array([len(pool.sentences) * pool.weight for pool in pools])
    exact = count * worth / worth.sum()
    found = np.floor(exact).astype(np.int64)
    order = np.argsort(found - exact, kind="stable")
    found[order[: count - int(found.sum())]] += 1
    return [int(each) for each in found]

"""The k best analyses of several sentences are those that enumeration finds, in little more time than k."""

from __future__ import annotations

import itertools
import math
import random
import time

import numpy as np
import pytest

from duilian.engine.k_best import KBest
from duilian.models.roles import Ranked


def answers(rng: random.Random, count: int, name: int) -> list[Ranked[np.ndarray]]:
    """The answer, at any rank, then others by probability, some of which are equal."""
    p = sorted((rng.choice((0.0, 0.1, 0.2, rng.random())) for _ in range(count)), reverse=True)
    p.insert(0, p.pop(rng.randrange(count)))
    return [Ranked(0.0, each, np.array([name, k], np.int32)) for k, each in enumerate(p)]


@pytest.mark.parametrize("seed", range(60))
def test_enumeration_finds_no_better_ones(seed: int) -> None:
    rng = random.Random(seed)
    k = rng.choice((1, 2, 3, 7, 20))
    sentences = [answers(rng, rng.randrange(1, k + 1), name) for name in range(rng.randrange(1, 4))]
    best = KBest(k)
    for each in sentences:
        best.add(each)
    found = best.answers()
    every = {
        tuple(np.concatenate([each.analysis for each in row])): math.prod(each.probability for each in row)
        for row in itertools.product(*sentences)
    }
    first, *others = every.items()
    wanted = [first[1], *sorted((p for _, p in others), reverse=True)][:k]
    assert [p for p, _ in found] == pytest.approx(wanted)
    assert tuple(found[0][1]) == first[0]
    assert [every[tuple(labels)] for _, labels in found] == pytest.approx(wanted)
    assert len({tuple(labels) for _, labels in found}) == len(found)


def test_not_every_pair_of_analyses_is_looked_at() -> None:
    """Twenty-five million pairs took 17 s."""
    best = KBest(5000)
    began = time.process_time()
    for name in range(2):
        best.add(answers(random.Random(name), 5000, name))
    assert len(best.answers()) == 5000
    assert time.process_time() - began < 3

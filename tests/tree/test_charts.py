"""The charts against all projective trees of short sentences, with random scores."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian import _native
from oracle.trees import ABOVE_ROOT, BruteForceTrees, Part

Array = npt.NDArray[np.float64]
CASES = settings(max_examples=60, deadline=None)
sizes = st.integers(1, 5)
seeds = st.integers(0, 10**6)


class RandomParts:
    """Scores of all parts of a sentence; in `siblings` and `grandsiblings` the last place is nobody's."""

    def __init__(self, length: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        side = length + 1
        self.length = length
        self.arcs = rng.normal(size=(side, side))
        self.siblings = rng.normal(size=(side, side + 1, side + 1))
        self.grandparents = rng.normal(size=(side, side, side))
        self.grandsiblings = rng.normal(size=(side, side, side + 1, side + 1))
        self.allowed = np.ones((side, side), np.uint8)

    def score(self, part: Part) -> float:
        table = {
            "arc": self.arcs,
            "sibling": self.siblings,
            "grandparent": self.grandparents,
            "grandsibling": self.grandsiblings,
        }[part.kind]
        if ABOVE_ROOT in part.words:  # says no more than the arc from the root
            return 0.0
        return float(table[tuple(self.length + 1 if word is None else word for word in part.words)])

    def oracle(self, order: int) -> BruteForceTrees:
        pairs = np.argwhere(self.allowed).tolist()
        return BruteForceTrees(
            self.length, order, self.score, single_root=True, arcs={(head, word) for head, word in pairs}
        )

    def best(self, order: int) -> tuple[float, list[int]]:
        if order == 1:
            return _native.best_tree(np.where(self.allowed, self.arcs, -math.inf))
        third = self.grandsiblings if order == 3 else np.zeros((0, 0, 0, 0))
        return _native.best_grand_tree(self.arcs, self.siblings, self.grandparents, third, self.allowed)


@pytest.mark.parametrize("order", [1, 2, 3])
@CASES
@given(length=sizes, seed=seeds)
def test_best_tree_is_that_of_the_list(order: int, length: int, seed: int) -> None:
    parts = RandomParts(length, seed)
    score, heads = parts.best(order)
    (best,) = parts.oracle(order).best()
    assert score == pytest.approx(best.score, abs=1e-9)
    assert tuple(heads) == best.heads


@pytest.mark.parametrize("order", [1, 2, 3])
@CASES
@given(length=sizes, seed=seeds)
def test_best_tree_over_fewer_arcs(order: int, length: int, seed: int) -> None:
    parts = RandomParts(length, seed)
    parts.allowed = (np.random.default_rng(seed + 1).random(parts.arcs.shape) < 0.7).astype(np.uint8)
    score, heads = parts.best(order)
    best = parts.oracle(order).best()
    if not best:
        assert score == -math.inf
        assert heads == []
    else:
        assert score == pytest.approx(best[0].score, abs=1e-9)
        assert tuple(heads) == best[0].heads


@CASES
@given(length=sizes, seed=seeds, scale=st.sampled_from([1.0, 30.0, 400.0]))
def test_marginals_of_arcs(length: int, seed: int, scale: float) -> None:
    parts = RandomParts(length, seed)
    parts.arcs *= scale  # beyond 300 only logarithms hold the sums
    log_z, marginals = _native.arc_marginals(parts.arcs)
    oracle = parts.oracle(1)
    assert log_z == pytest.approx(oracle.log_partition(), rel=1e-12, abs=1e-9)
    np.testing.assert_allclose(marginals, oracle.arc_marginals(), rtol=1e-8, atol=1e-12)


def test_marginals_of_long_and_unlikely_sentences() -> None:
    """Each word's marginals sum to 1, where the sums are far below the range of a double, too."""
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(61, 61)) * 200.0
    _, marginals = _native.arc_marginals(scores)
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=1e-8)
    np.testing.assert_allclose(marginals[0].sum(), 1.0, rtol=1e-8)


def test_no_marginals_without_a_tree() -> None:
    scores = np.full((4, 4), -math.inf)
    log_z, marginals = _native.arc_marginals(scores)
    assert log_z == -math.inf
    assert not marginals.any()


@CASES
@given(length=sizes, seed=seeds, k=st.integers(1, 12))
def test_k_best_trees(length: int, seed: int, k: int) -> None:
    parts = RandomParts(length, seed)
    found = _native.k_best_trees(parts.arcs, k)
    expected = parts.oracle(1).k_best(k)
    assert [tuple(heads) for _, heads in found] == [each.heads for each in expected]
    assert [score for score, _ in found] == pytest.approx([each.score for each in expected], abs=1e-9)


def test_scores_that_do_not_fit_are_refused() -> None:
    square = np.zeros((3, 3))
    with pytest.raises(ValueError, match="square"):
        _native.best_tree(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="at least 1"):
        _native.k_best_trees(square, 0)
    with pytest.raises(ValueError, match="are inconsistent"):
        _native.best_grand_tree(
            square,
            np.zeros((3, 3, 3)),
            np.zeros((3, 3, 3)),
            np.zeros((0, 0, 0, 0)),
            np.ones((3, 3), np.uint8),
        )

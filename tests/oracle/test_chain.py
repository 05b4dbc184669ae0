"""The chain oracle against numbers worked out on paper."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings

from oracle.chain import FORBIDDEN, BruteForceChain, Bundle, log_sum_exp
from oracle.strategies import SmallChain, small_chains

A: Bundle = (0,)
B: Bundle = (1,)
LOG2, LOG3 = math.log(2), math.log(3)


def two_by_two() -> BruteForceChain:
    """Weights exp(score): states 1, 2 | 3, 1; transitions A→B counts 2, B→A is forbidden, others 1.

    AA = 1·1·3 = 3, AB = 1·2·1 = 2, BA = 0, BB = 2·1·1 = 2, so Z = 7.
    """
    table: dict[tuple[Bundle, Bundle], float] = {(A, A): 0.0, (A, B): LOG2, (B, A): FORBIDDEN, (B, B): 0.0}
    return BruteForceChain([[A, B], [A, B]], [[0.0, LOG2], [LOG3, 0.0]], lambda i, j: table[i, j])


def test_paths_and_their_scores() -> None:
    paths = two_by_two().paths()
    assert [path for _, path in paths] == [(0, 0), (0, 1), (1, 1)]
    assert [score for score, _ in paths] == pytest.approx([LOG3, LOG2, LOG2])


def test_partition_and_marginals() -> None:
    chain = two_by_two()
    assert chain.log_partition() == pytest.approx(math.log(7))
    first, second = chain.unit_marginals()
    assert first == pytest.approx([5 / 7, 2 / 7])
    assert second == pytest.approx([3 / 7, 4 / 7])
    [pairs] = chain.pair_marginals()
    assert pairs[0] == pytest.approx([3 / 7, 2 / 7])
    assert pairs[1] == pytest.approx([0.0, 2 / 7])


def test_best_k_best_and_entropy() -> None:
    chain = two_by_two()
    assert chain.best().score == pytest.approx(LOG3)
    assert chain.best().path == (0, 0)
    assert chain.best().ties == ((0, 0),)
    assert [path for _, path in chain.k_best(2)] == [(0, 0), (0, 1)]
    assert [path for _, path in chain.k_best(9)] == [(0, 0), (0, 1), (1, 1)]
    assert chain.k_best(0) == []
    expected = -(3 / 7) * math.log(3 / 7) - 2 * (2 / 7) * math.log(2 / 7)
    assert chain.entropy() == pytest.approx(expected)


def test_start_and_stop_scores_belong_to_the_path() -> None:
    """Starting with A counts 3 and stopping with B counts 2: AA 3, AB 6, BA 1, BB 2, so Z = 12."""
    chain = BruteForceChain(
        [[A, B], [A, B]],
        [[0.0, 0.0], [0.0, 0.0]],
        lambda i, j: 0.0,
        start=lambda bundle: LOG3 if bundle == A else 0.0,
        stop=lambda bundle: LOG2 if bundle == B else 0.0,
    )
    assert chain.log_partition() == pytest.approx(math.log(12))
    assert chain.unit_marginals()[0] == pytest.approx([9 / 12, 3 / 12])
    assert chain.unit_marginals()[1] == pytest.approx([4 / 12, 8 / 12])


def test_a_forbidden_start_leaves_the_other_state() -> None:
    chain = BruteForceChain(
        [[A, B]], [[5.0, 1.0]], lambda i, j: 0.0, start=lambda b: FORBIDDEN if b == A else 0.0
    )
    assert chain.paths() == [(1.0, (1,))]


def test_transitions_see_bundles_and_not_indexes() -> None:
    """The columns hold different bundles: index 0 is (0, 1), then (2, 0)."""
    seen = []

    def transition(previous: Bundle, bundle: Bundle) -> float:
        seen.append((previous, bundle))
        return 4.0

    chain = BruteForceChain([[(0, 1)], [(2, 0), (1, 1)]], [[1.0], [2.0, 3.0]], transition)
    assert chain.paths() == [(7.0, (0, 0)), (8.0, (0, 1))]
    assert seen == [((0, 1), (2, 0)), ((0, 1), (1, 1))]


def test_all_ties_are_listed_in_order() -> None:
    chain = BruteForceChain([[A, B], [A, B]], [[1.0, 1.0], [2.0, 0.0]], lambda i, j: 0.0)
    assert chain.best().score == 3.0
    assert chain.best().path == (0, 0)
    assert chain.best().ties == ((0, 0), (1, 0))
    assert [path for _, path in chain.k_best(4)] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_a_tie_is_as_wide_as_its_tolerance() -> None:
    chain = BruteForceChain([[A, B]], [[1.0, 1.0 - 1e-6]], lambda i, j: 0.0)
    assert chain.best().ties == ((0,),)
    assert chain.best(tolerance=1e-5).ties == ((0,), (1,))


@pytest.mark.parametrize("columns", [[[A], [B]], [[A], []], [[]]], ids=["forbidden", "empty end", "empty"])
def test_no_legal_path(columns: list[list[Bundle]]) -> None:
    chain = BruteForceChain(columns, [[0.0] * len(column) for column in columns], lambda i, j: FORBIDDEN)
    assert chain.paths() == []
    assert chain.log_partition() == -math.inf
    assert chain.best().score == -math.inf
    assert chain.best().path is None
    assert chain.best().ties == ()
    assert chain.k_best(3) == []
    assert chain.entropy() == 0.0
    assert all(marginal == 0.0 for row in chain.unit_marginals() for marginal in row)


def test_a_chain_without_positions_has_one_empty_path() -> None:
    chain = BruteForceChain([], [], lambda i, j: 0.0, start=lambda b: 1.0, stop=lambda b: 1.0)
    assert chain.paths() == [(0.0, ())]
    assert chain.log_partition() == 0.0
    assert chain.pair_marginals() == []


def test_one_position_has_no_pairs() -> None:
    chain = BruteForceChain([[A, B]], [[LOG3, 0.0]], lambda i, j: FORBIDDEN)
    assert chain.unit_marginals()[0] == pytest.approx([3 / 4, 1 / 4])
    assert chain.pair_marginals() == []


@pytest.mark.parametrize("shift", [1e4, -1e4])
def test_huge_scores_neither_overflow_nor_vanish(shift: float) -> None:
    """Two states that differ by log 3 around ±1e4."""
    chain = BruteForceChain([[A, B]], [[shift + LOG3, shift]], lambda i, j: 0.0)
    assert chain.log_partition() == pytest.approx(shift + math.log(4), rel=0, abs=1e-9)
    assert chain.unit_marginals()[0] == pytest.approx([3 / 4, 1 / 4])


def test_a_gap_of_twenty_thousand_is_certainty() -> None:
    chain = BruteForceChain([[A, B]], [[1e4, -1e4]], lambda i, j: 0.0)
    assert chain.log_partition() == 1e4
    assert chain.unit_marginals() == [[1.0, 0.0]]
    assert chain.entropy() == 0.0


def test_log_sum_exp_by_hand() -> None:
    assert log_sum_exp([]) == -math.inf
    assert log_sum_exp([FORBIDDEN, FORBIDDEN]) == -math.inf
    assert log_sum_exp([0.0, FORBIDDEN, LOG2]) == pytest.approx(LOG3)


def test_scores_must_match_the_columns() -> None:
    with pytest.raises(ValueError, match="one score for each bundle"):
        BruteForceChain([[A, B]], [[0.0]], lambda i, j: 0.0)


@given(small_chains())
@settings(deadline=None)
def test_laws_of_a_distribution(small: SmallChain) -> None:
    chain = small.oracle()
    scores = [score for score, _ in chain.paths()]
    assert scores, "small_chains keeps a legal path unless told otherwise"
    slack = 1e-12 * max(1.0, *map(abs, scores))
    assert max(scores) - slack <= chain.log_partition() <= max(scores) + math.log(len(scores)) + slack
    assert all(math.fsum(row) == pytest.approx(1.0) for row in chain.unit_marginals())
    assert -1e-9 <= chain.entropy() <= math.log(len(scores)) + 1e-9
    assert chain.k_best(1) == [(chain.best().score, chain.k_best(1)[0][1])]
    assert chain.k_best(1)[0][1] in chain.best().ties
    assert [score for score, _ in chain.k_best(len(scores))] == sorted(scores, reverse=True)


@given(small_chains())
@settings(deadline=None)
def test_pairs_sum_to_units(small: SmallChain) -> None:
    chain = small.oracle()
    units = chain.unit_marginals()
    for pairs, (left, right) in zip(chain.pair_marginals(), itertools.pairwise(units), strict=True):
        assert [math.fsum(row) for row in pairs] == pytest.approx(left)
        assert [math.fsum(row) for row in zip(*pairs, strict=True)] == pytest.approx(right)

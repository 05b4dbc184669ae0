"""The random cases keep what they promise: sizes, legality, ambiguity, and reach what they should reach."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings

from oracle.chain import FORBIDDEN
from oracle.strategies import (
    Shape,
    SmallChain,
    SmallProblem,
    all_bundles,
    random_chain,
    random_problem,
    small_chains,
    small_problems,
)

MANY = [random_chain(random.Random(seed)) for seed in range(200)]


@given(small_chains())
@settings(deadline=None)
def test_chains_are_small_and_well_formed(chain: SmallChain) -> None:
    assert 1 <= len(chain.columns) <= 5
    assert 1 <= len(chain.tags_per_side) <= 3
    assert all(1 <= tags <= 4 for tags in chain.tags_per_side)
    assert math.prod(len(column) for column in chain.columns) <= 1024
    bundles = set(all_bundles(chain.tags_per_side))
    assert all(column == sorted(set(column)) and bundles.issuperset(column) for column in chain.columns)
    assert chain.oracle().paths()


@given(small_problems())
@settings(deadline=None)
def test_the_correct_part_is_a_part(problem: SmallProblem) -> None:
    example = problem.example
    for correct, possible in zip(example.correct, example.possible, strict=True):
        assert correct
        assert set(correct) <= set(possible)
    assert len(example.features) == len(example.possible)
    assert problem.weights.sides == len(problem.tags_per_side)


def test_a_seed_repeats_its_case() -> None:
    assert random_chain(random.Random(3)) == random_chain(random.Random(3))
    assert random_problem(random.Random(3)) == random_problem(random.Random(3))
    assert random_chain(random.Random(3)) != random_chain(random.Random(4))


def test_many_seeds_reach_every_size_and_kind() -> None:
    assert {len(chain.columns) for chain in MANY} == {1, 2, 3, 4, 5}
    assert {len(chain.tags_per_side) for chain in MANY} == {1, 2, 3}
    assert {tags for chain in MANY for tags in chain.tags_per_side} == {1, 2, 3, 4}
    assert any(FORBIDDEN in chain.transition_score.values() for chain in MANY)
    assert any(FORBIDDEN in chain.start_score.values() for chain in MANY)
    assert any(FORBIDDEN in chain.stop_score.values() for chain in MANY)
    assert any(abs(score) > 1e3 for chain in MANY for row in chain.state_score for score in row)
    assert any(len(chain.oracle().best().ties) > 1 for chain in MANY[:50])


def test_forbidding_may_leave_no_path_when_asked_to() -> None:
    shape = Shape(forbidden_share=0.7, keep_a_path=False)
    chains = [random_chain(random.Random(seed), shape) for seed in range(30)]
    assert any(not chain.oracle().paths() for chain in chains)
    free = [random_chain(random.Random(seed), Shape(forbidden_share=0.0)) for seed in range(30)]
    assert all(FORBIDDEN not in chain.transition_score.values() for chain in free)


def test_every_transition_of_neighbours_has_a_score() -> None:
    for chain in MANY:
        met = {step for pair in itertools.pairwise(chain.columns) for step in itertools.product(*pair)}
        assert chain.transition_score.keys() == met


def test_a_shape_too_large_to_list_is_refused() -> None:
    with pytest.raises(ValueError, match="longest must be 1 to 5, got 6"):
        Shape(longest=6)

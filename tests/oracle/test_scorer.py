"""The coupled score and its gradient against sums written out, and against each other."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from hypothesis import given, settings

from oracle.scorer import (
    START,
    STOP,
    Example,
    WeightName,
    Weights,
    as_chain,
    central_difference,
    counts,
    expected_counts,
    gradient,
    log_likelihood,
    log_partition,
    score,
    with_change,
)
from oracle.strategies import Shape, SmallProblem, random_problem, small_problems

N, V = 0, 1  # tags of the first side
n, v = 0, 1  # tags of the second side
LOG2, LOG3 = math.log(2), math.log(3)


def two_sides() -> Weights:
    """Powers of ten, so that every sum shows which weights are in it."""
    return Weights(
        side_state=[{("w=发展", N): 1.0, ("w=发展", V): 2.0}, {("w=发展", n): 10.0}],
        side_transition=[{(START, N): 100.0, (N, V): 200.0, (V, STOP): 300.0}, {(n, v): 1_000.0}],
        joint_state={("w=发展", (N, n)): 10_000.0},
        joint_transition={(START, (N, n)): 100_000.0, ((N, n), (V, v)): 200_000.0, ((V, v), STOP): 400_000.0},
    )


def no_weights(sides: int) -> Weights:
    return Weights([{} for _ in range(sides)], [{} for _ in range(sides)], {}, {})


def test_score_of_one_unit() -> None:
    """[N,n]: separate 1 + 10, joint 10 000; START→N 100, START→[N,n] 100 000; nothing is stored for STOP."""
    assert score(two_sides(), [["w=发展"]], [(N, n)]) == 110_111.0


def test_score_of_two_units() -> None:
    """The first unit as above; N→V 200, n→v 1 000, joint 200 000; the feature on V 2; V→STOP 300, 400 000."""
    features = [["w=发展"], ["w=发展", "unseen"]]
    assert score(two_sides(), features, [(N, n), (V, v)]) == 110_111.0 + 201_200.0 + 2.0 + 400_300.0


def test_an_empty_sentence_scores_only_start_to_stop() -> None:
    weights = Weights([{}], [{(START, STOP): 3.0}], {}, {(START, STOP): 4.0})
    assert score(weights, [], []) == 7.0


def test_counts_are_joint_and_separate() -> None:
    assert counts([["f", "f"], ["g"]], [(N, n), (N, v)], views=[None, 0, 1]) == {
        WeightName("state", None, "f", (N, n)): 2,
        WeightName("state", 0, "f", N): 2,
        WeightName("state", 1, "f", n): 2,
        WeightName("state", None, "g", (N, v)): 1,
        WeightName("state", 0, "g", N): 1,
        WeightName("state", 1, "g", v): 1,
        WeightName("transition", None, START, (N, n)): 1,
        WeightName("transition", None, (N, n), (N, v)): 1,
        WeightName("transition", None, (N, v), STOP): 1,
        WeightName("transition", 0, START, N): 1,
        WeightName("transition", 0, N, N): 1,
        WeightName("transition", 0, N, STOP): 1,
        WeightName("transition", 1, START, n): 1,
        WeightName("transition", 1, n, v): 1,
        WeightName("transition", 1, v, STOP): 1,
    }


def test_a_view_of_some_sides_sees_their_tags() -> None:
    assert counts([["f"]], [(5, 6, 7)], views=[(0, 2)]) == {
        WeightName("state", (0, 2), "f", (5, 7)): 1,
        WeightName("transition", (0, 2), START, (5, 7)): 1,
        WeightName("transition", (0, 2), (5, 7), STOP): 1,
    }


def test_likelihood_and_gradient_of_one_unit() -> None:
    """exp(score): [N,n] 2·3 = 6, [N,v] 2, [V,n] 3, [V,v] 1, so Z = 12; correct is N, so Z' = 8.

    N on the feature: 1 - 8/12. n on it: 6/8 - 9/12 = 0. [N,n]: 6/8 - 6/12. [V,n]: 0 - 3/12.
    """
    weights = Weights([{("f", N): LOG2}, {("f", n): LOG3}], [{}, {}], {}, {})
    example = Example([["f"]], [[(N, n), (N, v), (V, n), (V, v)]], [[(N, n), (N, v)]])
    assert log_likelihood(weights, example) == pytest.approx(math.log(8 / 12))
    found = gradient(weights, example)
    assert found[WeightName("state", 0, "f", N)] == pytest.approx(1 - 8 / 12)
    assert found[WeightName("state", 0, "f", V)] == pytest.approx(-4 / 12)
    assert found[WeightName("state", 1, "f", n)] == pytest.approx(0.0)
    assert found[WeightName("state", None, "f", (N, n))] == pytest.approx(6 / 8 - 6 / 12)
    assert found[WeightName("state", None, "f", (V, n))] == pytest.approx(-3 / 12)
    assert found[WeightName("transition", 0, START, N)] == pytest.approx(1 - 8 / 12)
    assert found[WeightName("transition", None, (V, v), STOP)] == pytest.approx(-1 / 12)
    # 4 bundles fire a state, a start and a stop each; so do 2 tags on each of 2 sides.
    assert len(found) == 3 * (4 + 2 + 2)


def test_the_gradient_names_stored_weights_that_do_not_fire() -> None:
    weights = Weights([{("elsewhere", N): 5.0}], [{}], {}, {})
    found = gradient(weights, Example([[]], [[(N,)]], [[(N,)]]))
    assert found[WeightName("state", 0, "elsewhere", N)] == 0.0


def test_a_sentence_of_two_units_by_hand() -> None:
    """One side, only N→V stored, worth 3: NN 1, NV 3, VN 1, VV 1, so Z = 6; correct: second is V, Z' = 4."""
    weights = Weights([{}], [{(N, V): LOG3}], {}, {})
    both = [(N,), (V,)]
    example = Example([[], []], [both, both], [both, [(V,)]])
    assert log_likelihood(weights, example) == pytest.approx(math.log(4 / 6))
    found = gradient(weights, example)
    assert found[WeightName("transition", 0, N, V)] == pytest.approx(3 / 4 - 3 / 6)
    assert found[WeightName("transition", 0, V, V)] == pytest.approx(1 / 4 - 1 / 6)
    assert found[WeightName("transition", 0, N, N)] == pytest.approx(-1 / 6)
    assert found[WeightName("transition", 0, V, STOP)] == pytest.approx(1 - 4 / 6)


def test_illegal_sequences_are_in_neither_sum() -> None:
    """The same without NN and VN: possible is NV 3, VV 1; the correct ones are all of that."""
    weights = Weights([{}], [{(N, V): LOG3}], {}, {})
    both = [(N,), (V,)]
    example = Example([[], []], [both, both], [both, [(V,)]], is_legal=lambda bundles: bundles[1] == (V,))
    assert log_partition(weights, [[], []], [both, both], example.is_legal) == pytest.approx(math.log(4))
    assert log_likelihood(weights, example) == pytest.approx(0.0)


def test_nothing_correct_is_impossible_and_nothing_possible_is_an_error() -> None:
    weights = no_weights(1)
    assert log_likelihood(weights, Example([[]], [[(N,)]], [[]])) == -math.inf
    with pytest.raises(ValueError, match="no possible sequence is legal"):
        log_likelihood(weights, Example([[]], [[]], [[]]))
    with pytest.raises(ValueError, match="nothing can be expected"):
        gradient(weights, Example([[]], [[(N,)]], [[]]))


def test_a_change_touches_one_weight_of_a_copy() -> None:
    weights = two_sides()
    name = WeightName("state", 1, "w=发展", n)
    changed = with_change(weights, name, 0.5)
    assert changed.theta == {**weights.theta, name: 10.5}
    assert weights.side_state[1] == {("w=发展", n): 10.0}
    new = WeightName("transition", None, START, STOP)
    assert with_change(weights, new, 2.0).theta == {**weights.theta, new: 2.0}


@given(small_problems(Shape(longest=3, most_sides=2, most_tags=3)))
@settings(max_examples=15, deadline=None)
def test_gradient_is_the_measured_slope(problem: SmallProblem) -> None:
    found = gradient(problem.weights, problem.example)
    # A handful of names for each case keeps this quick: the steepest, where a mistake shows most.
    for name in sorted(found, key=lambda name: (-abs(found[name]), repr(name)))[:6]:
        assert central_difference(problem.weights, problem.example, name) == pytest.approx(
            found[name], abs=1e-6
        )


def test_gradient_is_the_measured_slope_along_every_weight() -> None:
    problem = random_problem(random.Random(7), Shape(longest=2, most_sides=2, most_tags=2))
    for name, slope in gradient(problem.weights, problem.example).items():
        assert central_difference(problem.weights, problem.example, name) == pytest.approx(slope, abs=1e-6)


@given(small_problems(Shape(longest=4)))
@settings(max_examples=30, deadline=None)
def test_the_chain_has_the_same_scores(problem: SmallProblem) -> None:
    example = problem.example
    chain = as_chain(problem.weights, example.features, example.possible)
    assert chain.log_partition() == pytest.approx(
        log_partition(problem.weights, example.features, example.possible)
    )
    for found, path in chain.paths():
        bundles = [column[i] for column, i in zip(example.possible, path, strict=True)]
        assert found == pytest.approx(score(problem.weights, example.features, bundles), abs=1e-9)


@given(small_problems(Shape(longest=3)))
@settings(max_examples=30, deadline=None)
def test_expected_counts_follow_from_marginals(problem: SmallProblem) -> None:
    """Eq. 12: the expectation of a joint weight sums the marginals of the places where it fires."""
    example = problem.example
    expected = expected_counts(problem.weights, example.features, example.possible)
    marginals = as_chain(problem.weights, example.features, example.possible).unit_marginals()
    for feature, bundle in {("a", bundle) for column in example.possible for bundle in column}:
        summed = math.fsum(
            row[column.index(bundle)]
            for names, column, row in zip(example.features, example.possible, marginals, strict=True)
            if feature in names and bundle in column
        )
        assert expected.get(WeightName("state", None, feature, bundle), 0.0) == pytest.approx(summed)


@given(small_problems(Shape(longest=3)))
@settings(max_examples=20, deadline=None)
def test_without_joint_weights_sides_are_independent(problem: SmallProblem) -> None:
    """log Z over all bundles is the sum of log Z over each side alone."""
    features = problem.example.features[:2]
    tags_per_side = problem.tags_per_side[:2]
    weights = dataclasses.replace(
        problem.weights,
        side_state=problem.weights.side_state[: len(tags_per_side)],
        side_transition=problem.weights.side_transition[: len(tags_per_side)],
        joint_state={},
        joint_transition={},
    )
    bundles = [(a, *rest) for a in range(tags_per_side[0]) for rest in rests(tags_per_side[1:])]
    together = log_partition(weights, features, [bundles] * len(features))
    apart = [
        log_partition(
            Weights([weights.side_state[side]], [weights.side_transition[side]], {}, {}),
            features,
            [[(tag,) for tag in range(tags)]] * len(features),
        )
        for side, tags in enumerate(tags_per_side)
    ]
    assert together == pytest.approx(math.fsum(apart))


def rests(tags_per_side: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(b,) for b in range(tags_per_side[0])] if tags_per_side else [()]


@given(small_problems(Shape(longest=4)))
@settings(max_examples=30, deadline=None)
def test_a_part_is_never_likelier_than_the_whole(problem: SmallProblem) -> None:
    assert log_likelihood(problem.weights, problem.example) <= 1e-12

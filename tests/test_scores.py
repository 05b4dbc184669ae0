"""The coupled model's loss and gradient equal their definition (Eq. 8-14 of Li et al. 2017)."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

from duilian import _native
from duilian.lattice import Lattice, Succession
from duilian.standards import BoundaryScheme
from oracle import scorer
from oracle.strategies import FEATURES, Shape, SmallProblem, random_problem

Name = scorer.WeightName
NO_STRENGTH = np.array([], np.float32)


@dataclasses.dataclass
class Fast:
    """A small problem in the native core, and where each of its weights has a place there."""

    model: _native.Model
    rows: _native.FeatureRows
    example: _native.Example
    place: dict[Name, int]
    weights: np.ndarray

    def loss_and_gradient(self) -> tuple[float, np.ndarray]:
        return _native.CoupledObjective(self.model, self.rows, [self.example]).gradient(self.weights, 1.0, 0)


def build(problem: SmallProblem, joint: str, successions: list[Succession] | None = None) -> Fast:
    example, sides = problem.example, len(problem.tags_per_side)
    first = np.cumsum([0, *map(len, example.features)], dtype=np.int64)
    flat = [FEATURES.index(name) for features in example.features for name in features]
    rows = _native.FeatureRows(first, np.array(flat, np.uint32), NO_STRENGTH)
    lattices = [
        Lattice.from_columns(columns, sides).native for columns in (example.possible, example.correct)
    ]
    native = _native.Example(0, *lattices)
    rules = successions or [Succession.free(tags) for tags in problem.tags_per_side]
    model = _native.lay_out_model(
        list(problem.tags_per_side),
        [rule.native() for rule in rules],
        len(FEATURES),
        rows,
        [native],
        _native.JointFeatures[joint],
    )
    place = places(problem, model, has_joint=joint != "none")
    weights = np.zeros(model.weights, np.float32)
    for name, at in place.items():
        weights[at] = problem.weights.theta.get(name, 0.0)
    return Fast(model, rows, native, place, weights)


def places(problem: SmallProblem, model: _native.Model, has_joint: bool) -> dict[Name, int]:
    found: dict[Name, int] = {}
    parts: list[tuple[int | None, _native.Part, list[object]]] = [
        (side, model.separate(side), list(range(tags))) for side, tags in enumerate(problem.tags_per_side)
    ]
    if has_joint:
        parts.append((None, model.joint(), [tuple(bundle) for bundle in model.bundles.tolist()]))
    for side, part, labels in parts:
        edges = {scorer.START: part.edge, scorer.STOP: part.edge}
        number = {label: k for k, label in enumerate(labels)} | edges
        for row, feature in enumerate(FEATURES):
            for k in range(part.first[row], part.first[row + 1]):
                found[Name("state", side, feature, labels[part.label[k]])] = part.state_at + k
        for before in [*labels, scorer.START]:
            for after in [*labels, scorer.STOP]:
                at = part.transition(number[before], number[after])
                if at >= 0 and (before, after) != (scorer.START, scorer.STOP):
                    found[Name("transition", side, before, after)] = at
    return found


def oracle_weights(problem: SmallProblem, fast: Fast) -> scorer.Weights:
    """The problem's weights as the native model has them: single precision, only those with a place."""
    sides = len(problem.tags_per_side)
    weights = scorer.Weights([{} for _ in range(sides)], [{} for _ in range(sides)], {}, {})
    for name, at in fast.place.items():
        table = {
            ("state", False): weights.joint_state,
            ("transition", False): weights.joint_transition,
            ("state", True): weights.side_state[name.side or 0],
            ("transition", True): weights.side_transition[name.side or 0],
        }[name.kind, name.side is not None]
        table[name.left, name.right] = float(fast.weights[at])  # type: ignore[index]
    return weights


@pytest.mark.parametrize("joint", ["none", "correct", "possible"])
@pytest.mark.parametrize("seed", range(70))
def test_loss_and_gradient_match_the_definition(seed: int, joint: str) -> None:
    shape = Shape(longest=4, most_sides=1 + seed % 3, most_tags=3)
    problem = random_problem(random.Random(seed), shape)
    fast = build(problem, joint)
    weights = oracle_weights(problem, fast)
    loss, gradient = fast.loss_and_gradient()
    assert loss == pytest.approx(-scorer.log_likelihood(weights, problem.example), abs=1e-9)
    expected = scorer.gradient(weights, problem.example)
    for name, at in fast.place.items():
        assert gradient[at] == pytest.approx(expected.get(name, 0.0), abs=1e-6), name
    assert fast.model.weights >= len(fast.place)


@pytest.mark.parametrize("seed", range(12))
def test_gradient_matches_central_differences(seed: int) -> None:
    problem = random_problem(random.Random(seed), Shape(longest=4, most_sides=1 + seed % 3, most_tags=3))
    fast = build(problem, "possible")
    _, gradient = fast.loss_and_gradient()
    original = fast.weights.copy()
    for at in fast.place.values():
        sides = []
        for step in (2.0**-8, -(2.0**-8)):
            fast.weights[:] = original
            fast.weights[at] += np.float32(step)
            moved = float(fast.weights[at]) - float(original[at])
            sides.append((fast.loss_and_gradient()[0], moved))
        (up, high), (down, low) = sides
        # The loss falls along the gradient we give: it is the direction of ascent of the likelihood.
        assert -(up - down) / (high - low) == pytest.approx(gradient[at], abs=2e-4)


@pytest.mark.parametrize("seed", range(40))
def test_boundary_rules_forbid_in_the_gradient_too(seed: int) -> None:
    rng = random.Random(seed)
    problem = random_problem(rng, Shape(longest=4, most_sides=1, most_tags=4))
    labels = ["B@X", "I@X", "E@X", "S@X"]
    scheme = BoundaryScheme.BIES
    rule = Succession(scheme.allowed(labels), scheme.allowed_start(labels), scheme.allowed_end(labels))
    problem = dataclasses.replace(problem, tags_per_side=(4,))
    length = len(problem.example.possible)
    trimmed = Lattice.complete(length, [4]).trim([rule]).columns()
    gold = scheme.encode([length], ["X"])
    correct = [[(labels.index(label),)] for label in gold]

    def is_legal(bundles: list[tuple[int, ...]]) -> bool:
        return all(rule.allows[a[0], b[0]] for a, b in itertools.pairwise(bundles))

    example = scorer.Example(problem.example.features, trimmed, correct, is_legal=is_legal)
    problem = dataclasses.replace(problem, example=example)
    fast = build(problem, "possible", [rule])
    weights = oracle_weights(problem, fast)
    loss, gradient = fast.loss_and_gradient()
    assert loss == pytest.approx(-scorer.log_likelihood(weights, example), abs=1e-9)
    expected = scorer.gradient(weights, example)
    for name, at in fast.place.items():
        assert gradient[at] == pytest.approx(expected.get(name, 0.0), abs=1e-6), name


@pytest.mark.parametrize("seed", range(30))
def test_decoding_matches_enumeration(seed: int) -> None:
    problem = random_problem(random.Random(seed), Shape(longest=4, most_sides=1 + seed % 3, most_tags=3))
    fast = build(problem, "possible")
    weights = oracle_weights(problem, fast)
    lattice = Lattice.from_columns(problem.example.possible, len(problem.tags_per_side))
    chain = scorer.as_chain(weights, problem.example.features, problem.example.possible)
    arguments = (fast.model, fast.weights, fast.rows, [0], [lattice.native])
    (by_path,) = _native.decode(*arguments, False, 1)
    ties = [[problem.example.possible[t][k] for t, k in enumerate(path)] for path in chain.best(1e-9).ties]
    assert [tuple(bundle) for bundle in by_path.tolist()] in ties
    (by_marginals,) = _native.decode(*arguments, True, 1)
    for t, column in enumerate(chain.unit_marginals()):
        for side, tags in enumerate(problem.tags_per_side):
            mass = [0.0] * tags
            for bundle, p in zip(problem.example.possible[t], column, strict=True):
                mass[bundle[side]] += p
            assert mass[by_marginals[t, side]] == pytest.approx(max(mass), abs=1e-9)


def test_training_gives_the_same_weights_for_any_number_of_threads() -> None:
    problems = [
        random_problem(random.Random(seed), Shape(longest=4, most_sides=2, most_tags=3)) for seed in range(80)
    ]
    problems = [p for p in problems if len(p.tags_per_side) == 2][:30]
    features, examples, first = [], [], [0]
    for problem in problems:
        lattices = [
            Lattice.from_columns(columns, 2).native
            for columns in (problem.example.possible, problem.example.correct)
        ]
        examples.append(_native.Example(len(features), *lattices))
        features += [[FEATURES.index(f) for f in names] for names in problem.example.features]
    first = np.cumsum([0, *map(len, features)], dtype=np.int64)
    rows = _native.FeatureRows(first, np.array([f for fs in features for f in fs], np.uint32), NO_STRENGTH)
    free = [Succession.free(3).native()] * 2
    model = _native.lay_out_model([3, 3], free, len(FEATURES), rows, examples, _native.JointFeatures.possible)
    results = []
    for threads in (1, 2, 4):
        weights = np.zeros(model.weights, np.float32)
        squares = np.zeros_like(weights)
        learner = _native.CoupledObjective(model, rows, examples)
        losses = [
            learner.adagrad_pass(weights, squares, 0.2, np.arange(len(examples)), 7, threads)
            for _ in range(5)
        ]
        assert losses[-1] < losses[0]
        results.append((losses, weights.tobytes()))
    assert results[0] == results[1] == results[2]


def test_a_bad_example_is_refused() -> None:
    rows = _native.FeatureRows(np.array([0, 1], np.int64), np.array([0], np.uint32), NO_STRENGTH)
    lattice = Lattice.complete(2, [2]).native
    free = [Succession.free(2).native()]
    with pytest.raises(ValueError, match="outside the features"):
        _native.lay_out_model(
            [2], free, 1, rows, [_native.Example(0, lattice, lattice)], _native.JointFeatures.none
        )
    with pytest.raises(ValueError, match="row is out of range"):
        _native.lay_out_model([2], free, 0, rows, [], _native.JointFeatures.none)
    with pytest.raises(ValueError, match="offsets"):
        _native.FeatureRows(np.array([0, 2], np.int64), np.array([0], np.uint32), NO_STRENGTH)

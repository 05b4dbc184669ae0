"""The plain tagger's fast core equals the general one, which equals enumeration."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

from duilian import _native
from duilian.labels.encoding import no_sets
from duilian.lattice import FORBIDDEN, Chain, Lattice, Succession
from duilian.standards import BoundaryScheme

NO_STRENGTH = np.array([], np.float32)
SCHEMES = ["free", "BIES", "BI", "scattered"]


def rules_of(scheme: str, tags: int) -> Succession:
    """Free labels, or boundary rules with labels in blocks, or in an order that gives no block."""
    if scheme == "free":
        return Succession.free(tags)
    letters = "BI" if scheme == "BI" else "ESBI"
    names = "XY"[: max(1, tags // len(letters))]
    labels = [f"{letter}@{name}" for letter in letters for name in names]
    if scheme == "scattered":
        labels = [f"{letter}@{name}" for name in names for letter in letters]
    kind = BoundaryScheme.BI if scheme == "BI" else BoundaryScheme.BIES
    return Succession(kind.allowed(labels), kind.allowed_start(labels), kind.allowed_end(labels))


@dataclasses.dataclass
class Case:
    """A random corpus of a few sentences with legal gold labels."""

    rules: Succession
    rows: _native.FeatureRows
    first: np.ndarray
    label: np.ndarray
    allowed: list[list[int]]  # per unit, what the annotation leaves open
    features: int = 6

    @property
    def labels(self) -> int:
        return len(self.rules.start)

    def objective(self, full_from: int = 1) -> tuple[_native.TaggingObjective, _native.TaggerLayout]:
        partial = [k for k, allowed in enumerate(self.allowed) if len(allowed) > 1]
        label = self.label.copy()
        label[partial] = -1
        sizes = np.array([len(a) if k in partial else 0 for k, a in enumerate(self.allowed)])
        flat = [x for k in partial for x in self.allowed[k]]
        sets = _native.TagSets(np.cumsum([0, *sizes], dtype=np.int32), np.array(flat, np.int32))
        data = _native.TaggingData(self.rows, self.first, label, sets if partial else no_sets())
        layout = _native.lay_out_tagger(self.labels, self.rules.native(), self.features, data, full_from)
        return _native.TaggingObjective(layout, data), layout


def random_case(seed: int, scheme: str, partial: bool, sentences: int = 3, apart: int = 1) -> Case:
    """Some sentences with 6 features, whose rows stand `apart`."""
    rng = random.Random(seed)
    rules = rules_of(scheme, rng.choice([4, 8]) if scheme != "free" else rng.randint(2, 6))
    free = [rules] if scheme != "free" else [Succession.free(len(rules.start))]
    first, labels, allowed, features = [0], [], [], []
    for _ in range(sentences):
        length = rng.randint(1, 6)
        lattice = Lattice.complete(length, [len(rules.start)]).trim(free)
        gold = random_path(rng, lattice, rules)
        labels += gold
        for t, label in enumerate(gold):
            others = [bundle[0] for bundle in lattice.columns()[t]]
            chosen = {label, *rng.sample(others, rng.randint(0, len(others)))} if partial else {label}
            allowed.append(sorted(chosen))
            features.append(rng.sample(range(0, 6 * apart, apart), rng.randint(0, 4)))
        first.append(len(labels))
    offsets = np.cumsum([0, *map(len, features)], dtype=np.int64)
    rows = _native.FeatureRows(
        offsets, np.array([f for unit in features for f in unit], np.uint32), NO_STRENGTH
    )
    return Case(rules, rows, np.array(first, np.int64), np.array(labels, np.int32), allowed, 6 * apart)


def random_path(rng: random.Random, lattice: Lattice, rules: Succession) -> list[int]:
    columns = [[bundle[0] for bundle in column] for column in lattice.columns()]
    while True:
        path = [rng.choice(column) for column in columns]
        if all(rules.allows[a, b] for a, b in itertools.pairwise(path)):
            return path


def general_gradient(
    case: Case, layout: _native.TaggerLayout, weights: np.ndarray, sentence: int
) -> tuple[float, np.ndarray]:
    """The same through lattices written out."""
    begin, end = case.first[sentence], case.first[sentence + 1]
    possible = Lattice.complete(int(end - begin), [case.labels]).trim([case.rules])
    correct = possible.restrict(0, case.allowed[begin:end]).trim([case.rules])
    all_z, all_counts = expected_counts(case, layout, weights, begin, possible)
    gold_z, gold_counts = expected_counts(case, layout, weights, begin, correct)
    return all_z - gold_z, gold_counts - all_counts


def expected_counts(
    case: Case, layout: _native.TaggerLayout, weights: np.ndarray, begin: int, lattice: Lattice
) -> tuple[float, np.ndarray]:
    """log Z of a lattice, and how often each weight is expected to fire."""
    edge, labels = case.labels + 1, lattice.tags[:, 0]
    table = weights[: edge * edge].reshape(edge, edge).astype(np.float64)
    unit = np.repeat(np.arange(len(lattice)), np.diff(lattice.first))
    fired = np.zeros((lattice.states, layout.weights))  # by each state alone
    for state, (t, label) in enumerate(zip(unit, labels, strict=True)):
        for row in case.rows.rows[case.rows.first[begin + t] : case.rows.first[begin + t + 1]]:
            for k in range(layout.first[row], layout.first[row + 1]):
                fired[state, edge * edge + k] += layout.label[k] == label
        fired[state, (edge - 1) * edge + label] += t == 0
        fired[state, label * edge + edge - 1] += t == len(lattice) - 1
    between = np.where(case.rules.allows, table[:-1, :-1], FORBIDDEN)
    chain = Chain(lattice, fired @ weights.astype(np.float64), [between])
    counts = chain.unit_marginals() @ fired
    for t, pairs in enumerate(chain.pair_marginals()):
        before, after = (labels[lattice.first[k] : lattice.first[k + 1]] for k in (t, t + 1))
        counts[(before[:, None] * edge + after).ravel()] += pairs.ravel()
    return chain.log_partition(), counts


def random_weights(seed: int, size: int, scale: float = 1.0) -> np.ndarray:
    return (scale * np.random.default_rng(seed).normal(size=size)).astype(np.float32)


@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(12))
def test_loss_and_gradient_equal_the_general_model(seed: int, scheme: str, partial: bool) -> None:
    case = random_case(seed, scheme, partial)
    objective, layout = case.objective()
    weights = random_weights(seed, layout.weights)
    for sentence in range(3):
        loss, gradient = objective.gradient(weights, 1.0, sentence)
        expected_loss, expected = general_gradient(case, layout, weights, sentence)
        assert loss == pytest.approx(expected_loss, abs=1e-9)
        np.testing.assert_allclose(gradient, expected, atol=2e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("scale", [100.0, 3000.0])
def test_wide_scores_take_the_log_domain_and_stay_right(scheme: str, scale: float) -> None:
    for seed in range(5):
        case = random_case(seed, scheme, partial=True)
        objective, layout = case.objective()
        weights = random_weights(seed, layout.weights, scale)
        for sentence in range(3):
            loss, gradient = objective.gradient(weights, 1.0, sentence)
            expected_loss, expected = general_gradient(case, layout, weights, sentence)
            assert loss == pytest.approx(expected_loss, rel=1e-9, abs=1e-6)
            np.testing.assert_allclose(gradient, expected, atol=2e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(8))
def test_best_labels_are_a_best_legal_path(seed: int, scheme: str) -> None:
    case = random_case(seed, scheme, partial=False)
    _, layout = case.objective()
    weights = random_weights(seed, layout.weights)
    found = _native.tag_units(layout, weights, case.rows, case.first, 1)
    assert found.tolist() == _native.tag_units(layout, weights, case.rows, case.first, 2).tolist()
    for sentence, (begin, end) in enumerate(itertools.pairwise(case.first)):
        path = found[begin:end].tolist()
        assert case.rules.start[path[0]]
        assert case.rules.end[path[-1]]
        assert all(case.rules.allows[a, b] for a, b in itertools.pairwise(path))
        losses = []
        for labels in (path, case.label[begin:end].tolist()):
            fixed = dataclasses.replace(
                case, allowed=[*case.allowed[:begin], *[[x] for x in labels], *case.allowed[end:]]
            )
            losses.append(general_gradient(fixed, layout, weights, sentence)[0])
        assert losses[0] <= losses[1] + 1e-9  # the best path has the highest score, so the lowest loss


def test_weights_exist_where_features_met_labels() -> None:
    case = random_case(1, "free", partial=False)
    _, sparse = case.objective(full_from=10**6)
    met = {
        (int(row), int(case.label[unit]))
        for unit in range(len(case.label))
        for row in case.rows.rows[case.rows.first[unit] : case.rows.first[unit + 1]]
    }
    pairs = {
        (row, int(sparse.label[k]))
        for row in range(6)
        for k in range(sparse.first[row], sparse.first[row + 1])
    }
    assert pairs == met
    _, full = case.objective(full_from=1)
    assert full.weights > sparse.weights


def naive_adagrad(
    objective: _native.TaggingObjective, weights: np.ndarray, order: list[int], rate: float
) -> None:
    """A sentence at a time; a sentence's gradient is one step (the fast rule steps per entry)."""
    squares = np.zeros_like(weights)
    for sentence in order:
        _, gradient = objective.gradient(weights, 1.0, sentence)
        squares += (gradient**2).astype(np.float32)
        weights += (rate * gradient / np.sqrt(1.0 + squares)).astype(np.float32)


def test_adagrad_equals_the_naive_learner_when_no_feature_repeats() -> None:
    """With one unit a sentence no weight occurs twice, so steps per entry and per sentence are the same."""
    case = random_case(5, "free", partial=False, sentences=30)
    short = dataclasses.replace(case, first=np.arange(len(case.label) + 1))
    objective, layout = short.objective()
    order = list(range(len(case.label)))
    fast, slow, squares = (np.zeros(layout.weights, np.float32) for _ in range(3))
    objective.adagrad_pass(fast, squares, 0.3, np.array(order), 1, 1)
    naive_adagrad(objective, slow, order, 0.3)
    np.testing.assert_allclose(fast, slow, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 4])
def test_sgd_equals_the_naive_learner(batch: int) -> None:
    """w ← (1 - η λ) w + η mean(g), η = 1 / (λ (t0 + k)), written out."""
    case = random_case(3, "BIES", partial=False, sentences=40)
    objective, layout = case.objective()
    lambda_, t0 = 0.05, 200.0
    fast, state = np.zeros(layout.weights, np.float32), _native.SgdState(0, 1.0)
    order = np.random.default_rng(1).permutation(40)
    objective.sgd_pass(fast, state, lambda_, t0, order, batch, 1)
    slow = np.zeros(layout.weights)
    for k, begin in enumerate(range(0, 40, batch)):
        chosen = order[begin : begin + batch]
        eta = 1.0 / (lambda_ * (t0 + k))
        total = sum(objective.gradient(slow.astype(np.float32), 1.0, int(i))[1] for i in chosen)
        slow = (1.0 - eta * lambda_) * slow + eta * total / len(chosen)
    np.testing.assert_allclose(fast * state.scale, slow, atol=2e-5)
    assert state.steps == -(-40 // batch)


@pytest.mark.parametrize("scheme", ["free", "BIES"])
def test_passes_are_the_same_for_any_number_of_threads(scheme: str) -> None:
    case = random_case(9, scheme, partial=True, sentences=60, apart=33)
    objective, layout = case.objective()
    order = np.random.default_rng(2).permutation(60)
    results = []
    for threads in (1, 2, 3):
        ada, squares, sgd = (np.zeros(layout.weights, np.float32) for _ in range(3))
        state = _native.SgdState(0, 1.0)
        losses = [
            (objective.adagrad_pass(ada, squares, 0.2, order, 7, threads),
             objective.sgd_pass(sgd, state, 0.01, 500.0, order, 7, threads))
            for _ in range(3)
        ]  # fmt: skip
        results.append((losses, ada.tobytes(), squares.tobytes(), sgd.tobytes(), state.scale))
    assert results[0] == results[1] == results[2]


def test_a_diverging_run_says_so() -> None:
    case = random_case(9, "free", partial=False, sentences=20)
    objective, layout = case.objective()
    weights = np.full(layout.weights, np.float32("nan"))
    with pytest.raises((RuntimeError, ValueError), match=r"finite|NaN"):
        objective.adagrad_pass(weights, np.zeros_like(weights), 0.1, np.arange(20), 1, 1)


def test_arrays_that_do_not_fit_are_refused() -> None:
    case = random_case(1, "free", partial=False)
    with pytest.raises(ValueError, match="are inconsistent"):
        _native.TaggingData(case.rows, case.first[:-1], case.label, no_sets())
    data = _native.TaggingData(case.rows, case.first, case.label, no_sets())
    with pytest.raises(ValueError, match="label is out of range"):
        _native.lay_out_tagger(1, Succession.free(1).native(), 6, data, 1)
    with pytest.raises(ValueError, match="row is out of range"):
        _native.lay_out_tagger(case.labels, case.rules.native(), 1, data, 1)
    objective, _ = case.objective()
    with pytest.raises(ValueError, match="weights do not match"):
        objective.gradient(np.zeros(3, np.float32), 1.0, 0)
    with pytest.raises(ValueError, match="at least 1"):
        objective.adagrad_pass(*[np.zeros(objective.weights, np.float32)] * 2, 0.1, np.arange(2), 0, 1)


@pytest.mark.parametrize("scheme", ["free", "BIES"])
def test_exponentiated_gradient_closes_the_duality_gap(scheme: str) -> None:
    """The dual rises with every pass, stays below the primal, and meets it; there the primal's slope is 0."""
    case = random_case(4, scheme, partial=False, sentences=12)
    objective, layout = case.objective()
    data = _native.TaggingData(case.rows, case.first, case.label, no_sets())
    penalty = 0.5
    learner = _native.ExponentiatedGradient(layout, data, penalty)
    rng = np.random.default_rng(1)
    duals = []
    for _ in range(150):
        duals.append(learner.dual())
        learner.run_pass(rng.permutation(12))
    weights = learner.weights
    found = [objective.gradient(weights.astype(np.float32), 1.0, i) for i in range(12)]
    primal = sum(loss for loss, _ in found) + 0.5 * penalty * (weights**2).sum()
    assert all(b >= a - 1e-6 for a, b in itertools.pairwise(duals))
    assert duals[-1] <= primal + 1e-4
    assert primal - learner.dual() < 1e-3 * primal
    slope = penalty * weights - sum(gradient for _, gradient in found)
    assert np.abs(slope).max() < 0.02


def test_exponentiated_gradient_refuses_partial_annotation() -> None:
    case = random_case(4, "free", partial=False)
    data = _native.TaggingData(case.rows, case.first, np.full_like(case.label, -1), no_sets())
    _, layout = case.objective()
    with pytest.raises(ValueError, match="fully annotated"):
        _native.ExponentiatedGradient(layout, data, 1.0)

"""The loose mapping in the native core against enumeration: search, steps, gradients, compiled tables."""

from __future__ import annotations

import functools
import itertools
import math
import random

import numpy as np
import pytest

from duilian import _native
from duilian.features import Templates, pack
from duilian.labels.encoding import Encoding
from duilian.lexicon.constraint_builder import no_constraints
from duilian.text import Folding
from oracle.multitask import START, STOP, chosen_all, chosen_best, fired, mean_share, score

TEMPLATES = Templates("x[0]\nx[-1] x[0]")
SIDES = (Encoding("char", ("N",)), Encoding("char", ("a", "b")))


EXPANSIONS = ["all", "mean", "best"]


class Case:
    """Two sides of four and eight labels, sentences of both, a random mapping and random weights."""

    def __init__(
        self, seed: int, expansion: str, *, without_other: int | None = None, longest: int = 3
    ) -> None:
        rng = random.Random(seed)
        self.expansion = expansion
        self.side = [0, 1, 0, 1]
        lengths = [rng.randint(1, longest) for _ in self.side]
        self.units = [[rng.choice("甲乙丙") for _ in range(n)] for n in lengths]
        self.gold = [random_path(rng, SIDES[s], n) for s, n in zip(self.side, lengths, strict=True)]
        self.sentences = pack(self.units, Folding())
        self.keys, self.rows = _native.index_features(TEMPLATES.native, self.sentences, 1, 1)
        matrix = np.array([[rng.random() < 0.3 for _ in SIDES[1].labels] for _ in SIDES[0].labels])
        self.phi = [
            [np.flatnonzero(row).tolist() if s != without_other else [] for row in (matrix, matrix.T)[s]]
            for s in (0, 1)
        ]
        self.layouts = [self.layout(s, rng.choice([1, 2])) for s in (0, 1)]
        self.training = _native.MultitaskTraining(
            *self.layouts,
            *[self.native_map(s) for s in (0, 1)],
            expansion == "best",
            self.rows,
            self.sentences.first,
            np.array(self.side, np.int32),
            np.array([x for path in self.gold for x in path], np.int32),
        )
        self.weights = np.random.default_rng(seed).normal(size=self.training.weights).astype(np.float32)

    def native_map(self, side: int) -> _native.LabelMap:
        return native_map(self.phi[side], is_mean=self.expansion == "mean")

    def layout(self, side: int, full_from: int) -> _native.TaggerLayout:
        label = [x if s == side else -1 for s, path in zip(self.side, self.gold, strict=True) for x in path]
        sets = _native.TagSets(np.array([0], np.int32), np.array([], np.int32))
        data = _native.TaggingData(self.rows, self.sentences.first, np.array(label, np.int32), sets)
        encoding = SIDES[side]
        return _native.lay_out_tagger(
            len(encoding.labels), encoding.succession.native(), len(self.keys), data, full_from
        )

    @functools.cache  # noqa: B019  (a case lives as long as its test)
    def numbers(self, side: int) -> dict[tuple[object, int], int]:
        """(feature row, label) or (label, label) → the number of its weight."""
        sizes = [(len(each.labels) + 1) ** 2 for each in SIDES]
        states = [len(layout.label) for layout in self.layouts]
        at, edge = (0, sizes[0])[side], len(SIDES[side].labels)
        found: dict[tuple[object, int], int] = {}
        for a, b in itertools.product(range(edge + 1), repeat=2):
            left, right = START if a == edge else a, STOP if b == edge else b
            found[left, right] = at + a * (edge + 1) + b
        at, layout = sum(sizes) + (0, states[0])[side], self.layouts[side]
        for row in range(len(self.keys)):
            for k in range(layout.first[row], layout.first[row + 1]):
                found[str(row), int(layout.label[k])] = at + k
        return found

    @functools.cache  # noqa: B019
    def table(self, side: int) -> dict[tuple[object, int], float]:
        return {name: float(self.weights[k]) for name, k in self.numbers(side).items()}

    @functools.cache  # noqa: B019
    def features(self, sentence: int) -> list[list[str]]:
        first, rows = self.rows.first, self.rows.rows
        begin, end = self.sentences.first[sentence : sentence + 2]
        return [[str(row) for row in rows[first[u] : first[u + 1]]] for u in range(begin, end)]

    def fired(self, sentence: int, path: list[int], side: int):
        features, phi = self.features(sentence), dict(enumerate(self.phi[side]))
        chosen, legal = chosen_all(phi), functools.partial(allows, SIDES[1 - side])
        if self.expansion == "best":
            chosen = chosen_best(phi, self.table(1 - side), features, path, legal)
        share = mean_share(phi) if self.expansion == "mean" else lambda label: 1.0
        return fired(features, path, chosen, legal, share)

    def score(self, sentence: int, path: list[int], side: int) -> float:
        return score(self.fired(sentence, path, side), self.table(side), self.table(1 - side))

    def move(self, step: np.ndarray) -> None:
        self.weights = (self.weights + step).astype(np.float32)
        self.table.cache_clear()

    def vector(self, sentence: int, path: list[int], side: int) -> np.ndarray:
        out = np.zeros(len(self.weights))
        names = {"own": self.numbers(side), "other": self.numbers(1 - side)}
        for (who, left, right), count in self.fired(sentence, path, side).items():
            if (left, right) in names[who]:
                out[names[who][left, right]] += count
        return out

    def paths(self, sentence: int, side: int) -> list[list[int]]:
        return legal_paths(SIDES[side], len(self.units[sentence]))

    def tagged(self, side: int) -> list[list[int]]:
        first = self.sentences.first
        found = self.training.tag(self.weights, side, self.rows, first, 2)
        return [found[first[k] : first[k + 1]].tolist() for k in range(len(self.units))]


def allows(encoding: Encoding, a: int, b: int) -> bool:
    rules = encoding.succession
    if a == START:
        return b != STOP and bool(rules.start[b])
    return bool(rules.end[a]) if b == STOP else bool(rules.allows[a, b])


@functools.cache
def legal_paths(encoding: Encoding, length: int) -> list[list[int]]:
    return [
        list(path)
        for path in itertools.product(range(len(encoding.labels)), repeat=length)
        if all(allows(encoding, a, b) for a, b in itertools.pairwise([START, *path, STOP]))
    ]


def random_path(rng: random.Random, encoding: Encoding, length: int) -> list[int]:
    """A legal path, label by label; it ends where a word may end."""
    while True:
        path = [START]
        for _ in range(length):
            path.append(rng.choice([b for b in range(len(encoding.labels)) if allows(encoding, path[-1], b)]))
        if allows(encoding, path[-1], STOP):
            return path[1:]


def native_map(phi: list[list[int]], *, is_mean: bool = False) -> _native.LabelMap:
    first = np.cumsum([0, *map(len, phi)]).astype(np.int32)
    return _native.LabelMap(first, np.array([z for row in phi for z in row], np.int32), is_mean)


@pytest.mark.parametrize("expansion", EXPANSIONS)
@pytest.mark.parametrize("seed", range(5))
def test_the_answer_is_the_best_of_all_paths(seed: int, expansion: str) -> None:
    case = Case(seed, expansion, without_other=[None, 0, 1][seed % 3])
    for side in (0, 1):
        for k, labels in enumerate(case.tagged(side)):
            best = max(case.score(k, path, side) for path in case.paths(k, side))
            assert labels in case.paths(k, side)
            assert case.score(k, labels, side) == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("expansion", EXPANSIONS)
@pytest.mark.parametrize("seed", range(5))
def test_a_pass_is_algorithm_2(seed: int, expansion: str) -> None:
    """Each step looks at the best wrong answer, also where gold is best, and moves mapped features alike."""
    case, cap, losses = Case(seed, expansion, without_other=[None, 0, 1][seed % 3]), 0.3, 0.0
    weights, order = case.weights.copy(), np.array([2, 0, 3, 1, 2, 0])
    for k in order:
        side, gold = case.side[k], case.gold[k]
        wrong = [path for path in case.paths(k, side) if path != gold]
        delta = np.zeros(len(weights))
        if wrong:
            guess = max(wrong, key=lambda path: case.score(k, path, side))
            delta = case.vector(k, gold, side) - case.vector(k, guess, side)
        cost, difference = case.training.difference(case.weights, k, 0)
        assert cost == (1.0 if wrong else 0.0)
        np.testing.assert_allclose(difference, delta)
        if delta.any():
            loss = max(0.0, 1.0 - float(case.weights @ delta))
            losses += loss
            case.move(min(cap, loss / float(delta @ delta)) * delta)
    lag, counted = np.zeros(len(weights)), _native.PerceptronState(0)
    found = case.training.passive_aggressive_pass(weights, lag, cap, counted, order)
    assert found == pytest.approx(losses, abs=1e-4)
    np.testing.assert_allclose(weights, case.weights, atol=1e-5)


@pytest.mark.parametrize("expansion", ["all", "mean"])
@pytest.mark.parametrize("seed", range(4))
def test_loss_and_gradient_are_those_of_enumeration(seed: int, expansion: str) -> None:
    case = Case(seed, expansion, without_other=[None, 0, 1][seed % 3], longest=3)
    objective = _native.MultitaskObjective(case.training)
    for k, (side, gold) in enumerate(zip(case.side, case.gold, strict=True)):
        paths = case.paths(k, side)
        scores = np.array([case.score(k, path, side) for path in paths])
        log_z = math.log(np.exp(scores).sum())
        counts = np.array([case.vector(k, path, side) for path in paths])
        expected = case.vector(k, gold, side) - np.exp(scores - log_z) @ counts
        loss, gradient = objective.gradient(case.weights, 1.0, k)
        assert loss == pytest.approx(log_z - scores[paths.index(gold)], abs=1e-4)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("expansion", EXPANSIONS)
@pytest.mark.parametrize("seed", range(4))
def test_compiled_tables_answer_alike(seed: int, expansion: str) -> None:
    case = Case(seed, expansion, longest=9)
    for side, encoding in enumerate(SIDES):
        compiled = [case.training.compile(case.weights, s, case.keys, 0.0) for s in (side, 1 - side)]
        fixed = (TEMPLATES.native, Folding().native)
        rules = [each.succession.native() for each in (encoding, SIDES[1 - side])]
        sizes = [len(each.labels) for each in (encoding, SIDES[1 - side])]
        predictor = (
            _native.BestExpansionPredictor(
                sizes[0],
                rules[0],
                compiled[0],
                sizes[1],
                rules[1],
                compiled[1],
                case.native_map(side),
                *fixed,
            )
            if expansion == "best"
            else _native.Predictor(sizes[0], rules[0], compiled[0], *fixed)
        )
        labels, _ = predictor.predict(case.sentences, no_constraints(), 1)
        assert labels.tolist() == [x for path in case.tagged(side) for x in path]


@pytest.mark.parametrize("expansion", ["all", "mean"])
@pytest.mark.parametrize("seed", range(4))
def test_a_compiled_table_has_the_probabilities_of_all_paths(seed: int, expansion: str) -> None:
    case = Case(seed, expansion)
    for side, encoding in enumerate(SIDES):
        compiled = case.training.compile(case.weights, side, case.keys, 0.0)
        size, rules = len(encoding.labels), encoding.succession.native()
        predictor = _native.Predictor(size, rules, compiled, TEMPLATES.native, Folding().native)
        wanted = []
        for k, units in enumerate(case.units):
            p, paths = np.zeros((len(units), size)), case.paths(k, side)
            for path, share in zip(paths, np.exp([case.score(k, each, side) for each in paths]), strict=True):
                p[range(len(units)), path] += share
            wanted.append(p / p[0].sum())
        found = predictor.predict_marginals(case.sentences, no_constraints(), 1)
        np.testing.assert_allclose(found, np.concatenate(wanted), atol=1e-5)


def test_threads_do_not_show_in_the_weights() -> None:
    found = []
    for threads in (1, 2, 3):
        case = Case(3, "mean", longest=7)
        weights, squares = np.zeros_like(case.weights), np.zeros_like(case.weights)
        objective = _native.MultitaskObjective(case.training)
        for _ in range(3):
            objective.adagrad_pass(weights, squares, 0.3, np.arange(4), 2, threads)
        found.append(weights.tobytes())
    assert len(set(found)) == 1


def test_what_does_not_fit_is_refused() -> None:
    case = Case(1, "best")
    with pytest.raises(ValueError, match="all labels expanded"):
        _native.MultitaskObjective(case.training)
    wrong = _native.LabelMap(np.array([0, 1], np.int32), np.array([99], np.int32), False)
    label = np.array([x for path in case.gold for x in path], np.int32)
    with pytest.raises(ValueError, match="does not match the labels"):
        _native.MultitaskTraining(
            *case.layouts,
            wrong,
            native_map(case.phi[1]),
            False,
            case.rows,
            case.sentences.first,
            np.array(case.side, np.int32),
            label,
        )

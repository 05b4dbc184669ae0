"""Dynamic features in the native core against their twins: templates, search, steps and gradients."""

from __future__ import annotations

import dataclasses
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
from duilian.text import Folding, char_types
from oracle import templates as twin
from oracle.dynamic import Path, Search, words_so_far

TAGS = ("N", "V")
WORDS = (
    "@pos[-2] @pos[-1]\n@pos[-1] @pos[0]\n@pos[-1] w[0]\nw[-1] w[0]\nw[0] len[0]\n@pos[0] w[1]\nsuffix[-1,1]"
)
UNITS = "x[0]\nx[-1] x[0]\nx[1]"
ENCODING = Encoding("char", TAGS)
L = len(ENCODING.labels)
RULES = ENCODING.succession
LABEL_WORDS = _native.LabelWords(
    RULES.start.tolist(), RULES.end.tolist(), [label.split("@")[1] for label in ENCODING.labels]
)


def random_path(rng: random.Random, length: int) -> list[int]:
    while True:
        path = [rng.randrange(L) for _ in range(length)]
        if is_legal(tuple(path), length) and all(is_legal(tuple(path[:t]), length) for t in range(1, length)):
            return path


def is_legal(path: Path, length: int) -> bool:
    """Whether labels can begin a path of this length."""
    starts, ends = bool(RULES.start[path[0]]), len(path) < length or bool(RULES.end[path[-1]])
    return starts and ends and all(RULES.allows[a, b] for a, b in itertools.pairwise(path))


class Case:
    """A few sentences over two characters, and a model with random weights."""

    def __init__(self, seed: int, longest: int = 4, scale: float = 1.0) -> None:
        rng = random.Random(seed)
        lengths = [rng.randint(1, longest) for _ in range(4)]
        self.units = [[rng.choice("甲乙A") for _ in range(n)] for n in lengths]
        self.gold = [random_path(rng, n) for n in lengths]
        self.sentences = pack(self.units, Folding())
        self.units_templates, self.templates = Templates(UNITS), Templates(WORDS)
        self.kind_gap, self.path_gap = rng.choice([-1.0, 0.5, 1e9]), rng.choice([0.5, 2.0, math.inf])
        label = np.array([x for path in self.gold for x in path], np.int32)
        self.training = _native.DynamicTraining(
            L,
            RULES.native(),
            LABEL_WORDS,
            self.units_templates.native,
            self.templates.native,
            self.sentences,
            label,
            1,
            1,
            rng.choice([1, 2, 3]),
            self.kind_gap,
            self.path_gap,
            1,
        )
        self.layout = self.training.layout
        normal = np.random.default_rng(seed).normal(size=self.training.weights)
        self.weights = (scale * normal).astype(np.float32)
        self.row = {int(key): k for k, key in enumerate(self.training.keys)}
        self.table = self.weights[: (L + 1) ** 2].reshape(L + 1, L + 1).astype(float)

    @functools.cache  # noqa: B019  (a case lives as long as its test)
    def weight(self, key: int, label: int) -> tuple[int, float] | None:
        """The number and value of a feature's weight for a label."""
        row = self.row.get(int(key))
        if row is None:
            return None
        for k in range(self.layout.first[row], self.layout.first[row + 1]):
            if self.layout.label[k] == label:
                return (L + 1) ** 2 + k, float(self.weights[(L + 1) ** 2 + k])
        return None

    @functools.cache  # noqa: B019
    def unit_keys(self, sentence: int, t: int) -> list[int]:
        first, keys = _native.extract_keys(
            self.units_templates.native, pack([self.units[sentence]], Folding())
        )
        return [int(key) for key in keys[first[t] : first[t + 1]]]

    @functools.cache  # noqa: B019
    def word_keys(self, sentence: int, path: Path) -> list[int]:
        """Of the unit after a path."""
        units, t = self.units[sentence], len(path)
        labels = np.array([*path, *[0] * (len(units) - t)], np.int32)
        first, keys = _native.word_keys(self.templates.native, LABEL_WORDS, pack([units], Folding()), labels)
        return [int(key) for key in keys[first[t] : first[t + 1]]]

    @functools.cache  # noqa: B019
    def word_score(self, sentence: int, path: Path, label: int) -> float:
        return self.sum(self.word_keys(sentence, path), label)

    @functools.cache  # noqa: B019
    def kept(self, sentence: int, length: int) -> list[tuple[float, Path]]:
        """The best path of every label after this many units."""
        return every_kept(
            dataclasses.replace(self.search(sentence), length=length), self.kind_gap, self.path_gap
        )

    def sum(self, keys: list[int], label: int) -> float:
        return sum(found[1] for key in keys if (found := self.weight(key, label)) is not None)

    def search(self, sentence: int) -> Search:
        length = len(self.units[sentence])

        @functools.cache
        def state(t: int, label: int) -> float:
            edges = (self.table[L, label] if t == 0 else 0.0) + (
                self.table[label, L] if t == length - 1 else 0.0
            )
            return edges + self.sum(self.unit_keys(sentence, t), label)

        return Search(
            length,
            L,
            state,
            lambda a, b: float(self.table[a, b]),
            lambda path: is_legal(path, length),
            lambda label: not RULES.end[label],
            lambda path, label: self.word_score(sentence, path, label),
        )

    def predictor(self, beam: int, kind_gap: float, path_gap: float) -> _native.DynamicPredictor:
        compiled = _native.compile_dynamic(
            self.layout, self.weights, self.training.keys, self.training.unit_rows, LABEL_WORDS, 0.0
        )
        return _native.DynamicPredictor(
            L,
            RULES.native(),
            compiled,
            self.units_templates.native,
            self.templates.native,
            Folding().native,
            LABEL_WORDS,
            beam,
            kind_gap,
            path_gap,
        )

    def predict(self, beam: int, kind_gap: float, path_gap: float = math.inf) -> list[list[int]]:
        labels, impossible = self.predictor(beam, kind_gap, path_gap).predict(
            self.sentences, no_constraints(), 2
        )
        assert impossible == 0
        first = self.sentences.first
        return [labels[first[k] : first[k + 1]].tolist() for k in range(len(self.units))]


@pytest.mark.parametrize("seed", range(20))
def test_templates_about_words_see_what_the_twin_sees(seed: int) -> None:
    rng = random.Random(seed)
    units = [rng.choice(["甲", "乙", "Ab", "１"]) for _ in range(rng.randint(1, 7))]
    path = random_path(rng, len(units))
    given = Templates(WORDS + "\nlen[-1] type[0]\nsame[-2,0]\nw[2] w[-2] if single[0]\n")
    found = _native.describe_words(
        given.native, LABEL_WORDS, pack([units], Folding(width=False)), np.array(path, np.int32)
    )
    names = [ENCODING.labels[label] for label in path]
    for t, features in enumerate(found):
        words, tags, place = words_so_far(units, names[:t])
        expected = twin.extract(words, {"pos": tags}, given.text, lambda c: char_types(c)[0])[place]
        assert features == expected


def test_features_about_words_and_about_units_differ() -> None:
    given, packed = Templates("w[0]"), pack([["甲"]], Folding())
    _, words = _native.word_keys(
        given.native, LABEL_WORDS, packed, np.array([ENCODING.number["S@N"]], np.int32)
    )
    _, units = _native.extract_keys(given.native, packed)
    assert words.tolist() != units.tolist()


def test_more_than_two_words_back_is_refused() -> None:
    for text in ("w[-3]", "same[0,-3]", "w[0] if single[-3]"):
        with pytest.raises(ValueError, match="more than 2 words back"):
            _native.word_template_columns(Templates(text).native)


@pytest.mark.parametrize("kind_gap", [-1.0, 0.7, 1e9])
@pytest.mark.parametrize("seed", range(4))
def test_the_search_is_the_naive_one(seed: int, kind_gap: float) -> None:
    case = Case(seed)
    for beam in (1, 2, 3):
        found = case.predict(beam, kind_gap)
        for k, labels in enumerate(found):
            assert tuple(labels) == case.search(k).beam(beam, kind_gap)


@pytest.mark.parametrize("path_gap", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_words_of_paths_too_far_behind_are_ignored_as_the_twin_does(seed: int, path_gap: float) -> None:
    case = Case(seed)
    for beam, kind_gap in itertools.product((1, 2), (0.7, 1e9)):
        for k, labels in enumerate(case.predict(beam, kind_gap, path_gap)):
            assert tuple(labels) == case.search(k).beam(beam, kind_gap, path_gap)


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_is_exhaustive(seed: int) -> None:
    case = Case(seed, longest=3)
    for k, labels in enumerate(case.predict(10**4, -1.0)):
        search = case.search(k)
        best, score = search.exhaustive()
        assert search.own_score(tuple(labels)) == pytest.approx(score, abs=1e-6)
        assert tuple(labels) == best


@pytest.mark.parametrize("seed", range(6))
def test_training_tags_as_the_compiled_tagger_does(seed: int) -> None:
    case = Case(seed, longest=8)
    rows = case.training.rows(case.units_templates.native, case.sentences, 1)
    for threads in (1, 2):
        labels = case.training.tag(case.weights, case.sentences, rows, threads)
        assert labels.tolist() == [x for path in case.predict(1, case.kind_gap, case.path_gap) for x in path]


def followed(case: Case, sentence: int, path: Path, label: int) -> Path | None:
    """The path whose words a label sees after `path`, as the search chooses it for each kind of label; None
    if the label sees no words."""
    search = case.search(sentence)
    t = len(path)
    if t == 0:
        return ()
    begins = bool(RULES.start[label])
    paths = case.kept(sentence, t)
    kinds = [each for each in paths if search.is_open(each[1][-1]) != begins]
    is_own = kinds and (paths[0][0] - kinds[0][0] <= case.kind_gap or kinds[0] is paths[0])
    score, found = kinds[0] if is_own else paths[0]
    return found if paths[0][0] - score <= case.path_gap else None


def every_kept(search: Search, kind_gap: float, path_gap: float) -> list[tuple[float, Path]]:
    """The best path of every label, best first, as the search of width 1 has them after its last unit."""
    paths = [
        (search.state(0, label) + search.word_score((), label), (label,))
        for label in range(L)
        if search.is_legal((label,))
    ]
    paths.sort(key=lambda each: -each[0])
    for t in range(1, search.length):
        found: dict[int, tuple[float, Path]] = {}
        for score, path in paths:
            reached, told = search.teller(paths, path, kind_gap)
            for label in range(L):
                if search.is_legal((*path, label)):
                    step = search.between(path[-1], label) + search.state(t, label)
                    is_near = paths[0][0] - reached <= path_gap
                    total = score + step + (search.word_score(told, label) if is_near else 0.0)
                    if label not in found or total > found[label][0]:
                        found[label] = (total, (*path, label))
        paths = sorted(found.values(), key=lambda each: -each[0])
    return paths


def fired(case: Case, sentence: int, path: Path) -> np.ndarray:
    """How often each weight fires on a path, with the words that its labels saw in the search."""
    out = np.zeros(len(case.weights))
    for t, label in enumerate(path):
        words = followed(case, sentence, path[:t], label)
        keys = case.unit_keys(sentence, t) + ([] if words is None else case.word_keys(sentence, words))
        for key in keys:
            if (found := case.weight(key, label)) is not None:
                out[found[0]] += 1
    for a, b in itertools.pairwise([L, *path, L]):
        out[a * (L + 1) + b] += 1
    return out


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_gold_less_guess_under_the_words_seen(seed: int) -> None:
    case = Case(seed)
    guesses = case.predict(1, case.kind_gap, case.path_gap)
    for k, (gold, guess) in enumerate(zip(case.gold, guesses, strict=True)):
        cost, difference = case.training.difference(case.weights, k, 0)
        assert cost == (0.0 if gold == guess else 1.0)
        expected = fired(case, k, tuple(gold)) - fired(case, k, tuple(guess))
        np.testing.assert_allclose(difference, expected)


@pytest.mark.parametrize("seed", range(3))
def test_loss_and_gradient_are_those_of_enumeration(seed: int) -> None:
    case = Case(seed, longest=3)
    objective = _native.DynamicObjective(case.training)
    for k, gold in enumerate(case.gold):
        length = len(gold)
        paths = [
            path
            for path in itertools.product(range(L), repeat=length)
            if all(is_legal(path[: t + 1], length) for t in range(length))
        ]
        counts = np.array([fired(case, k, path) for path in paths])
        scores = counts @ case.weights.astype(float)
        log_z = math.log(sum(math.exp(s) for s in scores))
        expected = fired(case, k, tuple(gold)) - np.exp(scores - log_z) @ counts
        loss, gradient = objective.gradient(case.weights, 1.0, k)
        assert loss == pytest.approx(log_z - scores[paths.index(tuple(gold))], abs=1e-6)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_threads_do_not_show_in_the_weights() -> None:
    found = []
    for threads in (1, 2, 3):
        case = Case(5, longest=9)
        weights, squares = np.zeros_like(case.weights), np.zeros_like(case.weights)
        objective = _native.DynamicObjective(case.training)
        for _ in range(3):
            objective.adagrad_pass(weights, squares, 0.3, np.arange(4), 2, threads)
        found.append(weights.tobytes())
    assert len(set(found)) == 1

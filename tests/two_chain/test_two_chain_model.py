"""Two chains as a whole against their definition: features, best answers in three modes, and Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.labels.segments import letter_numbers
from duilian.models.two_chain.model import TwoChainTagger
from duilian.models.two_chain.training import TwoChainTraining
from oracle.two_chain import NaiveTwoChains, Path

TEMPLATES = """
s t tt    : x[-1]
s t st ss : x[0]
s         : x[1]
t         : x[2]
s t       : x[-1] x[0]
s         : x[0] x[1]
t         : x[-2] x[0]
"""
SENTENCES = [
    Layer(("我们", "去", "京"), ("N", "V", "N")),
    Layer(("去", "北京"), ("V", "N")),
    Layer(("我", "们"), ("N", "N")),
    Layer(("北", "去了"), None),
    Layer(("京", "去了", "我"), ("N", "V", None)),
]


@pytest.fixture(params=["", "t: bias x[1]\n"], ids=["units only", "any atom"])
def templates(tmp_path, request):
    """Templates that look at units only take a faster way than others."""
    path = tmp_path / "templates.txt"
    path.write_text(TEMPLATES + request.param, encoding="utf-8")
    return str(path)


def trained(templates: str, seed: int, **settings) -> tuple[TwoChainTagger, TwoChainTraining, np.ndarray]:
    tagger = TwoChainTagger("x", templates=templates, **settings)
    training = TwoChainTraining(tagger, SENTENCES, [])
    rng = np.random.default_rng(seed)
    # Sums of such numbers are exact in single precision: what is better there is better here.
    weights = (rng.integers(-(2**14), 2**14, training.layout.weights) / 2**14).astype(np.float32)
    return tagger, training, weights


def numbers(tagger: TwoChainTagger, layer: Layer) -> tuple[list[str], Path]:
    found = tagger.encoding_.segment([layer], is_given=False)
    letters = letter_numbers(tagger.scheme, found.sizes).tolist()
    tags = np.repeat(found.tags[0], found.sizes[0]).tolist()
    return found.units[0], (tuple(letters), tuple(tags))


@pytest.mark.parametrize(
    "settings", [{}, {"edge": False}, {"scheme": "BI"}, {"full_from": 1}, {"min_count": 2}]
)
@pytest.mark.parametrize("seed", range(2))
def test_answers_are_the_best_of_all_paths(templates: str, settings: dict, seed: int) -> None:
    tagger, training, weights = trained(templates, seed, **settings)
    compiled = _native.compile_two_chain(training.layout, weights, training.keys, 0.0)
    predictor = _native.TwoChainPredictor(
        tagger.shape_, tagger.templates_.native, compiled, tagger.folding_.native
    )
    naive = NaiveTwoChains(tagger, training.layout, training.keys.tolist())
    for layer in [*SENTENCES[:2], Layer(("新", "去")), Layer(("京",))]:
        units, (given, _) = numbers(tagger, Layer(layer.words))
        packed = tagger.pack([units], [layer])
        nothing, mode = np.zeros(0, np.int32), _native.TwoChainMode
        empty = np.zeros(0, np.int32)

        score, (s, t) = naive.best(weights, units)
        (_, letters, tags), *_ = predictor.k_best(packed, 0, 1, False)
        assert (tuple(letters), tuple(tags)) == (s, t)
        assert predictor.k_best(packed, 0, 1, False)[0][0] == pytest.approx(score, abs=1e-4)
        found = predictor.predict(packed, mode.joint, nothing, 1)
        assert tuple(found[0]) == s
        if tagger.edge:
            assert tuple(found[1]) == t
        assert predictor.path_score(packed, 0, letters, tags) == pytest.approx(score, abs=1e-4)

        score, (s, _) = naive.best(weights, units, has_tags=False)
        assert tuple(predictor.predict(packed, mode.segment, nothing, 1)[0]) == s
        assert predictor.path_score(packed, 0, np.array(s, np.int32), empty) == pytest.approx(score, abs=1e-4)

        _, (s, t) = naive.best(weights, units, (given, None))
        found = predictor.predict(packed, mode.tag, np.array(given, np.int32), 1)
        assert tuple(found[0]) == given
        if tagger.edge:
            assert tuple(found[1]) == t


@pytest.mark.parametrize(
    "settings", [{}, {"edge": False}, {"modes": ["joint"]}, {"modes": ["segment", "joint"]}]
)
def test_learning_is_algorithm_1(templates: str, settings: dict) -> None:
    """Two passes over annotated, partly annotated and segmented sentences, against dense vectors."""
    tagger, training, weights = trained(templates, 5, **settings)
    naive = NaiveTwoChains(tagger, training.layout, training.keys.tolist())
    modes = [_native.TwoChainMode[mode] for mode in tagger.modes]
    structure = _native.TwoChainStructure(training.layout, training._data, modes, 1.0, False)
    order = np.array([3, 0, 4, 1, 2, 0], np.int64)
    cap = 0.1
    w, total, rounds, losses = weights.astype(np.float64), np.zeros(len(weights)), 0, 0.0
    for example in [*order, *order]:
        units, gold = numbers(tagger, SENTENCES[example])
        for mode in tagger.modes:
            if mode != "segment" and SENTENCES[example].tags is None:
                continue
            if mode == "segment":
                right: Path = (gold[0], None)
                _, guess = naive.best(w, units, has_tags=False)
            else:
                _, right = naive.best(w, units, gold)  # what is not known is the best that agrees
                _, guess = naive.best(w, units, (gold[0], None) if mode == "tag" else None)
            delta = naive.vector(units, right) - naive.vector(units, guess)
            if delta.any():
                loss = max(0.0, 1.0 - float(w @ delta))
                losses += loss
                w = w + min(cap, loss / float(delta @ delta)) * delta
            total += w
            rounds += 1
    lag, counted = np.zeros(len(weights)), _native.PerceptronState(0)
    loss = sum(structure.passive_aggressive_pass(weights, lag, cap, counted, order) for _ in range(2))
    assert counted.rounds == rounds
    assert loss == pytest.approx(losses, abs=1e-4)
    np.testing.assert_allclose(weights, w, atol=1e-5)
    np.testing.assert_allclose(_native.mean_weights(weights, lag, rounds), total / rounds, atol=1e-5)


def test_costs_are_counted_per_label(templates: str) -> None:
    """With cost 'label' the guess is the best when every wrong letter and tag scores 1 more."""
    tagger, training, weights = trained(templates, 6)
    naive = NaiveTwoChains(tagger, training.layout, training.keys.tolist())
    structure = _native.TwoChainStructure(
        training.layout, training._data, [_native.TwoChainMode.joint], 1.0, True
    )
    for example in (0, 1, 2):
        units, (s, t) = numbers(tagger, SENTENCES[example])

        def wrong(path: Path, gold: Path = (s, t)) -> int:
            pairs = zip((*path[0], *(path[1] or ())), (*gold[0], *(gold[1] or ())), strict=True)
            return sum(a != b for a, b in pairs)

        found = max(
            naive.paths(len(units), None, True),
            key=lambda path: float(naive.vector(units, path) @ weights) + wrong(path),
        )
        cost, difference = structure.difference(weights, example, 0)
        assert cost == wrong(found)
        np.testing.assert_array_equal(difference, naive.vector(units, (s, t)) - naive.vector(units, found))


def test_the_compiled_model_answers_as_the_one_in_training(templates: str) -> None:
    tagger, training, weights = trained(templates, 7)
    compiled = _native.compile_two_chain(training.layout, weights, training.keys, 0.0)
    predictor = _native.TwoChainPredictor(
        tagger.shape_, tagger.templates_.native, compiled, tagger.folding_.native
    )
    found = tagger.encoding_.segment(SENTENCES, is_given=False)
    packed = tagger.pack(found.units, SENTENCES)
    given = letter_numbers(tagger.scheme, found.sizes)
    for mode in _native.TwoChainMode:
        ours = predictor.predict(packed, mode, given if mode.name == "tag" else np.zeros(0, np.int32), 2)
        theirs = _native.label_two_chain(training.layout, weights, training._data, mode, 2)
        np.testing.assert_array_equal(ours[1], theirs[1])
        np.testing.assert_array_equal(ours[0], theirs[0])

"""Two chains as a whole against their definition: features, best answers in three modes, and Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.labels.segments import letter_numbers
from duilian.models.base.feature_settings import Features
from duilian.models.two_chain.config import TwoChainConfig
from duilian.models.two_chain.predictor import TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel, TwoChainPacker
from duilian.models.two_chain.training import TwoChainExamples
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
    """Templates that look only at units are evaluated by faster code than others."""
    path = tmp_path / "templates.txt"
    path.write_text(TEMPLATES + request.param, encoding="utf-8")
    return str(path)


def weighted(
    templates: str, seed: int, features: dict | None = None, **settings
) -> tuple[TwoChainConfig, TwoChainExamples, np.ndarray]:
    """Examples with random weights."""
    features = {"templates": templates} | (features or {})
    config = TwoChainConfig(standard="x", features=Features(**features), **settings)
    examples = TwoChainExamples.of(config, SENTENCES)
    rng = np.random.default_rng(seed)
    # Sums of such numbers are exact in single precision: what is better there is better here.
    weights = (rng.integers(-(2**14), 2**14, examples.layout.weights) / 2**14).astype(np.float32)
    return config, examples, weights


def compiled(examples: TwoChainExamples, weights: np.ndarray) -> _native.TwoChainPredictor:
    """The weights as a model answers with them."""
    packer = examples.packer
    found = _native.compile_two_chain(examples.layout, weights, examples.keys, 0.0)
    return _native.TwoChainPredictor(packer.shape, packer.templates.native, found, packer.reading.native)


def naive_twin(examples: TwoChainExamples) -> NaiveTwoChains:
    return NaiveTwoChains(examples.packer, examples.layout, examples.keys.tolist())


def numbers(packer: TwoChainPacker, layer: Layer) -> tuple[list[str], Path]:
    found = packer.encoding.segment([layer], is_given=False)
    letters = letter_numbers(packer.encoding.scheme, found.sizes).tolist()
    tags = np.repeat(found.tags[0], found.sizes[0]).tolist()
    return found.units[0], (tuple(letters), tuple(tags))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"edge": False},
        *({"features": each} for each in ({"scheme": "BI"}, {"full_from": 1}, {"min_count": 2})),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_answers_are_the_best_of_all_paths(templates: str, settings: dict, seed: int) -> None:
    config, examples, weights = weighted(templates, seed, **settings)
    packer, predictor, naive = examples.packer, compiled(examples, weights), naive_twin(examples)
    for layer in [*SENTENCES[:2], Layer(("新", "去")), Layer(("京",))]:
        units, (given, _) = numbers(packer, Layer(layer.words))
        packed = packer.pack([units], [layer])
        nothing, mode = np.zeros(0, np.int32), _native.TwoChainMode
        empty = np.zeros(0, np.int32)

        score, (s, t) = naive.best(weights, units)
        (_, letters, tags), *_ = predictor.k_best(packed, 0, 1, False)
        assert (tuple(letters), tuple(tags)) == (s, t)
        assert predictor.k_best(packed, 0, 1, False)[0][0] == pytest.approx(score, abs=1e-4)
        found = predictor.predict(packed, mode.joint, nothing, 1)
        assert tuple(found[0]) == s
        if config.edge:
            assert tuple(found[1]) == t
        assert predictor.path_score(packed, 0, letters, tags) == pytest.approx(score, abs=1e-4)

        score, (s, _) = naive.best(weights, units, has_tags=False)
        assert tuple(predictor.predict(packed, mode.segment, nothing, 1)[0]) == s
        assert predictor.path_score(packed, 0, np.array(s, np.int32), empty) == pytest.approx(score, abs=1e-4)

        _, (s, t) = naive.best(weights, units, (given, None))
        found = predictor.predict(packed, mode.tag, np.array(given, np.int32), 1)
        assert tuple(found[0]) == given
        if config.edge:
            assert tuple(found[1]) == t


@pytest.mark.parametrize("edge", [True, False])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
def test_probabilities_are_those_of_scaled_scores(templates: str, edge: bool, scale: float) -> None:
    config, examples, weights = weighted(templates, 3, edge=edge)
    packer, naive = examples.packer, naive_twin(examples)
    model = TwoChainModel(
        config,
        packer.encoding.kinds,
        packer.templates,
        _native.compile_two_chain(examples.layout, weights, examples.keys, 0.0),
        scale,
    )
    predictor = TwoChainPredictor.of(model)
    for layer in SENTENCES[:3]:
        units, _ = numbers(packer, layer)
        paths = list(naive.paths(len(units), None, True))
        scores = np.array([float(naive.vector(units, path) @ weights) for path in paths])
        p = np.exp(scale * scores) / np.exp(scale * scores).sum()
        wanted = np.zeros((len(units), len(packer.encoding.labels)))
        for (letters, tags), share in zip(paths, p, strict=True):
            for t, (s, tag) in enumerate(zip(letters, tags or (), strict=True)):
                wanted[t, s * len(packer.encoding.kinds) + tag] += share
        (found,) = predictor.marginals([layer])
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        best = predictor.k_best(layer, 3)
        assert [each.score for each in best] == pytest.approx(sorted(scores)[:-4:-1], abs=1e-4)
        assert [each.probability for each in best] == pytest.approx(sorted(p)[:-4:-1], abs=1e-5)


@pytest.mark.parametrize(
    "settings", [{}, {"edge": False}, {"modes": ("joint",)}, {"modes": ("segment", "joint")}]
)
def test_learning_is_algorithm_1(templates: str, settings: dict) -> None:
    """Two passes over annotated, partly annotated and segmented sentences, against dense vectors."""
    config, examples, weights = weighted(templates, 5, **settings)
    naive = naive_twin(examples)
    modes = [_native.TwoChainMode[mode] for mode in config.modes]
    structure = _native.TwoChainStructure(examples.layout, examples.data, modes, 1.0, False)
    order = np.array([3, 0, 4, 1, 2, 0], np.int64)
    cap = 0.1
    w, total, rounds, losses = weights.astype(np.float64), np.zeros(len(weights)), 0, 0.0
    for example in [*order, *order]:
        units, gold = numbers(examples.packer, SENTENCES[example])
        for mode in config.modes:
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
    _, examples, weights = weighted(templates, 6)
    naive = naive_twin(examples)
    structure = _native.TwoChainStructure(
        examples.layout, examples.data, [_native.TwoChainMode.joint], 1.0, True
    )
    for example in (0, 1, 2):
        units, (s, t) = numbers(examples.packer, SENTENCES[example])

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
    _, examples, weights = weighted(templates, 7)
    packer, predictor = examples.packer, compiled(examples, weights)
    found = packer.encoding.segment(SENTENCES, is_given=False)
    packed = packer.pack(found.units, SENTENCES)
    given = letter_numbers(packer.encoding.scheme, found.sizes)
    for mode in _native.TwoChainMode:
        ours = predictor.predict(packed, mode, given if mode.name == "tag" else np.zeros(0, np.int32), 2)
        theirs = _native.label_two_chain(examples.layout, weights, examples.data, mode, 2)
        np.testing.assert_array_equal(ours[1], theirs[1])
        np.testing.assert_array_equal(ours[0], theirs[0])

"""Calibration of probabilities: the curve itself, and in coupled taggers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from duilian import AdaGrad, Analyzer, CoupledTagger, _native, demo
from duilian.errors import ConfigError
from duilian.models.base import confidence
from duilian.models.base.confidence import ConfidenceCurve
from duilian.models.coupled.config import CoupledPruning
from duilian.models.coupled.effort import Effort


def too_sure(words: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a model whose log odds are three times too large, and which words are right."""
    rng = np.random.default_rng(seed)
    true = rng.normal(2.0, 1.5, words)
    said = 1.0 / (1.0 + np.exp(-3.0 * true))
    return said, rng.random(words) < 1.0 / (1.0 + np.exp(-true))


def calibration_error(p: np.ndarray, is_right: np.ndarray) -> float:
    bins = np.minimum((p * 10).astype(int), 9)
    return float(sum(abs((p - is_right)[bins == k].sum()) for k in range(10)) / len(p))


def test_a_curve_makes_up_for_a_model_that_is_too_sure() -> None:
    curve = ConfidenceCurve.fitted(*too_sure(20_000))
    assert curve is not None
    p, is_right = too_sure(20_000, seed=2)
    assert calibration_error(p, is_right) > 0.05
    assert calibration_error(curve(p), is_right) < 0.01


def test_a_curve_never_falls() -> None:
    curve = ConfidenceCurve.fitted(*too_sure(2_000))
    assert curve is not None
    assert np.all(np.diff(curve(np.linspace(0.0, 1.0, 1001))) >= 0.0)


def test_words_that_are_equally_probable_share_a_bin() -> None:
    p = np.concatenate([np.full(600, 0.3), np.full(5_000, 1.0)])
    is_right = np.arange(len(p)) % 10 != 0  # of those at 1.0, nine in ten, wherever they are in the text
    curve = ConfidenceCurve.fitted(p, is_right)
    assert curve is not None
    assert len(curve.said) == 2
    assert curve(np.array([1.0])) == pytest.approx(0.9, abs=0.001)


def test_few_words_tell_nothing() -> None:
    assert ConfidenceCurve.fitted(*too_sure(confidence.MIN_WORDS - 1)) is None


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        [[0.0], []],
        [[], []],
        [[1.0, 0.0], [0.0, 1.0]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[0.0, float("nan")], [0.0, 1.0]],
        [["a"], ["b"]],
        [[float(k) for k in range(1000)], [0.0] * 1000],
    ],
)
def test_a_state_that_is_no_curve_is_refused(state: Any) -> None:
    with pytest.raises(ConfigError, match="confidence curve"):
        ConfidenceCurve.from_state(state)


@pytest.fixture(scope="module")
def tagger() -> CoupledTagger:
    corpora = [demo.load("ctb", "ctb"), demo.load("pku", "pku")]
    dev = [demo.load("ctb-dev", "ctb"), demo.load("pku-dev", "pku")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "MIN_WORDS", 50)
        tagger = CoupledTagger(("ctb", "pku"), level="char", learning=AdaGrad(iterations=2))
        return tagger.fit(corpora, dev=dev)


def test_a_coupled_tagger_learns_a_curve_for_each_standard(tagger: CoupledTagger) -> None:
    assert set(tagger.model_.confidence) == {"ctb", "pku"}
    highest = {name: max(curve.true) for name, curve in tagger.model_.confidence.items()}
    doc = Analyzer(tagger)("我们去北京大学。")
    for name, top in highest.items():
        assert all(0.0 < each.confidence <= 1.0 / (1.0 + np.exp(-top)) + 1e-6 for each in doc.tokens(name))


def test_curves_are_kept_when_a_model_is_trimmed_and_stored(tagger: CoupledTagger) -> None:
    curves = dict(tagger.model_.confidence)
    again = CoupledTagger.from_state(*tagger.trim(0.01).model_.state())
    assert again.model_.confidence == curves


def test_what_pruning_has_left_out_counts_as_wrong() -> None:
    """With a single candidate at each unit, the lattice alone would always be sure."""
    corpora = [demo.load("ctb", "ctb"), demo.load("pku", "pku")]
    pruning = CoupledPruning(max_candidates=1, bundle_gap=4.0)
    tagger = CoupledTagger(("ctb", "pku"), level="char", pruning=pruning, learning=AdaGrad(iterations=1))
    tagger.fit(corpora)
    assert not tagger.model_.confidence
    confidences = [each.confidence for each in Analyzer(tagger)("我们去北京大学图书馆看书。").tokens("pku")]
    assert min(confidences) < 0.999


def test_a_curve_is_straight_between_its_points_in_log_odds() -> None:
    curve = ConfidenceCurve((-2.0, 0.5, 3.0, 6.5), (-1.0, 0.25, 0.25, 4.0))
    p = np.concatenate([np.random.default_rng(5).random(500), [0.0, 1.0, 0.5, 1e-9, 1 - 1e-9]])
    p = p.astype(np.float32)
    clipped = np.clip(p.astype(np.float64), 1e-6, 1 - 1e-6)
    true = np.interp(np.log(clipped / (1 - clipped)), curve.said, curve.true)
    np.testing.assert_allclose(curve(p), 1 / (1 + np.exp(-true)), rtol=1e-6)


@pytest.mark.parametrize(
    "points", [((), ()), ((1.0,), ()), ((1.0, 1.0), (0.0, 1.0)), ((0.0, 1.0), (1.0, 0.0))]
)
def test_the_core_refuses_a_curve_that_does_not_rise(points: Any) -> None:
    with pytest.raises(ValueError, match="must rise"):
        _native.ConfidenceCurve(*points)


def test_as_a_part_a_tagger_is_as_sure_as_its_own_search_deserves() -> None:
    """A narrower search leaves out other labels, so its curves differ; they are fitted to that search."""
    dev = [demo.load("ctb-dev", "ctb"), None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "MIN_WORDS", 50)
        corpora = [demo.load("ctb", "ctb"), demo.load("pku", "pku")]
        pruning = CoupledPruning(kind="mixed", bundle_gap=4.0)
        made = CoupledTagger(("ctb", "pku"), level="char", pruning=pruning, learning=AdaGrad(iterations=2))
        made.fit(corpora, dev=dev)
        wide = dict(made.model_.confidence)
        narrow = CoupledTagger.from_state(*made.state(), effort=Effort(0.5)).fit_confidence(dev)
        again = CoupledTagger.from_state(*made.state()).fit_confidence(dev)
    assert set(narrow.model_.confidence) == {"ctb"}
    assert again.model_.confidence == wide
    assert narrow.model_.confidence != wide
    plain = CoupledTagger.from_state(*narrow.state(), effort=Effort(0.5))
    plain.use(dataclasses.replace(plain.model_, confidence={}))
    judged = plain.predictor_.judged([each["ctb"] for each in demo.load("ctb-dev", "ctb")], "ctb", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "MIN_WORDS", 50)
        assert narrow.model_.confidence["ctb"] == ConfidenceCurve.fitted(*judged)

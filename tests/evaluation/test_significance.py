"""Paired tests: against all swaps of a few sentences, for equal systems, by seed."""

from __future__ import annotations

import itertools

import naive_scores
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.errors import ConfigError
from duilian.evaluation import bootstrap, p_value
from duilian.evaluation import significance as module

METRICS = ("accuracy", "precision", "recall", "f1")


@st.composite
def two_systems(draw, sentences=7):
    """Counts [N, 3] of two systems on the same gold."""
    rows = []
    for _ in range(draw(st.integers(1, sentences))):
        gold = draw(st.integers(0, 5))
        guesses = [draw(st.integers(0, 5)) for _ in range(2)]
        rows.append([(gold, guess, draw(st.integers(0, min(gold, guess)))) for guess in guesses])
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def correct_of(right, size=10):
    return np.array([(size, size, count) for count in right])


def test_all_exchanges_by_hand():
    # a wins all three sentences by one: of eight swaps only two, of all and of none, are as extreme.
    a, b = correct_of([9, 9, 9]), correct_of([8, 8, 8])
    assert naive_scores.exact_p_value(a.tolist(), b.tolist(), "accuracy") == 0.25
    assert p_value(a, b, "accuracy", trials=20_000) == pytest.approx(0.25, abs=0.015)


@settings(max_examples=40, deadline=None)
@given(two_systems(), st.sampled_from(METRICS))
def test_p_is_the_share_of_all_exchanges(systems, metric):
    a, b = systems
    exact = naive_scores.exact_p_value(a.tolist(), b.tolist(), metric)
    # Six standard deviations of 4,000 trials, at the worst p of a half.
    assert p_value(a, b, metric, trials=4_000) == pytest.approx(exact, abs=0.05)


@given(two_systems(), st.sampled_from(METRICS))
@settings(max_examples=30, deadline=None)
def test_equal_systems_do_not_differ(systems, metric):
    assert p_value(systems[0], systems[0], metric, trials=50) == 1.0
    found = bootstrap(systems[0], systems[0], metric, trials=50)
    assert (found.difference, *found.interval()) == (0.0, 0.0, 0.0)


@given(two_systems(), st.sampled_from(METRICS))
@settings(max_examples=30, deadline=None)
def test_the_order_of_systems_does_not_matter_to_the_difference(systems, metric):
    a, b = systems
    there, back = (bootstrap(*pair, metric, trials=20).difference for pair in ((a, b), (b, a)))
    assert there == -back
    value = naive_scores.metric_value
    assert there == pytest.approx(value(a.tolist(), metric) - value(b.tolist(), metric))


def test_the_seed_decides():
    rng = np.random.default_rng(7)
    a, b = correct_of(rng.integers(0, 10, 60)), correct_of(rng.integers(0, 10, 60))
    assert p_value(a, b, "f1", seed=3) == p_value(a, b, "f1", seed=3)
    assert len({p_value(a, b, "f1", trials=500, seed=seed) for seed in range(5)}) > 1
    first, again, other = (bootstrap(a, b, "f1", trials=200, seed=seed).samples for seed in (3, 3, 4))
    assert (first == again).all()
    assert (first != other).any()


def test_small_batches_give_the_same_kind_of_answer(monkeypatch):
    a, b = correct_of([9, 8, 7, 9, 5, 6]), correct_of([8, 8, 5, 9, 6, 2])
    exact = naive_scores.exact_p_value(a.tolist(), b.tolist(), "accuracy")
    monkeypatch.setattr(module, "_MAX_DRAWS", 64)
    assert p_value(a, b, "accuracy", trials=5_000) == pytest.approx(exact, abs=0.04)
    assert len(bootstrap(a, b, "accuracy", trials=101).samples) == 101


def test_a_clear_winner_is_significant_and_p_is_never_zero():
    a, b = correct_of([9] * 50), correct_of([7] * 50)
    assert p_value(a, b, "accuracy", trials=999) == 1 / 1000


def test_bootstrap_equals_all_samples_of_two_sentences():
    a, b = correct_of([10, 6]), correct_of([5, 5])
    # The first drawn twice, each once, the second twice: differences 50, 30, 10, with shares 1/4, 1/2, 1/4.
    expected = [(x + y) / 2 for x, y in itertools.product([50, 10], repeat=2)]
    found = bootstrap(a, b, "accuracy", trials=20_000)
    assert found.difference == 30
    assert set(np.unique(found.samples).round(9).tolist()) == set(expected)
    for value in set(expected):
        share = np.mean(np.isclose(found.samples, value))
        assert share == pytest.approx(expected.count(value) / 4, abs=0.02)
    assert found.interval(90) == pytest.approx((10, 50))
    assert found.interval(20) == pytest.approx((30, 30))


def test_a_wider_level_has_a_wider_interval():
    rng = np.random.default_rng(7)
    found = bootstrap(correct_of(rng.integers(5, 10, 80)), correct_of(rng.integers(4, 10, 80)), "f1")
    low, high = found.interval(99)
    assert low < found.interval(80)[0] < found.difference < found.interval(80)[1] < high


@pytest.mark.parametrize(
    ("a", "b", "metric", "trials", "message"),
    [
        ([1], [1, 2], "f1", 10, r"got \[1, 3\] and \[2, 3\]"),
        ([], [], "f1", 10, r"counts must be \[sentences, 3\]"),
        ([1], [1], "F1", 10, "no metric 'F1', only accuracy, precision, recall, f1"),
        ([1], [1], "f1", 0, "at least one trial, got 0"),
    ],
)
def test_wrong_settings(a, b, metric, trials, message):
    for test in (p_value, bootstrap):
        with pytest.raises(ConfigError, match=message):
            test(correct_of(a).reshape(-1, 3), correct_of(b).reshape(-1, 3), metric, trials=trials)


def test_systems_must_share_their_gold():
    with pytest.raises(ConfigError, match="sentence 2: the two systems were scored against different gold"):
        p_value(np.array([[1, 1, 1], [2, 1, 1]]), np.array([[1, 1, 1], [1, 1, 1]]), "f1")


@pytest.mark.parametrize("level", [0, 100, -5, float("nan")])
def test_a_level_is_a_percentage(level):
    found = bootstrap(correct_of([1]), correct_of([1]), "f1", trials=1)
    with pytest.raises(ConfigError, match="between 0 and 100"):
        found.interval(level)

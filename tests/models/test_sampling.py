"""Which sentences an iteration sees."""

from __future__ import annotations

import numpy as np
import pytest

from duilian.errors import ConfigError
from duilian.models.coupled.sampling import draw, size, weighted
from models.coupled_corpora import TINY, quick

IDS = np.arange(10, 20, dtype=np.int64)


def drawn(weights: list[float] | None, count: int) -> np.ndarray:
    return draw(np.random.default_rng(1), [weighted(IDS, weights)], [count])


def test_without_weights_all_are_drawn_alike() -> None:
    assert sorted(drawn(None, 10)) == IDS.tolist()
    assert sorted(drawn(None, 20)) == sorted([*IDS, *IDS])
    assert len(set(drawn(None, 4))) == 4


def test_a_weight_says_how_often_sentences_are_drawn() -> None:
    weights = [0.5] * 4 + [2.0] * 6
    found = drawn(weights, 14)
    assert np.isin(found, IDS[:4]).sum() == 2
    assert sorted(found[found >= 14]) == sorted([*IDS[4:], *IDS[4:]])
    assert size(weighted(IDS, weights)) == 14
    assert size(weighted(IDS, None)) == 10
    assert size(weighted(IDS[:1], [0.001])) == 1


def test_every_count_is_met() -> None:
    for count in range(1, 30):
        assert len(drawn([0.3] * 3 + [1.0] * 3 + [7.0] * 4, count)) == count


@pytest.mark.parametrize("weights", [[1.0], [0.0] * 10, [-1.0] * 10, [float("nan")] * 10, [1e9] * 10])
def test_wrong_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match="weight"):
        weighted(IDS, weights)


def test_a_tagger_takes_weights() -> None:
    corpora, _ = TINY
    same = [[2.0] * len(corpora[0]), None]
    heavy = [[1.0] * 10 + [9.0] * 20, None]
    plain, alike, other = (quick().fit(corpora, weights=weights) for weights in (None, same, heavy))
    states = [tagger.model_.state()[1] for tagger in (plain, alike, other)]
    is_same = [all(np.array_equal(states[0][k], each[k]) for k in states[0]) for each in states]
    assert is_same == [True, True, False]  # the smaller side says how many are drawn of both
    with pytest.raises(ConfigError, match="2 weights for 30 sentences"):
        quick().fit(corpora, weights=[[1.0, 1.0], None])
    with pytest.raises(ConfigError, match="1 lists of weights for 2 standards"):
        quick().fit(corpora, weights=[None])

"""Weights in fewer bits: how far they are from the original ones."""

from __future__ import annotations

import numpy as np
import pytest

from duilian.errors import ConfigError
from duilian.models.base.precision import STEP, coarse_codebook, codebook, dequantise, quantise

RANDOM = np.random.default_rng(1)
KINDS = {
    "peaked with long tails": RANDOM.standard_t(2, 20_000),
    "even": RANDOM.uniform(-1, 1, 20_000),
    "with a gap": np.concatenate([RANDOM.normal(-3, 0.1, 5_000), RANDOM.normal(2, 0.3, 5_000)]),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_codebook_is_finer_than_equal_steps(kind: str) -> None:
    weights = KINDS[kind].astype(np.float32)
    found = dequantise(quantise(weights, "int8"))
    step = (weights.max() - weights.min()) / 255
    equal = np.rint(weights / step) * step
    error, coarse = (np.sqrt(np.mean((each - weights) ** 2)) for each in (found, equal))
    assert error < 1.02 * coarse
    if kind == "peaked with long tails":
        assert error < 0.12 * coarse


def test_each_weight_becomes_the_nearest_value() -> None:
    weights = KINDS["with a gap"].astype(np.float32)
    kept = quantise(weights, "int8")
    assert kept["weight"].dtype == np.uint8
    nearest = np.abs(weights[:, None] - kept["code"][None, :]).min(axis=1)
    assert np.abs(dequantise(kept) - weights) == pytest.approx(nearest, abs=1e-6)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_coarse_steps_are_even_for_small_weights_and_grow(kind: str) -> None:
    weights = KINDS[kind].astype(np.float32)
    kept = quantise(weights, "int4")
    assert np.diff(np.unique(kept["code"])).min() > 0
    assert len(np.unique(kept["weight"])) < 256
    step = STEP * weights.std()
    error = np.abs(dequantise(kept) - weights)
    assert (error <= 1.01 * np.hypot(step, weights / 8)).all()
    # Near 0 the error is that of even steps, step / √12.
    near = np.abs(weights) < 4 * step
    if near.sum() > 1000:
        assert np.sqrt(np.mean(error[near] ** 2)) < 1.1 * step / np.sqrt(12)


def test_the_entropy_of_coarse_weights_is_four_bits_or_little_more() -> None:
    for kind in KINDS.values():
        count = np.bincount(quantise(kind.astype(np.float32), "int4")["weight"])
        share = count[count > 0] / count.sum()
        assert 2.5 < -(share * np.log2(share)).sum() < 5.5


def test_coarse_codes_of_few_weights() -> None:
    for few in ([], [0.25], [-0.5, -0.5], [1.0, 3.0]):
        found = dequantise(quantise(np.array(few, np.float32), "int4"))
        assert found.tolist() == few
    assert len(coarse_codebook(np.array([2.0], np.float32), STEP)) == 256


def test_few_different_weights_stay_as_they_are() -> None:
    weights = np.repeat(RANDOM.normal(size=40), 3).astype(np.float32)
    assert dequantise(quantise(weights, "int8")) == pytest.approx(weights, abs=1e-6)
    for few in ([], [0.25], [-0.5, -0.5]):
        found = dequantise(quantise(np.array(few, np.float32), "int8"))
        assert found.tolist() == few


def test_a_codebook_rises() -> None:
    code = codebook(KINDS["even"].astype(np.float32))
    assert len(code) == 256
    assert (np.diff(code) >= 0).all()


def test_a_codebook_of_another_size_is_refused() -> None:
    kept = quantise(np.ones(3, np.float32), "int8")
    for bad in (
        {"code": kept["code"][:-1]},
        {"code": kept["code"][None, :]},
        {"weight": kept["weight"].astype(np.int8)},
    ):
        with pytest.raises(ConfigError, match=r"256|one-dimensional"):
            dequantise(kept | bad)

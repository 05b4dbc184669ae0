"""Weights in fewer bits, for smaller model files; a loaded model has single precision again.

`int8` stores a byte per weight: its place in a codebook of 256 values, which lie densely where there are many
weights. With values in equal steps, most would be spent on the few large weights.

`int4` has fewer values, in steps that are equal for small weights and grow with large ones. A file stores
frequent places in fewer bits (`duilian.modelfile`), so that a weight takes four or a little more; then equal
steps lose less than values that lie densely (Gish and Pierce 1968).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.models.base.table_codec import typed

Precision = Literal["float32", "float16", "int8", "int4"]

CODES = 256
ROUNDS = 30
STEP = 0.1  # of int4, in standard deviations
EVEN_STEPS = 16.0  # from about here on, they grow
MAX_WEIGHT = 1e12


def quantise(
    weights: npt.NDArray[np.float32], precision: Precision, step: float = STEP
) -> dict[str, npt.NDArray[Any]]:
    """Arrays for a model file: the weights, in single or half precision, or a codebook and places in it.

    `step` is that of `int4`.
    """
    if precision in ("int8", "int4"):
        code = codebook(weights) if precision == "int8" else coarse_codebook(weights, step)
        return {"weight": _places(weights, code).astype(np.uint8), "code": code}
    if precision not in ("float32", "float16"):
        known = "'float32', 'float16', 'int8' or 'int4'"
        raise ConfigError(f"precision must be {known}, got {precision!r}")
    return {"weight": weights.astype(precision)}


def dequantise(arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
    """Restore weights in single precision."""
    if "code" in arrays:
        return _native.look_up(*codebook_of(arrays))
    return weights_of(arrays, "weight")


def codebook_of(
    arrays: Mapping[str, npt.NDArray[Any]],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """The codebook, and the places of weights in it."""
    code, places = weights_of(arrays, "code"), typed(arrays, "weight", np.uint8)
    if len(code) != CODES:
        raise ConfigError(f"a codebook must have {CODES} values, got {len(code)}")
    return code, places


def weights_of(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> npt.NDArray[np.float32]:
    """An array of weights, checked to be so small that no sum overflows."""
    weights = typed(arrays, name, np.float32, np.float16).astype(np.float32)
    if not (np.abs(weights) <= MAX_WEIGHT).all():  # false for NaN, too
        raise ConfigError(f"a weight in {name!r} is not a number of at most {MAX_WEIGHT:g}")
    return weights


def codebook(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """256 ascending values that represent the weights with a small squared error (Lloyd's method).

    The density of the initial values is the cube root of that of the weights, which is best for many fine
    steps (Panter and Dite 1951). Then each value is moved to the mean of its weights, repeatedly.
    """
    ordered = np.sort(weights.astype(np.float64))
    distinct = ordered[np.diff(ordered, prepend=-np.inf) > 0]
    if len(distinct) <= CODES:
        last = distinct[-1] if len(distinct) else 0.0
        return np.pad(distinct, (0, CODES - len(distinct)), constant_values=last).astype(np.float32)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    code = _first_values(ordered)
    for _ in range(ROUNDS):
        ends = np.searchsorted(ordered, (code[1:] + code[:-1]) / 2)
        ends = np.concatenate([[0], ends, [len(ordered)]])
        counts = np.diff(ends)
        means = np.diff(sums[ends]) / np.maximum(counts, 1)
        code = np.sort(np.where(counts > 0, means, code))
    return code.astype(np.float32)


def coarse_codebook(weights: npt.NDArray[np.float32], step: float) -> npt.NDArray[np.float32]:
    """Ascending values for `int4`: the means of the weights in each step; the last one is repeated."""
    exact, even = weights.astype(np.float64), EVEN_STEPS
    step *= float(exact.std()) if len(exact) else 0.0
    number = np.zeros(len(exact), np.int64)
    while step > 0:
        found, number = np.unique(np.rint(even * np.arcsinh(exact / (even * step))), return_inverse=True)
        if len(found) < CODES:  # a free one is for weights of 0 (native/…/tree/coded_weights.hpp)
            break
        even *= 0.8
    counts = np.bincount(number, minlength=1)
    code = np.bincount(number, exact, minlength=1) / np.maximum(counts, 1)
    return np.pad(code, (0, CODES - len(code)), mode="edge").astype(np.float32)


def _first_values(ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    # Between two neighbouring quantiles the density is 1 / width, and values are due in the proportion
    # width · density^(1/3) = width^(2/3).
    quantiles = ordered[np.linspace(0, len(ordered) - 1, 16 * CODES).astype(np.int64)]
    due = np.concatenate([[0.0], np.cumsum(np.diff(quantiles) ** (2 / 3))])
    return np.interp(np.linspace(0.0, due[-1], CODES), due, quantiles)


def _places(weights: npt.NDArray[np.float32], code: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
    """The place of the nearest value, for each weight."""
    return np.searchsorted((code[1:] + code[:-1]) / 2, weights)

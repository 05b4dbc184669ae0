"""Weights in fewer bits, for smaller model files; they are single precision again when a model is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from duilian.errors import ConfigError

Precision = Literal["float32", "float16", "int8"]


def quantise(weights: npt.NDArray[np.float32], precision: Precision) -> dict[str, npt.NDArray[Any]]:
    """Half precision, or 8 bits of a common scale, as arrays of a model file."""
    if precision == "int8":
        scale = np.float32(max(float(np.abs(weights).max(initial=0.0)), 1e-6) / 127.0)
        return {"weight": np.rint(weights / scale).astype(np.int8), "scale": np.array([scale], np.float32)}
    if precision not in ("float32", "float16"):
        raise ConfigError(f"precision must be 'float32', 'float16' or 'int8', got {precision!r}")
    return {"weight": weights.astype(precision)}


def dequantise(arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
    """The weights again, in single precision."""
    weights = arrays["weight"].astype(np.float32)
    return weights * arrays["scale"][0] if "scale" in arrays else weights

"""The compiled weights of a plain tagger as arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from duilian import _native
from duilian.models.base.precision import Precision, dequantise, quantise, weights_of
from duilian.models.base.table_codec import Arrays, decode_table, encode_table


def keep_compiled(weights: _native.CompiledWeights, precision: Precision) -> Arrays:
    """What a file keeps of them."""
    packed = encode_table(weights.slot, weights.label)
    kept = quantise(weights.weight[packed.entries], precision)
    return packed.arrays | {"transition": weights.transition} | kept


def compiled_of(arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> _native.CompiledWeights:
    """The weights again; `prefix` begins the names of their arrays."""
    parts = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    return _native.CompiledWeights(*decode_table(parts), dequantise(parts), weights_of(parts, "transition"))

"""The compiled weights of a plain tagger as arrays of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from duilian import _native
from duilian.models.base.precision import Precision, codebook_of, dequantise, quantise, weights_of
from duilian.models.base.table_codec import Arrays, below, decode_table, encode_table, stored_arrays


def keep_compiled(weights: _native.CompiledWeights, precision: Precision) -> Arrays:
    """The weights as arrays of a file."""
    packed = encode_table(weights.slot, weights.label)
    kept = quantise(weights.weight[packed.entries], precision)
    return packed.arrays | {"transition": weights.transition} | kept


def stored_table(
    table: Mapping[str, npt.NDArray[Any]], weights: Mapping[str, npt.NDArray[Any]]
) -> _native.WeightTable | None:
    """The table with weights of one byte, made in one step; None if the file has other arrays."""
    if "label" in table or "code" not in weights:
        return None
    whole = (*stored_arrays(table), *codebook_of(weights))
    return _native.WeightTable.unpack(*whole)


def compiled_of(arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> _native.CompiledWeights:
    """Restore the weights; `prefix` begins the names of their arrays."""
    parts = below(arrays, prefix)
    if (table := stored_table(parts, parts)) is not None:
        return table.with_transitions(weights_of(parts, "transition"))
    return _native.CompiledWeights(*decode_table(parts), dequantise(parts), weights_of(parts, "transition"))

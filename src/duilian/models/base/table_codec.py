"""Tables of compiled weights as a model file stores them.

In memory, a table is made for lookups: a slot has check bits of a key and the place of the feature's first
entry, and a third of the slots are free. A file has the check bits in the order of the slots, one bit per
slot for whether it is used, and the entries in the same order, so their places need not be stored. Labels
are stored as steps from one to the next, which are small and so take few bits. Several sets of weights for
the same entries share one table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError

Arrays = dict[str, npt.NDArray[Any]]

NO_SLOT = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST_ENTRY = np.uint16(0x8000)
CHECK_SHIFT = np.uint64(32)
ENTRY_MASK = np.uint64(0xFFFFFFFF)
LEAST_SLOTS, MAX_ROOM = 16, 4  # minimum number of slots; maximum per feature


class EncodedTable(NamedTuple):
    """The arrays of a table in a file, and the entry of the table at each place in them."""

    arrays: Arrays
    entries: npt.NDArray[np.int64]


def encode_table(slot: npt.NDArray[np.uint64], label: npt.NDArray[np.uint16]) -> EncodedTable:
    """Encode a table for a file; weights must be put into the order of `entries`."""
    is_used = slot != NO_SLOT
    used = slot[is_used]
    begins = (used & ENTRY_MASK).astype(np.int64)
    ends = np.flatnonzero(label & LAST_ENTRY) + 1
    sizes = ends[np.searchsorted(ends, begins, side="right")] - begins if len(begins) else begins
    shift = begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(begins) else begins
    entries = np.arange(int(sizes.sum())) + np.repeat(shift, sizes)
    labels = label[entries] & ~LAST_ENTRY
    is_first = np.zeros(len(labels), np.bool_)
    is_first[np.cumsum(sizes) - sizes] = True
    arrays: Arrays = {
        "check": (used >> CHECK_SHIFT).astype(np.uint32),
        "used": np.packbits(is_used),
        "slots": np.array([len(slot)], np.int64),
        "size": sizes.astype(np.uint16),
        "first": labels[is_first],
        "step": ((labels - np.roll(labels, 1) - np.uint16(1)) & ~LAST_ENTRY)[~is_first],
    }
    return EncodedTable(arrays, entries)


def decode_table(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[Any, Any]:
    """Restore the slots and labels of a table; its entries are in the order of the file."""
    if "label" not in arrays:
        return _native.unpack_table(*stored_arrays(arrays))
    # Labels as earlier versions stored them, with a mark at the last one of each feature.
    label, check = typed(arrays, "label", np.uint16), typed(arrays, "check", np.uint32)
    slots, used = int(typed(arrays, "slots", np.int64)[0]), typed(arrays, "used", np.uint8)
    if slots > LEAST_SLOTS + MAX_ROOM * len(check):  # each bit in the file becomes 8 bytes in memory
        raise ConfigError(f"a table has {slots:,} slots for {len(check):,} features")
    if len(used) != -(-slots // 8):
        raise ConfigError("the slots of a table do not fit its size")
    is_used = np.unpackbits(used).view(np.bool_)
    begins = np.concatenate([[0], np.flatnonzero(label >= LAST_ENTRY) + 1])[:-1].astype(np.uint64)
    if is_used[slots:].any():
        raise ConfigError("the slots of a table do not fit its size")
    if int(is_used.sum()) != len(check) or len(check) != len(begins):
        raise ConfigError(f"a table has {len(check)} features and entries for {len(begins)}")
    slot = np.full(slots, NO_SLOT)
    slot[is_used[:slots]] = (check.astype(np.uint64) << CHECK_SHIFT) | begins
    return slot, label


def stored_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[Any, ...]:
    """The number of slots and the arrays of a table, for the native core."""
    slots = int(typed(arrays, "slots", np.int64)[0])
    numbers = (typed(arrays, name, np.uint16) for name in ("size", "first", "step"))
    return slots, typed(arrays, "used", np.uint8), typed(arrays, "check", np.uint32), *numbers


def typed(arrays: Mapping[str, npt.NDArray[Any]], name: str, *dtypes: npt.DTypeLike) -> npt.NDArray[Any]:
    """A one-dimensional array of one of these types."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype not in dtypes:
        wanted = " or ".join(str(np.dtype(each)) for each in dtypes)
        raise ConfigError(
            f"the array {name!r} must be one-dimensional {wanted}, got {array.dtype} {array.shape}"
        )
    return array


def below(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> Arrays:
    """The arrays with names that begin with `prefix`, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

"""A column of texts, read from Arrow's own buffers."""

from __future__ import annotations

import functools
from collections.abc import Container
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.scale.arrow import pa

Ints = npt.NDArray[np.int64]


class TextColumn:
    """The texts of an Arrow array of strings, read in place.

    All layouts of strings are supported: plain, large, views, and dictionaries of them.
    """

    def __init__(self, array: Any) -> None:
        plain = _plain(array)
        self.array = plain
        _, offsets, data = plain.buffers()
        width = np.int64 if pa.types.is_large_string(plain.type) else np.int32
        rows, at = len(plain), plain.offset
        own = np.zeros(1, width) if offsets is None else np.frombuffer(offsets, width)
        self.offsets: Ints = own[at : at + rows + 1].astype(np.int64)
        self.data = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        if not len(self.offsets):
            self.offsets = np.zeros(1, np.int64)
        self.is_null: npt.NDArray[np.bool_] = plain.is_null().to_numpy(zero_copy_only=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @functools.cached_property
    def characters(self) -> Ints:
        """The number of characters of each text; 0 for null, -1 if it is not UTF-8."""
        found: Ints = _native.count_characters(self.data, self.offsets)
        found[self.is_null] = 0
        return found

    def texts(self, rows: slice, wrong: Container[int]) -> list[str]:
        """Return the texts of some rows, except the wrong ones."""
        view, edges = self.data.data, self.offsets[rows.start : rows.stop + 1].tolist()
        places = zip(range(rows.start, rows.stop), edges, edges[1:], strict=False)
        return [str(view[a:b], "utf-8") for row, a, b in places if row not in wrong]

    def words(self, rows: slice, start: Any, end: Any, first: Ints) -> Any:
        """Return the words of some rows as an array of strings; row k has words first[k] to first[k + 1]."""
        offsets = self.offsets[rows.start : rows.stop + 1]
        places, data = _native.cut_words(self.data, offsets, start, end, first)
        return pa.StringArray.from_buffers(len(start), pa.py_buffer(places), pa.py_buffer(data))


def _plain(array: Any) -> Any:
    """The array as one chunk with offsets and bytes."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # older versions keep chunks that are too large for one array
        array = array.cast(pa.large_string()).combine_chunks()
    kind, types = array.type, pa.types
    if types.is_string(kind) or types.is_large_string(kind):
        return array
    is_words = types.is_dictionary(kind) and types.is_string(kind.value_type)
    if is_words or types.is_null(kind) or str(kind) == "string_view":
        return array.cast(pa.large_string())
    raise ConfigError(f"the texts must be strings, got {kind}", "name another column, or cast this one")

"""Writes record batches as Parquet, or as JSON lines made without a Python object per word."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, Protocol

import numpy as np

from duilian.scale.arrow import pa

OutputFormat = Literal["parquet", "jsonl"]
GROUP_BYTES = 2**25  # approximate size of a row group in Parquet
WORDS = 100_000  # converted to JSON at a time
NUMBERS = {"INT32": "DELTA_BINARY_PACKED", "FLOAT": "PLAIN"}  # encodings of the numbers of words in Parquet


class PartWriter(Protocol):
    """Writes record batches to an open file."""

    def write(self, batch: Any) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write the rest; the file stays open."""

    def drop(self) -> None:
        """Write nothing more: the file is given up."""


class ParquetPart:
    """A Parquet file; small batches share a row group."""

    def __init__(self, file: BinaryIO, schema: Any) -> None:
        from pyarrow import parquet

        self._schema = schema
        self._writer = parquet.ParquetWriter(file, schema, compression="zstd", **_encodings(schema))
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(self, batch: Any) -> None:
        self._waiting.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()

    def drop(self) -> None:
        self._writer.is_open = False  # or its destructor would write the end to a closed file

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting, self._bytes = [], 0
        self._writer.write_table(table, row_group_size=max(len(table), 1))


def _encodings(schema: Any) -> dict[str, Any]:
    """How to store the columns of a schema: numbers of words as differences, everything else by dictionary.

    Offsets of words keep growing, so a dictionary of them would be larger than the offsets themselves, a
    gigabyte for one huge document; their differences are small.
    """
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(schema.empty_table(), file)
    stored = parquet.ParquetFile(file).schema
    leaves = [stored.column(k) for k in range(len(stored))]
    words = tuple(f"{field.name}.list.element." for field in schema if _is_words(field.type))
    numbers = {
        each.path: NUMBERS[each.physical_type]
        for each in leaves
        if each.physical_type in NUMBERS and each.path.startswith(words)
    }
    others = [each.path for each in leaves if each.path not in numbers]
    return {"use_dictionary": others, "column_encoding": numbers}


class JsonLinesPart:
    """JSON lines, one object per row; null lists and errors are left out."""

    def __init__(self, file: BinaryIO, schema: Any) -> None:
        self._file = file
        self._lists = [field.name for field in schema if _is_words(field.type)]
        self._others = [field.name for field in schema if not _is_words(field.type)]

    def write(self, batch: Any) -> None:
        plain = batch.select(self._others).to_pylist()
        words = {name: _WordLists(batch.column(name)) for name in self._lists}
        for row, values in enumerate(plain):
            error = values.pop("error", None)
            self._file.write(_dumps(values)[:-1].encode())
            is_first = not values
            for name, lists in words.items():
                if lists.is_null(row):
                    continue
                self._file.write(f"{'' if is_first else ', '}{_dumps(name)}: [".encode())
                for piece in lists.pieces(row):
                    self._file.write(piece)
                self._file.write(b"]")
                is_first = False
            if error is not None:
                self._file.write(f'{"" if is_first else ", "}"error": {_dumps(error)}'.encode())
            self._file.write(b"}\n")

    def close(self) -> None:
        pass

    def drop(self) -> None:
        pass


def part_writer(format: OutputFormat, file: BinaryIO, schema: Any) -> PartWriter:
    return ParquetPart(file, schema) if format == "parquet" else JsonLinesPart(file, schema)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_words(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) and pa.types.is_struct(kind.value_type))


class _WordLists:
    """Lists of words as JSON, made for many words at once by Arrow's functions."""

    def __init__(self, array: Any) -> None:
        self._is_null = array.is_null().to_numpy(zero_copy_only=False)
        self._offsets = array.offsets.to_numpy()
        self._words, self._from, self._bytes = array.values, 0, b""
        self._places = np.zeros(1, np.int32)

    def is_null(self, row: int) -> bool:
        return bool(self._is_null[row])

    def pieces(self, row: int) -> Iterator[bytes]:
        """Yield the words of a row, separated by commas."""
        at, end = int(self._offsets[row]), int(self._offsets[row + 1])
        while at < end:
            if at >= self._from + len(self._places) - 1 or at < self._from:
                self._make(at)
            stop = min(end, self._from + len(self._places) - 1)
            a, b = self._places[at - self._from], self._places[stop - self._from]
            yield self._bytes[a : b - (2 if stop == end else 0)]
            at = stop

    def _make(self, first: int) -> None:
        """Make the JSON of the next words, each followed by a comma and a space."""
        from pyarrow import compute

        words, parts = self._words.slice(first, WORDS), []
        for k, field in enumerate(words.type):
            parts.append(f'{"{" if k == 0 else ", "}"{field.name}": ')
            parts.append(_json_values(words.field(k).slice(0, len(words)), field.type, compute))
        made = compute.binary_join_element_wise(
            *parts, "}, ", "", null_handling="replace", null_replacement="null"
        )
        self._from = first
        self._places = np.frombuffer(made.buffers()[1], np.int32)[made.offset : made.offset + len(made) + 1]
        self._bytes = b"" if made.buffers()[2] is None else made.buffers()[2].to_pybytes()


def _json_values(values: Any, kind: Any, compute: Any) -> Any:
    if not pa.types.is_string(kind):
        return values.cast(pa.string())
    if compute.any(compute.match_substring_regex(values, "[\\x00-\\x1f]")).as_py():  # rare
        return pa.array([None if each is None else _dumps(each) for each in values.to_pylist()], pa.string())
    for sign in ("\\", '"'):
        values = compute.replace_substring(values, sign, "\\" + sign)
    return compute.binary_join_element_wise('"', values, '"', "")

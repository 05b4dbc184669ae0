"""Reads parts as record batches, a few rows at a time: a part may be larger than memory.

A row that cannot be read (not JSON, not UTF-8, too few fields) is still a row, and its error goes with it.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from duilian.errors import ConfigError
from duilian.scale.arrow import pa
from duilian.scale.input_parts import Part
from duilian.text import check_text

ROWS = 1024  # of a batch, at most
BYTES = 2**22  # approximate size of a full batch


class ReadBatch(NamedTuple):
    """Some rows of a part, their errors, and the share of the part that has been read, 0 to 1."""

    rows: Any
    errors: dict[int, str]
    share: float


def read_part(part: Part, text: str) -> Iterator[ReadBatch]:
    """Yield the rows of a part, in order; `text` names the column of texts."""
    try:
        yield from _READERS[part.format](part, text)
    except (pa.ArrowException, csv.Error, EOFError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{part.path}: cannot be read: {reason}", "is the file complete?") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ConfigError(f"{part.path}: cannot be read: {error}", "is the file complete?") from None


def part_columns(part: Part, text: str) -> Any:
    """Return the schema of a part."""
    first = next(read_part(part, text), None)
    return pa.schema([(text, pa.string())]) if first is None else first.rows.schema


def _read_parquet(part: Part, text: str) -> Iterator[ReadBatch]:
    from pyarrow import parquet

    with parquet.ParquetFile(part.path) as file:
        total, done = max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(batch_size=ROWS):
            done += len(batch)
            yield ReadBatch(batch, {}, done / total)


def _read_text(part: Part, text: str) -> Iterator[ReadBatch]:
    """Each line is a text; `line` is its number, counted from 1."""
    schema = pa.schema([("line", pa.int64()), (text, pa.string())])
    with _Lines(part) as lines:
        number = 0
        for batch in lines.batches():
            errors: dict[int, str] = {}
            texts = [_decoded(line, row, errors) for row, line in enumerate(batch)]
            numbers = range(number + 1, number + len(batch) + 1)
            number += len(batch)
            rows = pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64()), pa.array(texts)], schema=schema)
            yield ReadBatch(rows, errors, lines.share)


def _read_jsonl(part: Part, text: str) -> Iterator[ReadBatch]:
    """Each line is an object; the first lines determine the columns and their types."""
    schema = None
    with _Lines(part) as lines:
        number = 0
        for batch in lines.batches():
            errors: dict[int, str] = {}
            rows = [_parsed(line, number + row + 1, row, errors) for row, line in enumerate(batch)]
            for row, values in enumerate(rows):
                _check_text(values, text, row, errors)
            try:
                if schema is None:
                    schema = _schema_of(rows, text)
                columns = [pa.array([each.get(field.name) for each in rows], field.type) for field in schema]
            except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError) as error:
                where = f"{part.path}: lines {number + 1} to {number + len(rows)}"
                hint = f"keep fewer columns, as in --columns {text}"
                raise ConfigError(f"{where}: the values of a column differ in type: {error}", hint) from None
            number += len(batch)
            yield ReadBatch(pa.RecordBatch.from_arrays(columns, schema=schema), errors, lines.share)


def _schema_of(rows: list[dict[str, Any]], text: str) -> Any:
    names = dict.fromkeys(itertools.chain.from_iterable(rows))
    types = {name: pa.array([each.get(name) for each in rows]).type for name in names if name != text}
    fields = [(name, pa.string() if name == text else types[name]) for name in names]
    # A column that is null in the first rows may have any type later.
    return pa.schema([(name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in fields])


def _parsed(line: bytes, number: int, row: int, errors: dict[int, str]) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        errors[row] = f"line {number} is not JSON: {error}"
        return {}
    if not isinstance(found, dict):
        errors[row] = f"line {number} is not a JSON object"
        return {}
    return found


def _check_text(values: dict[str, Any], text: str, row: int, errors: dict[int, str]) -> None:
    """Check that the text is a string, and that no field has lone surrogates, which Arrow cannot hold."""
    found = values.get(text)
    if found is not None and not isinstance(found, str):
        errors[row] = f"the text is not a string but {json.dumps(found)[:40]}"
        values[text] = None
    for name, value in values.items():
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                values[name] = check_text(value, "replace")
                errors.setdefault(row, f"character {error.start} of {name!r} is a lone surrogate")


def _read_csv(part: Part, text: str) -> Iterator[ReadBatch]:
    """The first line names the columns; all of them are strings."""
    csv.field_size_limit(sys.maxsize)  # a text may have any length
    with _Lines(part) as lines:
        wrapper = io.TextIOWrapper(lines.stream, "utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(wrapper, delimiter=part.separator)
        names = next(reader, [text])
        schema = pa.schema([(name, pa.string()) for name in names])
        if len(set(names)) < len(names):
            raise ConfigError(f"{part.path}: two columns have the same name: {', '.join(names)}")
        for batch in _filled(reader, lambda row: sum(map(len, row))):
            errors: dict[int, str] = {}
            rows = [_fields(each, names, row, errors) for row, each in enumerate(batch)]
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            yield ReadBatch(pa.RecordBatch.from_arrays(columns, schema=schema), errors, lines.share)


def _fields(values: list[str], names: list[str], row: int, errors: dict[int, str]) -> list[str | None]:
    if len(values) != len(names):
        errors[row] = f"the number of fields is {len(values)}, not {len(names)}"
    found: list[str | None] = [*values[: len(names)], *[None] * (len(names) - len(values))]
    for k, value in enumerate(found):
        if value is not None and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                found[k] = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                errors.setdefault(row, f"{names[k]!r} is not valid UTF-8")
    return found


def _decoded(line: bytes, row: int, errors: dict[int, str]) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        errors[row] = f"byte {error.start} of the line is not UTF-8"
        return line.decode(errors="replace")


class _Lines:
    def __init__(self, part: Part) -> None:
        self._file = open(part.path, "rb")  # noqa: SIM115
        self._size = max(os.fstat(self._file.fileno()).st_size, 1)
        self.stream: Any = self._file
        if part.compression is not None:
            self.stream = io.BufferedReader(pa.CompressedInputStream(self._file, part.compression), 2**16)

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def share(self) -> float:
        return min(self._file.tell() / self._size, 1.0)

    def batches(self) -> Iterator[list[bytes]]:
        """Yield the lines, without their ends."""
        yield from _filled((line.rstrip(b"\r\n") for line in self.stream), len)


def _filled(items: Iterable[Any], size: Any) -> Iterator[list[Any]]:
    """Yield batches limited by rows and bytes."""
    batch, total = [], 0
    for item in items:
        batch.append(item)
        total += size(item)
        if len(batch) >= ROWS or total >= BYTES:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


_READERS = {"parquet": _read_parquet, "jsonl": _read_jsonl, "csv": _read_csv, "text": _read_text}

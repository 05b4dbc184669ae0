"""Reading and writing model files: a JSON header and arrays in one file. Data, never code.

    DUILIAN, version | file size, header size | header | arrays, each at a multiple of 64 | checksum

`docs/modelfile.md` has the details. A model has exactly one encoding: equal models are equal bytes, and the
reader rejects anything that the writer would not have written, but for a worse coding of an array. Files are
untrusted: everything is checked before use, in Python's unbounded integers.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import MissingFileError, ModelFileError

try:  # the same function, but hashlib loads the whole of OpenSSL
    from _blake2 import blake2b
except ImportError:  # not CPython
    from hashlib import blake2b

Array = npt.NDArray[Any]

MAGIC = b"DUILIAN"
VERSION = 2  # 1 has no coded arrays, and is still written for models without any
PRELUDE = struct.Struct("<7sBQQ")  # magic, version, size of the file, size of the header
DIGEST_SIZE = 32
ALIGNMENT = 64
MAX_HEADER = 4 * 2**20
MAX_VALUES = 2**18  # in the header: each becomes a Python object
MAX_DIMENSIONS = 4
MAX_DEPTH = 64
CHUNK = 2**20
LEAST_CODED = 4096  # bytes; smaller arrays stay as they are
WORTHWHILE = 0.95  # of an array's size: it is coded if that takes less
MAX_EXPANSION = 32
DTYPES = frozenset(["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"])


class ArrayPlace(NamedTuple):
    """The type of an array and its offset, counted from the first multiple of 64 after the header.

    `coded` is the number of bytes of its code in the file; 0 if it is stored as it is.
    """

    dtype: str
    shape: tuple[int, ...]
    offset: int
    coded: int = 0

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    @property
    def end(self) -> int:
        return self.offset + (self.coded or self.size)

    def row(self) -> dict[str, Any]:
        """The place as the header has it."""
        found = self._asdict()
        if not self.coded:
            del found["coded"]
        return found


def write_model(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write or replace a model; after any failure, even a power cut, `path` is unchanged or complete.

    The header is plain JSON: string keys, finite numbers, tuples become lists. Equal arguments give equal
    bytes. Raises TypeError or ValueError for anything that a model file cannot hold.

    >>> write_model("a.model", {"kind": "mine"}, {"weights": np.zeros(3)})
    """
    stored = {name: _as_stored(name, array) for name, array in sorted(arrays.items())}
    places, contents = _lay_out(stored)
    table = {name: place.row() for name, place in places.items()}
    version = VERSION if any(place.coded for place in places.values()) else 1
    text = _encode({"header": dict(header), "arrays": table})
    if len(text) > MAX_HEADER:
        raise ValueError(f"the header must have at most {MAX_HEADER} bytes as JSON, got {len(text)}")
    if _has_too_many_values(text):
        raise ValueError(f"the header must have at most {MAX_VALUES} values")
    body_size = max((place.end for place in places.values()), default=0)
    size = _aligned(PRELUDE.size + len(text)) + body_size + DIGEST_SIZE
    if os.path.exists(path) and not os.path.isfile(path):
        raise ModelFileError(os.fspath(path), "not a regular file, so a model cannot replace it")
    from duilian.atomic_files import replacing  # only for writing

    with replacing(path) as file:
        checksum = blake2b(digest_size=DIGEST_SIZE)
        for piece in _pieces(PRELUDE.pack(MAGIC, version, size, len(text)) + text, places, contents):
            checksum.update(piece)
            file.write(piece)
        file.write(checksum.digest())


def read_model(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a model; arrays that are not coded are read-only views of the mapped file.

    Raises ModelFileError if the file is not a complete, valid model, OSError if it cannot be read.

    >>> write_model("a.model", {"kind": "mine"}, {"weights": np.zeros(3)})
    >>> header, arrays = read_model("a.model")
    >>> header["kind"], arrays["weights"].shape
    ('mine', (3,))
    """
    name = os.fspath(path)
    # Checked before opening, because opening a pipe without a writer would block forever.
    if not os.path.exists(path):
        raise MissingFileError(name)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(name, "not a regular file, so it cannot be a model")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        version, header_size = _check_prelude(name, file.read(PRELUDE.size), size)
        _check_checksum(name, file, size)
        try:
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        except ValueError:
            raise ModelFileError(name, "changed while it was being read") from None
    header_end = PRELUDE.size + header_size
    start = _aligned(header_end)
    if header_size > MAX_HEADER or start > size - DIGEST_SIZE:
        raise ModelFileError(name, f"a header of {header_size} bytes does not fit")
    header, table = _parse_header(name, mapped[PRELUDE.size : header_end])
    if any(mapped[header_end:start]):
        raise ModelFileError(name, "there are stray bytes after the header")
    body = memoryview(mapped)[start : size - DIGEST_SIZE]
    places = _check_table(name, table, body)
    if (version == 1) == any(place.coded for place in places.values()):
        raise ModelFileError(
            name, f"a file of format {version} has {'no' if version > 1 else 'a'} coded array"
        )
    arrays = {key: _view(name, key, place, body) for key, place in places.items()}
    if hasattr(mmap, "MADV_DONTNEED"):  # what has been decoded need not stay in memory
        mapped.madvise(mmap.MADV_DONTNEED)
    return header, arrays


def is_model(path: str | Path) -> bool:
    """Whether a file starts like a model. An empty file counts as one: nothing is lost by replacing it."""
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) in (MAGIC, b"")


def checksum_of(path: str | Path) -> str:
    """The checksum at the end of a model file, which identifies the model."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - DIGEST_SIZE, 0))  # a file that is too short has a checksum of no model
        return file.read().hex()


def _as_stored(name: str, array: Array) -> Array:
    """The array in file order: C order, little endian."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an array must be a string, got {name!r}")
    array = np.asarray(array)
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(
            f"array {name!r} must be bool, int, uint or float of at most 8 bytes, got {array.dtype}"
        )
    if array.ndim > MAX_DIMENSIONS:
        raise ValueError(f"array {name!r} must have at most {MAX_DIMENSIONS} dimensions, got {array.ndim}")
    array = np.asarray(array, dtype=dtype, order="C")
    # In memory, True may be any nonzero byte; in the file it is 1.
    return np.asarray(array.view(np.uint8) != 0) if dtype == np.bool_ else array


def _lay_out(stored: Mapping[str, Array]) -> tuple[dict[str, ArrayPlace], dict[str, Array]]:
    """The place of each array, and its bytes as the file has them."""
    places: dict[str, ArrayPlace] = {}
    contents: dict[str, Array] = {}
    end = 0
    for name, array in stored.items():
        code = _code_of(array)
        contents[name] = array.reshape(-1).view(np.uint8) if code is None else code
        coded = 0 if code is None else len(code)
        places[name] = ArrayPlace(array.dtype.str, array.shape, _aligned(end), coded)
        end = places[name].end
    return places, contents


def _code_of(array: Array) -> npt.NDArray[np.uint8] | None:
    """The code of an array of whole numbers, if that is much smaller, but not too much."""
    size = array.nbytes
    if array.dtype.kind not in "iu" or size < LEAST_CODED:
        return None
    code = _native.encode_planes(array.reshape(-1).view(np.uint8), array.itemsize)
    return code if size / MAX_EXPANSION <= len(code) < WORTHWHILE * size else None


def _pieces(
    front: bytes, places: Mapping[str, ArrayPlace], contents: Mapping[str, Array]
) -> Iterator[bytes | memoryview]:
    """Everything but the checksum, in file order."""
    yield front
    yield bytes(_aligned(len(front)) - len(front))
    end = 0
    for name, place in places.items():
        yield bytes(place.offset - end)
        yield contents[name].data
        end = place.end


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _encode(document: dict[str, Any]) -> bytes:
    """The canonical encoding of a header."""
    _check_plain(document, 0)
    text = json.dumps(
        document,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        check_circular=False,
    )
    return text.encode("utf-8")


def _has_too_many_values(text: bytes) -> bool:
    """Whether a header may have too many values; commas inside strings are counted too."""
    return sum(map(text.count, (b",", b"[", b"{"))) > MAX_VALUES


def _check_plain(value: object, depth: int) -> None:
    """Reject what JSON would silently change (keys that are not strings), and excessive nesting."""
    if depth > MAX_DEPTH:
        raise ValueError(f"the header must be nested at most {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the keys of the header must be strings, got {key!r}")
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            if not isinstance(part, str):
                _check_plain(part, depth + 1)


def _check_prelude(path: str, start: bytes, size: int) -> tuple[int, int]:
    """Check the start and the size of a file, and return the format's version and the size of the header."""
    if not size:
        raise ModelFileError(path, "the file is empty")
    if not start.startswith(MAGIC[: len(start)]):
        raise ModelFileError(path, "not a Duilian model", "`duilian train` makes models")
    if len(start) > len(MAGIC) and start[len(MAGIC)] > VERSION:
        found = start[len(MAGIC)]
        raise ModelFileError(
            path, f"made by a newer Duilian (format {found}, this one reads {VERSION})", "upgrade Duilian"
        )
    if size < PRELUDE.size + DIGEST_SIZE or len(start) < PRELUDE.size:
        raise ModelFileError(path, f"too short to be a model ({size} bytes)", "copy or download it again")
    _, version, stated_size, header_size = PRELUDE.unpack(start)
    if version == 0:
        raise ModelFileError(path, f"format {version} does not exist", "copy or download it again")
    if size != stated_size:
        what = "truncated" if size < stated_size else "there are bytes after the end"
        raise ModelFileError(
            path, f"{what} ({size} bytes, expected {stated_size})", "copy or download it again"
        )
    return int(version), int(header_size)


def _check_checksum(path: str, file: BufferedReader, size: int) -> None:
    """Check the checksum by reading: on a mapped file, a bad disk would kill the process."""
    file.seek(0)
    checksum = blake2b(digest_size=DIGEST_SIZE)
    buffer = memoryview(bytearray(min(CHUNK, size)))
    left = size - DIGEST_SIZE
    while left:
        found = file.readinto(buffer[:left])
        if not found:
            raise ModelFileError(path, "changed while it was being read")
        checksum.update(buffer[:found])
        left -= found
    if file.read(DIGEST_SIZE) != checksum.digest():
        raise ModelFileError(path, "damaged: the checksum does not match", "copy or download it again")


def _parse_header(path: str, raw: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The caller's header and the table of arrays."""
    if _has_too_many_values(raw):  # before they become objects
        raise ModelFileError(path, f"the header has more than {MAX_VALUES} values")
    try:
        document = json.loads(raw.decode("utf-8"))
        is_our_spelling = not isinstance(document, dict) or _encode(document) == raw
    except (ValueError, RecursionError):
        raise ModelFileError(path, "the header is not JSON in UTF-8, or is nested too deeply") from None
    if not isinstance(document, dict):
        raise ModelFileError(path, f"the header must be a JSON object, got a {type(document).__name__}")
    if document.keys() != {"arrays", "header"}:
        raise ModelFileError(
            path, f"the header must have the keys arrays and header, got {sorted(document)!r:.200}"
        )
    header, table = document["header"], document["arrays"]
    if not isinstance(header, dict) or not isinstance(table, dict):
        raise ModelFileError(path, "arrays and header must be JSON objects")
    if not is_our_spelling:
        raise ModelFileError(
            path, "the header is not encoded as Duilian writes it (order, spaces, repeated keys)"
        )
    return header, table


def _check_table(path: str, table: Mapping[str, Any], body: memoryview) -> dict[str, ArrayPlace]:
    """Check the places of the arrays, which follow one another with only zeros for alignment between them."""
    places, end = {}, 0
    for name, row in table.items():
        place = _check_row(path, name, row)
        array = f"array {name!r:.200}"
        if place.offset % ALIGNMENT:
            raise ModelFileError(path, f"{array} is not aligned: its offset is {place.offset}")
        if place.offset < end:
            raise ModelFileError(path, f"{array} overlaps what precedes it: its offset is {place.offset}")
        if place.end > len(body):
            raise ModelFileError(path, f"{array} reaches beyond the end of the file")
        if place.offset != _aligned(end) or any(body[end : place.offset]):
            raise ModelFileError(path, f"there are stray bytes before {array}")
        places[name], end = place, place.end
    if end != len(body):
        raise ModelFileError(path, "there are stray bytes before the checksum")
    return places


def _check_row(path: str, name: str, row: object) -> ArrayPlace:
    """Check one row of the table, except for where the array lies."""
    array = f"array {name!r:.200}"
    fields = {"dtype", "shape", "offset"}
    if not isinstance(row, dict) or row.keys() - {"coded"} != fields:
        raise ModelFileError(path, f"{array} must have dtype, shape and offset, got {row!r:.200}")
    dtype, shape, offset = row["dtype"], row["shape"], row["offset"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(path, f"{array} has an unknown dtype {dtype!r:.200}")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS or not all(map(_is_size, shape)):
        raise ModelFileError(path, f"{array} has an impossible shape {shape!r:.200}")
    # NumPy rejects (0, 2**62, 4) too, although it is empty.
    if math.prod(n for n in shape if n) * np.dtype(dtype).itemsize > sys.maxsize:
        raise ModelFileError(path, f"{array} has a shape too large for any memory, {shape!r:.200}")
    if not _is_size(offset):
        raise ModelFileError(path, f"{array} has an impossible offset {offset!r:.200}")
    place = ArrayPlace(dtype, tuple(shape), offset, row.get("coded", 0))
    if "coded" in row:
        is_coded = _is_size(place.coded) and 0 < place.coded < place.size <= MAX_EXPANSION * place.coded
        if not is_coded or np.dtype(dtype).kind not in "iu":
            raise ModelFileError(path, f"{array} has an impossible code of {place.coded!r:.200} bytes")
    return place


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value <= sys.maxsize  # type(): True is not a size


def _view(path: str, name: str, place: ArrayPlace, body: memoryview) -> Array:
    if place.coded:
        return _decoded(path, name, place, body)
    array: Array = np.ndarray(place.shape, place.dtype, buffer=body, offset=place.offset)
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError(path, f"array {name!r:.200} has a bool that is neither 0 nor 1")
    return array


def _decoded(path: str, name: str, place: ArrayPlace, body: memoryview) -> Array:
    code: npt.NDArray[np.uint8] = np.frombuffer(body, np.uint8, place.coded, place.offset)
    dtype = np.dtype(place.dtype)
    try:
        numbers = _native.decode_planes(code, dtype.itemsize, place.size)
    except ValueError:
        raise ModelFileError(path, f"array {name!r:.200} does not decode") from None
    array: Array = numbers.view(dtype).reshape(place.shape)
    array.flags.writeable = False
    return array

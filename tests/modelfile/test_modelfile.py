"""A model file is read back as it was written; anything else is rejected in one sentence."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as some
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duilian import modelfile
from duilian.errors import MissingFileError, ModelFileError
from duilian.modelfile import MAX_HEADER, MAX_VALUES, checksum_of, is_model, read_model, write_model

Arrays = dict[str, npt.NDArray[Any]]

HEADER = {"kind": "crf", "标准": ["ctb", "pku"], "scores": {"f1": 97.5, "best": None}}
ARRAYS: Arrays = {
    "weights": np.linspace(-1, 1, 50, dtype=np.float32).reshape(5, 10),
    "keys": np.arange(7, dtype=np.uint64),
    "allowed": np.array([True, False, True]),
}
FRONT = struct.Struct("<7sBQQ")  # spelled out again: the format must not change by accident

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
dtypes = (
    some.boolean_dtypes()
    | some.integer_dtypes(endianness="?")
    | some.unsigned_integer_dtypes(endianness="?")
    | some.floating_dtypes(endianness="?", sizes=(16, 32, 64))
)
shapes = some.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
headers = st.dictionaries(names, plain, max_size=4)
array_maps = st.dictionaries(names, some.arrays(dtypes, shapes), max_size=4)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.model"
    write_model(path, HEADER, ARRAYS)
    return path


def assert_same(found: Arrays, wanted: Arrays) -> None:
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype.newbyteorder("<")
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.astype(found[name].dtype).tobytes()  # bytes: NaN, -0.0


def put(path: Path, data: bytes) -> None:
    path.unlink()  # some file systems flush a file that is truncated and rewritten, which is slow
    path.write_bytes(data)


def refusal(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value.message


def sealed(body: bytes) -> bytes:
    """With a correct checksum, as a forger would add it."""
    return body + hashlib.blake2b(body, digest_size=32).digest()


def forged(text: bytes, body: bytes = b"", **fields: Any) -> bytes:
    padding = bytes(-(FRONT.size + len(text)) % 64)
    size = fields.get("size", FRONT.size + len(text) + len(padding) + len(body) + 32)
    front = FRONT.pack(b"DUILIAN", fields.get("version", 1), size, fields.get("text_size", len(text)))
    return sealed(front + text + padding + body)


def spelled(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def with_row(body: bytes = bytes(8), **changes: Any) -> bytes:
    row = {"dtype": "<f4", "shape": [2], "offset": 0} | changes
    return forged(spelled({"arrays": {"w": row}, "header": {}}), body)


def with_rows(body: bytes, *rows: tuple[str, list[int], int]) -> bytes:
    table = {f"w{i}": dict(zip(("dtype", "shape", "offset"), row, strict=True)) for i, row in enumerate(rows)}
    return forged(spelled({"arrays": table, "header": {}}), body)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=headers, arrays=array_maps)
def test_what_is_written_is_read(tmp_path: Path, header: dict[str, Any], arrays: Arrays) -> None:
    write_model(tmp_path / "a", header, arrays)
    found_header, found_arrays = read_model(tmp_path / "a")
    assert repr(found_header) == repr(
        json.loads(json.dumps(header, sort_keys=True))
    )  # repr: 1, 1.0 and True differ
    assert_same(found_arrays, arrays)
    assert all(array.ctypes.data % 64 == 0 for array in found_arrays.values() if array.size)
    reordered = dict(reversed(header.items())), dict(reversed(arrays.items()))
    write_model(tmp_path / "b", *reordered)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(10)[::-2],
        np.zeros((3, 0, 2**40)),
        np.array(2.5, dtype=">f8"),
        np.array(True),
        np.array([2, 0, 255], np.uint8).view(bool),
    ],
    ids=["transposed", "fortran", "backwards", "empty", "zero dimensions", "a bool", "odd bytes for true"],
)
def test_any_layout_in_memory(tmp_path: Path, array: npt.NDArray[Any]) -> None:
    write_model(tmp_path / "m", {}, {"x": array})
    found = read_model(tmp_path / "m")[1]["x"]
    assert found.shape == array.shape
    assert np.array_equal(found, array)


def test_the_bytes_are_these(tmp_path: Path) -> None:
    write_model(tmp_path / "m", {"b": "对", "a": (1,)}, {"x": np.array([1, 258], np.dtype(">u2"))})
    text = '{"arrays":{"x":{"dtype":"<u2","offset":0,"shape":[2]}},"header":{"a":[1],"b":"对"}}'.encode()
    assert (tmp_path / "m").read_bytes() == forged(text, b"\x01\x00\x02\x01")


def test_arrays_cannot_be_written_and_outlive_the_file(model: Path) -> None:
    _, arrays = read_model(model)
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    if os.name == "posix":
        model.unlink()
    assert_same(arrays, ARRAYS)


def test_a_model_loads_fast(tmp_path: Path) -> None:
    write_model(tmp_path / "m", {}, {"w": np.zeros(2**21)})  # 16 MB
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        read_model(tmp_path / "m")
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.25  # 0.025 on a quiet machine; a copy through Python objects would take seconds


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read_model(tmp_path / "none")
    assert isinstance(caught.value, MissingFileError)


def test_a_file_is_told_by_its_beginning_and_its_end(model: Path, tmp_path: Path) -> None:
    assert is_model(model)
    assert checksum_of(model) == hashlib.blake2b(model.read_bytes()[:-32], digest_size=32).hexdigest()
    (tmp_path / "other").write_bytes(b"DUILIA?")
    (tmp_path / "empty").touch()
    assert [is_model(tmp_path / "other"), is_model(tmp_path / "empty")] == [False, True]


@pytest.mark.parametrize("step", ["reading", "mapping"])
def test_a_file_that_shrinks_meanwhile_is_refused(
    model: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def cut(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            os.truncate(model, 40)
            return real(*arguments, **options)

        return call

    where, name = (modelfile, "blake2b") if step == "reading" else (mmap, "mmap")
    big = {"w": np.zeros(10**5)}  # more than a buffer of the file object
    write_model(model, {}, big)
    monkeypatch.setattr(where, name, cut(getattr(where, name)))
    assert "changed while it was being read" in refusal(model)


def test_only_regular_files(tmp_path: Path) -> None:
    assert "regular" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "regular" in refusal(tmp_path / "pipe")


def test_every_truncation_is_refused(model: Path) -> None:
    whole = model.read_bytes()
    for size in range(len(whole)):
        put(model, whole[:size])
        reason = refusal(model)
        assert ("empty" if not size else "too short" if size < 56 else "truncated") in reason


def mutated(whole: bytes, chance: random.Random) -> bytes:
    data, kind = bytearray(whole), chance.randrange(6)
    i, j = sorted(chance.sample(range(len(data) + 1), 2))
    if kind == 0:
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del data[i:]
    elif kind == 2:
        data[i:j] = chance.randbytes(chance.randint(0, 40))
    elif kind == 3:
        data[j:j] = data[i:j]
    elif kind == 4:
        data[8:16], data[16:24] = data[16:24], data[8:16]
        data[i] ^= 1
    else:
        at = chance.choice([8, 16])
        struct.pack_into("<Q", data, at, chance.choice([0, 1, 55, len(data) - 1, 2**32, 2**63, 2**64 - 1]))
    return bytes(data)


def test_mutations_are_refused(model: Path) -> None:
    whole, chance = model.read_bytes(), random.Random(1)
    tried = 0
    while tried < 3000:
        data = mutated(whole, chance)
        if data == whole:
            continue
        put(model, data)
        refusal(model)
        tried += 1


def test_mutations_under_a_right_checksum_never_crash(model: Path) -> None:
    """A forger may change numbers and still have a model, but only one that we could have written."""
    body, chance, accepted = model.read_bytes()[:-32], random.Random(2), 0
    for _ in range(3000):
        data = bytearray(mutated(body, chance))
        if len(data) >= 16 and chance.random() < 0.7:
            struct.pack_into("<Q", data, 8, len(data) + 32)
        put(model, sealed(bytes(data)))
        try:
            header, arrays = read_model(model)
        except ModelFileError:
            continue
        write_model(model.with_name("again"), header, arrays)
        assert model.with_name("again").read_bytes() == model.read_bytes()
        accepted += 1
    assert accepted  # otherwise the round trip was never tried


def test_the_forger_of_these_tests_can_make_a_good_model(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(with_row())
    assert_same(read_model(tmp_path / "m")[1], {"w": np.zeros(2, np.float32)})
    (tmp_path / "m").write_bytes(with_rows(bytes(68), ("|b1", [2], 0), ("<f4", [], 64)))
    assert len(read_model(tmp_path / "m")[1]) == 2


def test_whole_numbers_with_frequent_bytes_are_coded(tmp_path: Path) -> None:
    """Also of several bytes, several dimensions, and signs."""
    draw = np.random.default_rng(1).geometric
    arrays: Arrays = {
        "u1": draw(0.5, 20_000).astype(np.uint8),
        "<i4": (draw(0.01, 30_000) * np.tile([1, -3], 15_000)).astype(np.int32).reshape(3, 100, 100),
        "<u8": draw(0.3, (500, 9)).astype(np.uint64),
    }
    write_model(tmp_path / "coded", {}, arrays)
    assert_same(read_model(tmp_path / "coded")[1], arrays)
    assert not any(array.flags.writeable for array in read_model(tmp_path / "coded")[1].values())
    size = (tmp_path / "coded").stat().st_size
    assert size < 0.35 * sum(array.nbytes for array in arrays.values())
    write_model(tmp_path / "again", *read_model(tmp_path / "coded"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "coded").read_bytes()


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(10**6, np.uint8),  # so that memory is bounded by the size of the file
        np.zeros(10**4),
        np.random.default_rng(1).integers(0, 2**32, 2000, np.uint32),
        np.ones(4095, np.uint8),
    ],
    ids=["almost nothing", "floats", "noise", "small"],
)
def test_other_arrays_are_not_coded(tmp_path: Path, array: npt.NDArray[Any]) -> None:
    write_model(tmp_path / "m", {}, {"x": array})
    assert (tmp_path / "m").read_bytes()[7] == 1
    assert (tmp_path / "m").stat().st_size > array.nbytes


def test_mutations_of_code_never_crash(tmp_path: Path) -> None:
    array, chance = np.random.default_rng(1).geometric(0.2, 5000).astype(np.uint16), random.Random(3)
    write_model(tmp_path / "m", {}, {"x": array})
    body = (tmp_path / "m").read_bytes()[:-32]
    refused = 0
    for _ in range(500):
        data = bytearray(body)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(192, len(data))] = chance.randrange(256)
        put(tmp_path / "m", sealed(bytes(data)))
        try:
            _, arrays = read_model(tmp_path / "m")
        except ModelFileError as error:
            refused += "does not decode" in str(error)
        else:
            assert arrays["x"].shape == array.shape
    assert refused > 490  # a change decodes with a chance of about 2^-16


def coded_row(body: bytes = bytes(100), version: int = 2, **changes: Any) -> bytes:
    row = {"dtype": "<u4", "shape": [50], "offset": 0, "coded": 100} | changes
    return forged(spelled({"arrays": {"w": row}, "header": {}}), body, version=version)


EMPTY = spelled({"arrays": {}, "header": {}})
HOSTILE = {
    "text": (b"PK\x03\x04 something else", "not a Duilian model"),
    "newer": (forged(EMPTY, version=3), "newer Duilian"),
    "nothing coded": (forged(EMPTY, version=2), "format 2 has no coded array"),
    "coded too early": (coded_row(version=1), "format 1 has a coded array"),
    "bad code": (coded_row(), "does not decode"),
    "no code": (coded_row(b"", coded=0), "code of 0 bytes"),
    "code of true": (coded_row(bytes(1), coded=True), "code of True bytes"),
    "negative code": (coded_row(b"", coded=-1), "code of -1 bytes"),
    "code is no number": (coded_row(coded="100"), "code of '100' bytes"),
    "code as large as the array": (coded_row(bytes(200), coded=200), "code of 200 bytes"),
    "code of too much": (coded_row(shape=[801]), "code of 100 bytes"),
    "code of a huge array": (coded_row(shape=[2**60]), "code of 100 bytes"),
    "code of nothing": (coded_row(shape=[0]), "code of 100 bytes"),
    "code of floats": (coded_row(dtype="<f4"), "code of 100 bytes"),
    "code of bools": (coded_row(dtype="|b1", shape=[200]), "code of 100 bytes"),
    "code beyond the end": (coded_row(bytes(99)), "beyond the end"),
    "code before more": (coded_row(bytes(101)), "stray bytes"),
    "version 0": (forged(EMPTY, version=0), "format 0"),
    "size too small": (forged(EMPTY, size=56), "after the end"),
    "size too large": (forged(EMPTY, size=2**64 - 1), "truncated"),
    "wrong checksum": (forged(EMPTY)[:-1] + b"?", "checksum"),
    "header beyond the file": (forged(EMPTY, text_size=2**64 - 1), "does not fit"),
    "header over the checksum": (forged(EMPTY, bytes(40), text_size=len(EMPTY) + 64), "does not fit"),
    "header too long": (forged(b" " * (MAX_HEADER + 1)), "does not fit"),
    "too many values": (
        forged(spelled({"arrays": {}, "header": {"a": [[]] * (MAX_VALUES // 2)}})),
        "more than 262144 values",
    ),
    "no header": (forged(b""), "not JSON"),
    "half a header": (forged(EMPTY[:-1]), "not JSON"),
    "not UTF-8": (forged(EMPTY.replace(b"header", b"\xff")), "not JSON"),
    "UTF-16": (forged(EMPTY.decode().encode("utf-16")), "not JSON"),
    "a list": (forged(b"[]"), "object"),
    "null": (forged(b"null"), "object"),
    "deep": (forged(b"[" * 200_000), "deep"),
    "deeper than we write": (
        forged(spelled({"arrays": {}, "header": {"a": 0}}).replace(b"0", b"[" * 80 + b"]" * 80)),
        "deep",
    ),
    "infinite": (forged(b'{"arrays":{},"header":{"a":1e999}}'), "not JSON"),
    "NaN": (forged(b'{"arrays":{},"header":{"a":NaN}}'), "not JSON"),
    "long number": (forged(b'{"arrays":{},"header":{"a":' + b"9" * 9999 + b"}}"), "not JSON"),
    "half a character": (forged(rb'{"arrays":{},"header":{"a":"\ud800"}}'), "not JSON"),
    "no keys": (forged(b"{}"), "keys"),
    "another key": (forged(spelled({"arrays": {}, "header": {}, "run": "code"})), "keys"),
    "header a list": (forged(spelled({"arrays": {}, "header": []})), "objects"),
    "arrays a list": (forged(spelled({"arrays": [], "header": {}})), "objects"),
    "spaces": (forged(EMPTY + b" "), "encoded"),
    "a key twice": (forged(b'{"arrays":{},"arrays":{},"header":{}}'), "encoded"),
    "not sorted": (forged(b'{"header":{},"arrays":{}}'), "encoded"),
    "byte after the header": (sealed(forged(EMPTY)[:-33] + b"\x01"), "after the header"),
    "row a number": (forged(spelled({"arrays": {"w": 1}, "header": {}})), "must have dtype"),
    "row with more": (with_row(more=1), "must have dtype"),
    "object dtype": (with_row(dtype="|O"), "dtype"),
    "big-endian dtype": (with_row(dtype=">f4"), "dtype"),
    "text dtype": (with_row(dtype="<U2"), "dtype"),
    "dtype a list": (with_row(dtype=["<f4"]), "dtype"),
    "negative shape": (with_row(shape=[-2]), "shape"),
    "two negative": (with_row(shape=[-2, -1]), "shape"),
    "huge shape": (with_row(shape=[2**63]), "shape"),
    "shape wraps to 8 bytes": (with_row(shape=[2**62 + 2]), "shape"),
    "shape wraps to nothing": (with_row(shape=[2**32, 2**32]), "shape"),
    "huge and empty": (with_row(b"", shape=[0, 2**62, 4]), "shape"),
    "five dimensions": (with_row(shape=[1, 1, 1, 1, 2]), "shape"),
    "shape of floats": (with_row(shape=[2.0]), "shape"),
    "shape of bools": (with_row(bytes(4), shape=[True]), "shape"),
    "shape a number": (with_row(shape=2), "shape"),
    "shape null": (with_row(shape=None), "shape"),
    "negative offset": (with_row(offset=-64), "offset"),
    "huge offset": (with_row(offset=2**64), "offset"),
    "offset a string": (with_row(offset="0"), "offset"),
    "unaligned": (with_row(bytes(12), offset=4), "not aligned"),
    "offset out of bounds": (with_row(offset=2**62), "beyond the end"),
    "over the checksum": (with_row(shape=[3]), "beyond the end"),
    "overlap": (with_rows(bytes(72), ("<f8", [9], 0), ("<f8", [1], 64)), "overlaps"),
    "the same place": (with_rows(bytes(8), ("<f8", [1], 0), ("<f8", [1], 0)), "overlaps"),
    "gap": (with_rows(bytes(136), ("<f8", [1], 0), ("<f8", [1], 128)), "stray bytes"),
    "gap in front": (with_row(bytes(72), offset=64), "stray bytes"),
    "padding not zero": (with_rows(bytes(9) + b"x" * 63, ("<f8", [1], 0), ("<f8", [1], 64)), "stray bytes"),
    "bytes of nothing": (with_row(bytes(9)), "stray bytes"),
    "bool of 2": (with_row(b"\x01\x02", dtype="|b1"), "bool"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(tmp_path: Path, case: str) -> None:
    data, reason = HOSTILE[case]
    (tmp_path / "m").write_bytes(data)
    assert reason in refusal(tmp_path / "m")

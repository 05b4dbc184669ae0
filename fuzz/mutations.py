"""Structure-aware mutations of what a model file holds: its header and its arrays.

The mutants are written with a correct checksum, so only what the reader of each part checks can stop them.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.modelfile import DIGEST_SIZE, PRELUDE

Array = npt.NDArray[Any]
Header = dict[str, Any]
Arrays = dict[str, Array]
Path = tuple[str | int, ...]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 7, 24, 64, 100, 255, 4096, 2**16, 2**28, 2**31 - 1, 2**31, -(2**31),
    2**32, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e-300, 1e300, "", "x", "\0", "NN", "pku",
    "词" * 300, [], {}, [[]], [0], [-1], [0, 1], [1, 0], [0, 0], [None], [""], ["NN", "NN"], {"x": 1},
    [[0, 1]], [10**6] * 3,
)  # fmt: skip
MANY = 70_000


def mutant(rng: random.Random, header: Header, arrays: Arrays) -> tuple[str, Header, Arrays]:
    """One to three mutations: what was done, and what came of it."""
    header, arrays = copy.deepcopy(header), dict(arrays)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        in_header = rng.random() < 0.5 or not arrays
        done.append(_mutate_header(rng, header) if in_header else _mutate_arrays(rng, arrays))
    return "; ".join(done), header, arrays


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every value in a header."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for k, each in enumerate(value[:50]):
            yield from _places(each, (*path, k))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _mutate_header(rng: random.Random, header: Header) -> str:
    path = rng.choice(list(_places(header)))
    parent, key = _at(header, path[:-1]), path[-1]
    name, old = ".".join(map(str, path)), parent[key]
    chosen = rng.random()
    if chosen < 0.12:
        del parent[key]
        return f"no {name}"
    if chosen < 0.22 and isinstance(old, int | float) and not isinstance(old, bool):
        parent[key] = old + rng.choice((-1, 1, 2, 1000, -1000))
    elif chosen < 0.32 and isinstance(old, list):
        parent[key] = rng.choice((old * 2, old[:-1], old[::-1], old[1:], [*old, *old[:1]]))
    elif chosen < 0.36 and isinstance(old, list):
        parent[key] = [f"T{k}" for k in range(MANY)]
    elif chosen < 0.46:
        parent[key] = copy.deepcopy(_at(header, rng.choice(list(_places(header)))))
    else:
        parent[key] = copy.deepcopy(rng.choice(ODD_VALUES))
    return f"{name} = {parent[key]!r:.60}"


def _mutate_arrays(rng: random.Random, arrays: Arrays) -> str:
    name = rng.choice(sorted(arrays))
    how, change = rng.choice(_CHANGES)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(rng, np.array(arrays[name]))
    return f"{name}: {how}"


def _with_element(rng: random.Random, array: Array, value: Any) -> Array:
    if array.size:
        flat = array.reshape(-1)
        flat[rng.randrange(array.size)] = value
    return array


def _extreme(rng: random.Random, array: Array) -> Any:
    """The largest, the smallest, or no number."""
    if array.dtype.kind == "f":
        return rng.choice((np.nan, np.inf, -np.inf, np.finfo(array.dtype).max, 0))
    if array.dtype.kind == "b":
        return rng.random() < 0.5
    info = np.iinfo(array.dtype)
    return rng.choice((info.max, info.min, 0, 1, info.max // 2))


def _spoilt(rng: random.Random, array: Array) -> Array:
    return _with_element(rng, array, _extreme(rng, array))


def _all_spoilt(rng: random.Random, array: Array) -> Array:
    array[...] = _extreme(rng, array)
    return array


def _noisy(rng: random.Random, array: Array) -> Array:
    raw = np.frombuffer(rng.randbytes(array.nbytes), np.uint8)
    return (raw & 1 if array.dtype.kind == "b" else raw).view(array.dtype).reshape(array.shape)


def _shifted(rng: random.Random, array: Array) -> Array:
    if array.size and array.dtype.kind in "iu":
        flat = array.reshape(-1)
        with np.errstate(over="ignore"):
            flat[rng.randrange(array.size)] += array.dtype.type(1)
    return array


def _retyped(rng: random.Random, array: Array) -> Array:
    dtype = rng.choice(("|b1", "|i1", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"))
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def spoil_contents(rng: random.Random, raw: bytes) -> tuple[str, bytes]:
    """A model file with other bytes in its arrays, as it stores them, and the checksum of these bytes.

    What it stores may be coded: `write_model` would code mutants well.
    """
    *_, size = PRELUDE.unpack_from(raw)
    begin, end = PRELUDE.size + size, len(raw) - DIGEST_SIZE
    body = bytearray(raw[:end])
    changes = rng.choice((1, 1, 2, 8)) if end > begin else 0
    for _ in range(changes):
        at, length = rng.randrange(begin, end), rng.choice((1, 1, 2, 4, 40))
        length = min(length, end - at)
        body[at : at + length] = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))
    return f"{changes} places in the file", bytes(body) + blake2b(body, digest_size=DIGEST_SIZE).digest()


_CHANGES: tuple[tuple[str, Callable[[random.Random, Array], Array] | None], ...] = (
    ("left out", None),
    ("empty", lambda rng, array: array[:0] if array.ndim else array),
    ("shorter", lambda rng, array: array[:-1] if array.ndim else array),
    ("half", lambda rng, array: array[: len(array) // 2] if array.ndim else array),
    ("longer", lambda rng, array: np.concatenate([array, array[:1]]) if array.ndim else array),
    ("twice", lambda rng, array: np.concatenate([array, array]) if array.ndim else array),
    ("a dimension more", lambda rng, array: array[None]),
    ("flat", lambda rng, array: array.reshape(-1)),
    ("one extreme value", _spoilt),
    ("one extreme value", _spoilt),
    ("all extreme", _all_spoilt),
    ("noise", _noisy),
    ("one more", _shifted),
    ("one more", _shifted),
    ("another type", _retyped),
    ("backwards", lambda rng, array: array[::-1].copy() if array.ndim else array),
)

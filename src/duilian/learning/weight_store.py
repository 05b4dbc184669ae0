"""Weights in training, their sums over iterations, and those to keep: all of them, or only changed ones.

Both stores give the same numbers. A coupled tagger has hundreds of millions of weights, few of which its
training changes; `TouchedWeights` keeps sums and best values of these alone.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from duilian import _native

Weights = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]
Kept = TypeVar("Kept")


class WeightStore(Protocol[Kept]):
    """The weights of a training run as its loop sees them."""

    weights: Weights

    def end_iteration(self) -> None:
        """Take the weights into the mean."""

    def mean(self) -> Weights:
        """The mean over the iterations so far, to evaluate; the next call may overwrite it."""
        ...

    def keep(self, candidate: Weights, *, is_last: bool = False) -> Kept | None:
        """Remember the weights or their mean as they are now; None if they are simply the last."""
        ...

    def weights_of(self, kept: Kept, *, is_last: bool = False) -> Weights:
        """The weights that were kept; training must be over. After the last call, nothing else is asked."""
        ...

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a checkpoint."""
        ...

    def take_up(self, arrays: Arrays, iterations: int) -> None:
        """Restore the state in a checkpoint; raise KeyError or ValueError if it is not of this run."""

    def kept_state(self, kept: Kept) -> dict[str, npt.NDArray[Any]]:
        """What a checkpoint stores of weights that were kept."""
        ...

    def kept_from(self, arrays: Arrays) -> Kept:
        """The way back."""
        ...


class AllWeights(WeightStore[Weights]):
    """A store with arrays for all weights."""

    def __init__(self, weights: Weights, *, averages: bool) -> None:
        self.weights = weights
        self.total: Weights = np.zeros(len(weights) if averages else 0, np.float32)
        self._mean: Weights = np.empty_like(self.total)  # reused in all iterations: fresh pages are slow
        self._iterations = 0

    def end_iteration(self) -> None:
        self._iterations += 1
        if len(self.total):
            self.total += self.weights

    def mean(self) -> Weights:
        return np.divide(self.total, np.float32(self._iterations), out=self._mean)

    def keep(self, candidate: Weights, *, is_last: bool = False) -> Weights:
        is_ours = candidate is self.weights or candidate is self._mean
        return candidate.copy() if is_ours and not is_last else candidate

    def weights_of(self, kept: Weights, *, is_last: bool = False) -> Weights:
        return kept

    def state(self) -> dict[str, npt.NDArray[Any]]:
        return {"weights": self.weights, "total": self.total}

    def take_up(self, arrays: Arrays, iterations: int) -> None:
        weights, total = (like(arrays, name, own) for name, own in self.state().items())
        self.weights, self.total, self._iterations = np.array(weights), np.array(total), iterations

    def kept_state(self, kept: Weights) -> dict[str, npt.NDArray[Any]]:
        return {"all": kept}

    def kept_from(self, arrays: Arrays) -> Weights:
        return np.array(like(arrays, "all", self.weights))


class TouchedWeights(WeightStore[_native.KeptWeights]):
    """A store for `AdaGrad`, which has sums and kept values only for weights that have changed.

    The mean is computed for the weights in `ranges` alone: those that dev sets need.
    """

    STATE: ClassVar[Mapping[str, Any]] = {
        "size": np.int64,
        "weight": np.uint32,
        "value": np.float32,
        "squares": np.float32,
        "total": np.float32,
    }

    def __init__(self, weights: Weights, ranges: npt.NDArray[np.int64]) -> None:
        self.weights, self._ranges = weights, ranges
        self.touched = _native.TouchedWeights()
        self._mean: Weights | None = None

    def end_iteration(self) -> None:
        self._mean = None
        self.touched.add(self.weights)

    def mean(self) -> Weights:
        if self._mean is None:
            self._mean = small_pages(len(self.weights))
            self.touched.write_mean(self.weights, self._ranges, self._mean)
        return self._mean

    def keep(self, candidate: Weights, *, is_last: bool = False) -> _native.KeptWeights | None:
        is_mean = candidate is not self.weights
        return self.touched.keep(self.weights, is_mean) if is_mean or not is_last else None

    def weights_of(self, kept: _native.KeptWeights, *, is_last: bool = False) -> Weights:
        self._mean = None
        out = self.weights if is_last else small_pages(len(self.weights))
        self.touched.write(self.weights, kept, out)
        return out

    def state(self) -> dict[str, npt.NDArray[Any]]:
        found: Iterable[npt.NDArray[Any]] = self.touched.state(self.weights)
        return {f"touched.{name}": array for name, array in zip(self.STATE, found, strict=True)}

    def take_up(self, arrays: Arrays, iterations: int) -> None:
        size, *rest = (vector(arrays, f"touched.{name}", kind) for name, kind in self.STATE.items())
        weight, value, squares, total = rest
        self.touched.take_up(size, weight, value, squares, total, iterations, self.weights)

    def kept_state(self, kept: _native.KeptWeights) -> dict[str, npt.NDArray[Any]]:
        about = np.array([kept.is_mean, kept.iterations], np.int64)
        return {"about": about, "weight": kept.weight, "value": kept.value}

    def kept_from(self, arrays: Arrays) -> _native.KeptWeights:
        is_mean, iterations = vector(arrays, "about", np.int64).tolist()
        if is_mean not in (0, 1):
            raise ValueError("the kept weights are neither the last nor the mean")
        weight, value = vector(arrays, "weight", np.uint32), vector(arrays, "value", np.float32)
        return _native.KeptWeights(bool(is_mean), iterations, weight, value)


def small_pages(size: int) -> Weights:
    """An array of zeros in which only pages that somebody writes to take memory, and these are small."""
    if size == 0:
        return np.zeros(0, np.float32)
    memory = mmap.mmap(-1, size * np.dtype(np.float32).itemsize)
    with contextlib.suppress(AttributeError, OSError):  # not every system has huge pages
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.float32)


def vector(arrays: Arrays, name: str, kind: Any) -> npt.NDArray[Any]:
    """An array of a checkpoint that must have one dimension and this type."""
    found = arrays[name]
    if found.dtype != np.dtype(kind) or found.ndim != 1:
        raise ValueError(f"{name!r} must be {np.dtype(kind)}, got {found.dtype} {found.shape}")
    return np.array(found)


def like(arrays: Arrays, name: str, own: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of a checkpoint that may replace `own`, since it has the same type and shape."""
    found = arrays[name]
    if found.dtype != own.dtype or found.shape != own.shape:
        raise ValueError(f"{name!r} must be {own.dtype} {own.shape}, got {found.dtype} {found.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"a number in {name!r} is not finite")
    return found

"""The lattice of a sentence, which holds what is still possible, and the chain, which scores it.

A *bundle* has one tag per side. A lattice keeps some bundles at each position; it is made from tag sets,
mappings, candidates, gold tags and boundary rules, and is immutable: every operation returns a new one.
A `Chain` adds scores and answers questions. To constrain a question, ask a restricted lattice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError

Bundle = tuple[int, ...]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

FORBIDDEN = -np.inf


class SideMapping(NamedTuple):
    """Which tags of two sides go together: rows of side a, columns of side b."""

    side_a: int
    side_b: int
    allows: Bools


class Succession(NamedTuple):
    """Which tags of a side may follow one another, and start or end a sentence; see `BoundaryScheme`."""

    allows: Bools  # [L, L]
    start: Bools  # [L]
    end: Bools  # [L]

    @classmethod
    def free(cls, tags: int) -> Succession:
        """Any tag may follow any other."""
        return cls(np.ones((tags, tags), bool), np.ones(tags, bool), np.ones(tags, bool))

    @property
    def is_free(self) -> bool:
        """Whether nothing is forbidden."""
        return bool(self.allows.all() and self.start.all() and self.end.all())

    def native(self) -> _native.Succession:
        """The same for the native core."""
        return _native.Succession(len(self.start), self.table())

    def table(self) -> npt.NDArray[np.uint8]:
        """[L + 1, L + 1] with start and end as the last row and column; empty if free."""
        tags = len(self.start)
        if self.is_free:
            return np.zeros((0, 0), np.uint8)
        table = np.ones((tags + 1, tags + 1), np.uint8)
        table[:tags, :tags] = self.allows
        table[tags, :tags] = self.start
        table[:tags, tags] = self.end
        return table


class Lattice:
    """The bundles that each position keeps, in lexicographic order.

    >>> lattice = Lattice.complete(2, [3, 2])  # two positions, bundles of 3 × 2 tags
    >>> len(lattice), lattice.states, lattice.restrict(0, [[1], [0, 2]]).states
    (2, 12, 6)
    """

    __slots__ = ("native",)

    def __init__(self, native: _native.Lattice) -> None:
        self.native = native

    @classmethod
    def from_columns(cls, columns: Sequence[Iterable[Bundle]], sides: int) -> Lattice:
        """A lattice from the bundles of each position, in any order."""
        ordered = [sorted(set(column)) for column in columns]
        flat = [tag for column in ordered for bundle in column for tag in bundle]
        return cls(_native.Lattice(sides, _offsets(ordered), np.array(flat, np.int32)))

    @classmethod
    def complete(cls, positions: int, tags: Sequence[int]) -> Lattice:
        """Every bundle of `tags[0] × tags[1] × …` at each position."""
        return cls(_native.complete_lattice(positions, list(tags)))

    @classmethod
    def product(
        cls, sides: Sequence[Sequence[Iterable[int]]], mappings: Sequence[SideMapping] = ()
    ) -> Lattice:
        """At each position, the product of the sides' candidate tags, minus what a mapping forbids."""
        native = [
            _native.SideMapping(m.side_a, m.side_b, np.ascontiguousarray(m.allows, np.uint8))
            for m in mappings
        ]
        return cls(_native.product_lattice([_tag_sets(side) for side in sides], native))

    def restrict(self, side: int, allowed: Sequence[Iterable[int]]) -> Lattice:
        """What remains if one side allows only these tags: gold tags, given boundaries, user constraints."""
        return Lattice(_native.restrict(self.native, side, _tag_sets(allowed)))

    def __and__(self, other: Lattice) -> Lattice:
        return Lattice(_native.intersect(self.native, other.native))

    def __or__(self, other: Lattice) -> Lattice:
        return Lattice(_native.unite(self.native, other.native))

    def trim(self, successions: Sequence[Succession]) -> Lattice:
        """Keep the bundles that lie on a complete legal path; there is one succession per side."""
        return Lattice(_native.trim(self.native, [each.native() for each in successions]))

    def locate(self, outer: Lattice) -> Ints:
        """The number in `outer` of each state of this lattice, which must be part of it."""
        return _native.locate(self.native, outer.native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lattice) and self.native.equals(other.native)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.native.positions

    @property
    def sides(self) -> int:
        """Number of tags in a bundle."""
        return self.native.sides

    @property
    def states(self) -> int:
        """Number of bundles at all positions together."""
        return self.native.states

    @property
    def first(self) -> Ints:
        """[T + 1] position t has the states from `first[t]` up to, but excluding, `first[t + 1]`."""
        return self.native.first

    @property
    def tags(self) -> Ints:
        """[S, sides] the bundle of each state."""
        return self.native.tags

    def columns(self) -> list[list[Bundle]]:
        """The bundles of each position."""
        first, tags = self.first.tolist(), [tuple(bundle) for bundle in self.tags.tolist()]
        return [tags[first[t] : first[t + 1]] for t in range(len(self))]


class Path(NamedTuple):
    """A path through the lattice."""

    score: float
    states: Ints  # [T] state numbers; `lattice.tags[path.states]` are the bundles


class Chain:
    """A lattice with scores on its states and between neighbours; a path's score is their sum.

    `state` has one score per state (start and stop scores included). `sides` has one matrix [L, L] per
    side, the scores of one tag following another, FORBIDDEN where that is illegal; `joint`, if given, scores
    one whole bundle following another: a matrix over the bundles in `bundles`, 0 for all others.

    >>> lattice = Lattice.complete(2, [2])  # two positions, one side with two tags
    >>> chain = Chain(lattice, [0.0, 1.0, 2.0, 0.0], [np.zeros((2, 2))])
    >>> chain.best_path().score, round(chain.log_partition(), 2)
    (3.0, 3.44)
    """

    def __init__(
        self,
        lattice: Lattice,
        state: npt.ArrayLike,
        sides: Sequence[npt.ArrayLike],
        bundles: Sequence[Bundle] = (),
        joint: npt.ArrayLike = ((),),
    ) -> None:
        self.lattice = lattice
        matrices = [np.ascontiguousarray(side, np.float64) for side in sides]
        if len(matrices) != lattice.sides:
            raise ConfigError(f"{len(matrices)} transition matrices for {lattice.sides} sides")
        for side, matrix in enumerate(matrices):
            highest = int(lattice.tags[:, side].max(initial=-1))
            if matrix.ndim != 2 or min(matrix.shape) <= highest:
                raise ConfigError(f"side {side} has tags up to {highest}, but its matrix is {matrix.shape}")
        number = {bundle: k for k, bundle in enumerate(bundles)}
        labels = [number.get(tuple(bundle), -1) for bundle in lattice.tags.tolist()] if bundles else []
        scores = np.ascontiguousarray(joint, np.float64)
        if bundles and scores.shape != (len(bundles), len(bundles)):
            raise ConfigError(f"{len(bundles)} bundles, but the joint matrix is {scores.shape}")
        self.native = _native.Chain(
            lattice.native,
            np.ascontiguousarray(state, np.float64),
            matrices,
            np.array(labels, np.int32),
            scores.reshape(len(bundles), -1) if bundles else np.zeros((0, 0)),
        )

    def log_partition(self) -> float:
        """log Σ over paths of e^score; -inf if no path is legal."""
        return self.native.log_partition()

    def unit_marginals(self) -> Floats:
        """[S] the probability of each state."""
        return self.native.unit_marginals()

    def pair_marginals(self) -> list[Floats]:
        """[T - 1] matrices: the probability of each pair of neighbouring states."""
        flat, widths = self.native.pair_marginals(), np.diff(self.lattice.first)
        sizes = widths[:-1] * widths[1:]
        parts = np.split(flat, np.cumsum(sizes)[:-1]) if len(sizes) else []
        return [part.reshape(widths[t], widths[t + 1]) for t, part in enumerate(parts)]

    def entropy(self) -> float:
        """-Σ p log p over paths, in nats."""
        return self.native.entropy()

    def best_path(self) -> Path:
        """The path with the highest score."""
        return Path(*self.native.best_path())

    def k_best(self, k: int) -> list[Path]:
        """The k best paths, or all if there are fewer, best first."""
        return [Path(*found) for found in self.native.k_best(k)]

    def score(self, states: npt.ArrayLike) -> float:
        """The score of a path."""
        return self.native.path_score(np.ascontiguousarray(states, np.int32))


def _offsets(columns: Sequence[Sequence[object]]) -> Ints:
    return np.cumsum([0, *map(len, columns)], dtype=np.int32)


def _tag_sets(positions: Sequence[Iterable[int]]) -> _native.TagSets:
    ordered = [sorted(set(tags)) for tags in positions]
    flat = [tag for tags in ordered for tag in tags]
    return _native.TagSets(_offsets(ordered), np.array(flat, np.int32))

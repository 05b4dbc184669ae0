"""Operations on a lattice of bundles, with nothing but sets.

A lattice is a list of sets, one for each position. All functions give a new lattice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from oracle.chain import Bundle

Lattice = list[set[Bundle]]
TagPairs = AbstractSet[tuple[int, int]]


def product(
    candidates: Sequence[Sequence[AbstractSet[int]]],  # [side][t]
    mappings: Mapping[tuple[int, int], TagPairs],  # (side, side): the pairs that go together
) -> Lattice:
    """Every bundle of candidates whose tags go together; two sides without a mapping always do."""
    return [
        {bundle for bundle in itertools.product(*tags) if is_mapped(bundle, mappings)}
        for tags in zip(*candidates, strict=True)
    ]


def is_mapped(bundle: Bundle, mappings: Mapping[tuple[int, int], TagPairs]) -> bool:
    return all((bundle[a], bundle[b]) in pairs for (a, b), pairs in mappings.items())


def restrict(lattice: Lattice, side: int, allowed: Sequence[AbstractSet[int]]) -> Lattice:
    """Keep the bundles whose tag on one side is allowed at their position."""
    return [
        {bundle for bundle in column if bundle[side] in tags}
        for column, tags in zip(lattice, allowed, strict=True)
    ]


def intersect(left: Lattice, right: Lattice) -> Lattice:
    """The bundles that are in both."""
    return [a & b for a, b in zip(left, right, strict=True)]


def unite(left: Lattice, right: Lattice) -> Lattice:
    """The bundles that are in one or both."""
    return [a | b for a, b in zip(left, right, strict=True)]


def legal_paths(
    lattice: Lattice,
    allowed: Callable[[Bundle, Bundle], bool],
    allowed_start: Callable[[Bundle], bool],
    allowed_end: Callable[[Bundle], bool],
) -> set[tuple[Bundle, ...]]:
    """Every complete path whose start, end and steps are all allowed."""
    return {
        path
        for path in itertools.product(*lattice)
        if path
        and allowed_start(path[0])
        and allowed_end(path[-1])
        and all(allowed(previous, bundle) for previous, bundle in itertools.pairwise(path))
    }


def trim(
    lattice: Lattice,
    allowed: Callable[[Bundle, Bundle], bool],
    allowed_start: Callable[[Bundle], bool],
    allowed_end: Callable[[Bundle], bool],
) -> Lattice:
    """Keep the bundles that lie on some complete legal path; all columns are empty when there is none."""
    paths = legal_paths(lattice, allowed, allowed_start, allowed_end)
    return [{path[t] for path in paths} for t in range(len(lattice))]

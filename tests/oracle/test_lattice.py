"""Set operations on lattices against results written out, and their laws."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.lattice import Lattice, intersect, is_mapped, legal_paths, product, restrict, trim, unite
from oracle.strategies import small_lattices

Bundle = tuple[int, ...]


def anything(bundle: Bundle) -> bool:
    return True


def rises(previous: Bundle, bundle: Bundle) -> bool:
    return bundle[0] == previous[0] + 1


def test_product_without_mapping_is_complete() -> None:
    assert product([[{0, 1}, {2}], [{5}, {6, 7}]], {}) == [{(0, 5), (1, 5)}, {(2, 6), (2, 7)}]


def test_product_keeps_what_goes_together() -> None:
    assert product([[{0, 1}], [{0, 1, 2}]], {(0, 1): {(0, 0), (0, 2), (1, 1), (3, 0)}}) == [
        {(0, 0), (0, 2), (1, 1)}
    ]


def test_product_of_three_sides_needs_every_mapping() -> None:
    """0-1 says equal, 1-2 says different; sides 0 and 2 are free, so what is left follows from the two."""
    mappings = {(0, 1): {(0, 0), (1, 1)}, (1, 2): {(0, 1), (1, 0)}}
    assert product([[{0, 1}]] * 3, mappings) == [{(0, 0, 1), (1, 1, 0)}]


def test_product_of_one_side_and_of_nothing() -> None:
    assert product([[{3, 4}]], {}) == [{(3,), (4,)}]
    assert product([[{3}], [set()]], {}) == [set()]
    assert product([[], []], {}) == []


def test_sides_must_have_the_same_length() -> None:
    with pytest.raises(ValueError, match="zip"):
        product([[{0}], [{0}, {1}]], {})


def test_restrict_looks_at_one_side() -> None:
    lattice: Lattice = [{(0, 5), (1, 5), (1, 6)}, {(0, 5), (0, 6)}]
    assert restrict(lattice, 0, [{1}, {0}]) == [{(1, 5), (1, 6)}, {(0, 5), (0, 6)}]
    assert restrict(lattice, 1, [{5}, {7}]) == [{(0, 5), (1, 5)}, set()]


def test_intersect_and_unite() -> None:
    left: Lattice = [{(0,), (1,)}, {(2,)}]
    right: Lattice = [{(1,), (3,)}, set()]
    assert intersect(left, right) == [{(1,)}, set()]
    assert unite(left, right) == [{(0,), (1,), (3,)}, {(2,)}]


def test_trim_drops_dead_ends_on_both_sides() -> None:
    """Only 0→1→2 rises all the way: 5 has nothing after it, 9 nothing before it."""
    assert trim([{(0,), (5,)}, {(1,), (9,)}, {(2,), (4,)}], rises, anything, anything) == [
        {(0,)},
        {(1,)},
        {(2,)},
    ]


def test_trim_obeys_start_and_end() -> None:
    lattice: Lattice = [{(0,), (1,)}, {(1,), (2,)}]
    assert trim(lattice, rises, lambda b: b != (0,), anything) == [{(1,)}, {(2,)}]
    assert trim(lattice, rises, anything, lambda b: b != (2,)) == [{(0,)}, {(1,)}]


def test_trim_without_a_legal_path_empties_every_column() -> None:
    assert trim([{(0,)}, {(7,)}, {(8,)}], rises, anything, anything) == [set(), set(), set()]
    assert trim([{(0,)}, set(), {(2,)}], rises, anything, anything) == [set(), set(), set()]
    assert trim([], rises, anything, anything) == []


def test_bundles_on_different_paths_stay_together() -> None:
    """Trimming keeps bundles, not paths: 0→1 and 3→4 stay, although 0→4 is illegal."""
    assert trim([{(0,), (3,)}, {(1,), (4,)}], rises, anything, anything) == [{(0,), (3,)}, {(1,), (4,)}]
    assert legal_paths([{(0,), (3,)}, {(1,), (4,)}], rises, anything, anything) == {
        ((0,), (1,)),
        ((3,), (4,)),
    }


tags = st.sets(st.integers(0, 2))
pairs = st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)))
bundle_pairs = st.sets(st.tuples(*[st.tuples(st.integers(0, 2), st.integers(0, 2))] * 2))


@given(st.lists(tags, min_size=2, max_size=2), st.lists(tags, min_size=2, max_size=2), pairs)
@settings(deadline=None)
def test_a_product_is_a_complete_product_that_is_filtered(
    first: list[set[int]], second: list[set[int]], maps: set[tuple[int, int]]
) -> None:
    complete = product([first, second], {})
    assert [len(column) for column in complete] == [
        len(a) * len(b) for a, b in zip(first, second, strict=True)
    ]
    assert product([first, second], {(0, 1): maps}) == [
        {bundle for bundle in column if is_mapped(bundle, {(0, 1): maps})} for column in complete
    ]


@given(small_lattices((3, 3), 3), small_lattices((3, 3), 3), st.lists(tags, min_size=3, max_size=3))
@settings(deadline=None)
def test_restricting_is_intersecting_with_a_product(
    left: Lattice, right: Lattice, allowed: list[set[int]]
) -> None:
    everything = [{0, 1, 2}] * 3
    assert restrict(left, 0, allowed) == intersect(left, product([allowed, everything], {}))
    assert restrict(unite(left, right), 1, allowed) == unite(
        restrict(left, 1, allowed), restrict(right, 1, allowed)
    )
    assert intersect(left, unite(left, right)) == left


@given(small_lattices((3, 3), 3), bundle_pairs)
@settings(deadline=None)
def test_trimming_keeps_the_legal_paths_and_is_final(
    lattice: Lattice, forbidden: set[tuple[Bundle, Bundle]]
) -> None:
    def allowed(previous: Bundle, bundle: Bundle) -> bool:
        return (previous, bundle) not in forbidden

    trimmed = trim(lattice, allowed, anything, anything)
    assert intersect(trimmed, lattice) == trimmed
    assert legal_paths(trimmed, allowed, anything, anything) == legal_paths(
        lattice, allowed, anything, anything
    )
    assert trim(trimmed, allowed, anything, anything) == trimmed
    for left, right in itertools.pairwise(trimmed):
        assert all(any(allowed(i, j) for j in right) for i in left)
        assert all(any(allowed(i, j) for i in left) for j in right)

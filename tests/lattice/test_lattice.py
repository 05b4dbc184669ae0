"""Lattice operations equal their naive twins on sets."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.lattice import Lattice, SideMapping, Succession
from duilian.standards import BoundaryScheme
from oracle import lattice as naive
from oracle.strategies import all_bundles, small_lattices

TAGS = st.lists(st.integers(1, 3), min_size=1, max_size=3)


def as_sets(lattice: Lattice) -> list[set[tuple[int, ...]]]:
    return [set(column) for column in lattice.columns()]


def random_succession(rng: random.Random, tags: int) -> Succession:
    draws = np.array([rng.random() < 0.7 for _ in range(tags * (tags + 2))]).reshape(tags + 2, tags)
    return Succession(draws[2:], draws[0], draws[1])


@given(TAGS, st.integers(1, 4))
def test_complete_has_every_bundle(tags: list[int], length: int) -> None:
    lattice = Lattice.complete(length, tags)
    assert as_sets(lattice) == [set(all_bundles(tags))] * length
    assert lattice.columns()[0] == sorted(all_bundles(tags))


@given(TAGS, st.integers(1, 4), st.data())
def test_set_operations_match_sets(tags: list[int], length: int, data: st.DataObject) -> None:
    a, b = data.draw(small_lattices(tags, length)), data.draw(small_lattices(tags, length))
    left, right = Lattice.from_columns(a, len(tags)), Lattice.from_columns(b, len(tags))
    assert as_sets(left) == a
    assert as_sets(left & right) == naive.intersect(a, b)
    assert as_sets(left | right) == naive.unite(a, b)
    assert left & left == left | left == left
    assert (left | right) & left == left
    located = (left & right).locate(left)
    assert (left.tags[located] == (left & right).tags).all()


@given(TAGS, st.integers(1, 4), st.data())
def test_restrict_matches_sets(tags: list[int], length: int, data: st.DataObject) -> None:
    a = data.draw(small_lattices(tags, length))
    side = data.draw(st.integers(0, len(tags) - 1))
    allowed = data.draw(st.lists(st.sets(st.integers(0, tags[side] - 1)), min_size=length, max_size=length))
    found = Lattice.from_columns(a, len(tags)).restrict(side, allowed)
    assert as_sets(found) == naive.restrict(a, side, allowed)


@given(TAGS, st.integers(1, 3), st.data())
def test_product_with_mappings_matches_sets(tags: list[int], length: int, data: st.DataObject) -> None:
    sides = [
        data.draw(st.lists(st.sets(st.integers(0, n - 1)), min_size=length, max_size=length)) for n in tags
    ]
    pairs: dict[tuple[int, int], set[tuple[int, int]]] = {}
    mappings = []
    for a, b in itertools.combinations(range(len(tags)), 2):
        cells = st.sets(st.tuples(st.integers(0, tags[a] - 1), st.integers(0, tags[b] - 1)))
        pairs[a, b] = data.draw(cells)
        matrix = np.zeros((tags[a], tags[b]), bool)
        for i, j in pairs[a, b]:
            matrix[i, j] = True
        mappings.append(SideMapping(a, b, matrix))
    assert as_sets(Lattice.product(sides, mappings)) == naive.product(sides, pairs)


@given(TAGS, st.integers(1, 4), st.randoms(use_true_random=False), st.data())
def test_trim_keeps_what_is_on_a_legal_path(
    tags: list[int], length: int, rng: random.Random, data: st.DataObject
) -> None:
    a = data.draw(small_lattices(tags, length))
    rules = [random_succession(rng, n) for n in tags]
    found = Lattice.from_columns(a, len(tags)).trim(rules)
    expected = naive.trim(
        a,
        lambda p, q: all(rule.allows[x, y] for rule, x, y in zip(rules, p, q, strict=True)),
        lambda p: all(rule.start[x] for rule, x in zip(rules, p, strict=True)),
        lambda p: all(rule.end[x] for rule, x in zip(rules, p, strict=True)),
    )
    assert as_sets(found) == expected
    assert found.trim(rules) == found


def test_boundary_rules_leave_only_whole_words() -> None:
    """Three characters, one tag: the trimmed lattice has exactly the labels of the four segmentations."""
    labels = BoundaryScheme.BIES.labels(["NN"])
    rule = Succession(
        BoundaryScheme.BIES.allowed(labels),
        BoundaryScheme.BIES.allowed_start(labels),
        BoundaryScheme.BIES.allowed_end(labels),
    )
    trimmed = Lattice.complete(3, [len(labels)]).trim([rule])
    named = [{labels[tag] for (tag,) in column} for column in trimmed.columns()]
    assert named == [{"B@NN", "S@NN"}, {"B@NN", "I@NN", "E@NN", "S@NN"}, {"E@NN", "S@NN"}]
    fixed = trimmed.restrict(0, [{labels.index("B@NN")}, range(4), range(4)]).trim([rule])
    assert {labels[tag] for (tag,) in fixed.columns()[1]} == {"I@NN", "E@NN"}


def test_a_free_succession_trims_nothing() -> None:
    lattice = Lattice.complete(3, [2, 3])
    assert lattice.trim([Succession.free(2), Succession.free(3)]) == lattice


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda x: x.restrict(2, [{0}] * 2), "no side 2"),
        (lambda x: x.restrict(0, [{0}]), "1 positions"),
        (lambda x: x & Lattice.complete(3, [2, 2]), "differ in shape"),
        (lambda x: x | Lattice.complete(2, [2]), "differ in shape"),
        (lambda x: Lattice.complete(2, [3, 2]).locate(x), "not in the outer"),
        (lambda x: x.trim([Succession.free(2)]), "1 successions for 2 sides"),
        (lambda x: Lattice.from_columns([[(-1, 0)]], 2), "negative"),
        (lambda x: Lattice.complete(40_000, [200, 200, 200]), "prune"),
        (lambda x: Lattice.product([[{5}], [{0}]], [SideMapping(0, 1, np.ones((2, 2), bool))]), "outside"),
        (lambda x: Lattice.product([[{0}]], [SideMapping(0, 1, np.ones((2, 2), bool))]), "does not exist"),
        (lambda x: Lattice.product([[{0}], [{0}, {1}]]), "number of positions"),
        (lambda x: Lattice.product([]), "at least one side"),
    ],
)
def test_what_does_not_fit_is_refused(act: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act(Lattice.complete(2, [2, 2]))  # type: ignore[operator]

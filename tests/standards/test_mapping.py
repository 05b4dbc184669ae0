"""Mappings: the four kinds, and the laws of a 0/1 relation between two tag sets."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.errors import ConfigError, StandardError
from duilian.standards import Mapping

A, B = ("NN", "VV", "P"), ("n", "v", "vn", "w")
PAIRS = [("NN", "n"), ("NN", "vn"), ("VV", "v"), ("VV", "vn"), ("NN", "n")]


@st.composite
def mappings(draw: st.DrawFn) -> Mapping:
    cells = draw(st.lists(st.booleans(), min_size=len(A) * len(B), max_size=len(A) * len(B)))
    return Mapping(A, B, np.array(cells).reshape(len(A), len(B)))


def test_complete_allows_all() -> None:
    mapping = Mapping.complete(A, B)
    assert mapping.size == 12
    assert all(mapping(a, b) for a in A for b in B)


def test_to_and_back() -> None:
    mapping = Mapping.from_pairs(PAIRS, A, B)
    assert mapping.to("NN") == ("n", "vn")
    assert mapping.back("vn") == ("NN", "VV")
    assert mapping.to("P") == ()
    assert mapping.bundles() == [("NN", "n"), ("NN", "vn"), ("VV", "v"), ("VV", "vn")]
    assert mapping.size == 4


def test_automatic_mapping_keeps_what_is_frequent() -> None:
    assert Mapping.from_pairs(PAIRS, A, B, min_count=2).bundles() == [("NN", "n")]
    assert Mapping.from_pairs(PAIRS, A, B, min_count=3).size == 0
    with pytest.raises(ConfigError, match="min_count must be at least 1, got 0"):
        Mapping.from_pairs(PAIRS, min_count=0)


def test_automatic_mapping_finds_its_tags_in_alphabetical_order() -> None:
    mapping = Mapping.from_pairs(iter(reversed(PAIRS)))
    assert (mapping.tags_a, mapping.tags_b) == (("NN", "VV"), ("n", "v", "vn"))


def test_automatic_mapping_refuses_foreign_tags() -> None:
    with pytest.raises(StandardError, match="the tag 'VV', which is not among"):
        Mapping.from_pairs(PAIRS, ["NN"], B)
    with pytest.raises(StandardError, match="the tag 'vn', which is not among"):
        Mapping.from_pairs(PAIRS, A, ["n", "v"])


@given(mappings())
def test_the_transpose_is_the_same_relation(m: Mapping) -> None:
    assert all(m(a, b) == m.T(b, a) == (b in m.to(a)) == (a in m.back(b)) for a in A for b in B)
    assert m == m.T.T
    assert m.T.size == m.size == sum(len(m.to(a)) for a in A) == len(m.bundles())


@given(mappings(), mappings())
def test_union_and_intersection(m: Mapping, other: Mapping) -> None:
    both, either = m.intersection(other), m.union(other)
    for a in A:
        for b in B:
            assert both(a, b) == (m(a, b) and other(a, b))
            assert either(a, b) == (m(a, b) or other(a, b))
    assert m.covers(both)
    assert either.covers(m)
    assert m.covers(other) == (either == m)
    assert both.size + either.size == m.size + other.size


@given(mappings(), st.permutations(A), st.permutations(B))
def test_the_order_of_tags_does_not_matter(m: Mapping, tags_a: list[str], tags_b: list[str]) -> None:
    shuffled = Mapping(tags_a, tags_b, [[m(a, b) for b in tags_b] for a in tags_a])
    assert m.union(shuffled) == m
    assert m.intersection(shuffled) == m
    assert shuffled.covers(m)


@given(mappings())
def test_completed_gives_everyone_a_partner_and_adds_no_more(m: Mapping) -> None:
    lone_a, lone_b = m.without_partner()
    assert lone_a == tuple(a for a in A if not m.to(a))
    assert lone_b == tuple(b for b in B if not m.back(b))
    full = m.completed()
    assert full.without_partner() == ((), ())
    assert all(full(a, b) == (m(a, b) or a in lone_a or b in lone_b) for a in A for b in B)
    assert full.completed() == full


def test_mappings_of_other_tags_do_not_join() -> None:
    with pytest.raises(ConfigError, match="same tags on each side"):
        Mapping.complete(A, B).union(Mapping.complete(B, A))


def test_unknown_tags_are_named() -> None:
    mapping = Mapping.complete(A, B)
    with pytest.raises(StandardError, match="the mapping has no tag 'x'"):
        mapping("NN", "x")
    with pytest.raises(StandardError, match="the mapping has no tag 'n'"):
        mapping.to("n")
    with pytest.raises(StandardError, match="the mapping has no tag 'NN'"):
        mapping.back("NN")


def test_a_mapping_does_not_change() -> None:
    source = np.zeros((3, 4), dtype=bool)
    mapping = Mapping(A, B, source)
    source[0, 0] = True
    assert mapping.size == 0
    with pytest.raises(ValueError, match="read-only"):
        mapping.matrix[0, 0] = True
    with pytest.raises(AttributeError, match="is immutable"):
        mapping.tags_a = ()
    with pytest.raises(AttributeError):
        mapping.other = 1


@given(mappings())
def test_copies_are_equal_and_as_fixed(m: Mapping) -> None:
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert twin == m
        assert hash(twin) == hash(m)
        assert not twin.matrix.flags.writeable
    assert m != m.T
    assert m != "m"


def test_the_matrix_must_fit_and_tags_be_single() -> None:
    with pytest.raises(ConfigError, match=r"must be 3 × 4, got shape \(3, 3\)"):
        Mapping(A, B, np.zeros((3, 3)))
    with pytest.raises(ConfigError, match="the tag 'n' is given twice"):
        Mapping.complete(A, ("n", "v", "n"))


def test_text_is_a_matrix() -> None:
    mapping = Mapping.from_pairs(PAIRS, A, B)
    assert mapping.to_text() == "\n".join(["   n v vn w", "NN x . x  .", "VV . x x  .", "P  . . .  ."])
    assert repr(mapping) == "Mapping(3 × 4 tags, 4 bundles)"


def test_text_aligns_tags_of_any_width() -> None:
    mapping = Mapping.complete(["名词", "e\u0301"], ["动", "ｖ", "𠀀名"])
    assert mapping.to_text().split("\n") == ["     动 ｖ 𠀀名", "名词 x  x  x", "e\u0301    x  x  x"]


def test_an_empty_mapping_is_a_mapping() -> None:
    mapping = Mapping.complete([], [])
    assert (mapping.size, mapping.bundles(), mapping.completed()) == (0, [], mapping)
    assert mapping.to_text() == ""

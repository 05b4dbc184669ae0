"""Boundary schemes: decoding inverts encoding, and exactly the legal sequences are allowed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.errors import ConfigError, StandardError
from duilian.standards import BoundaryScheme

SCHEMES = {name: BoundaryScheme.named(name) for name in ("BIES", "BMES", "BI", "IE")}
TAG_SETS: list[tuple[str, ...] | None] = [None, ("NN",), ("NN", "n@x")]

schemes = st.sampled_from(list(SCHEMES.values()))
tagged_words = st.lists(
    st.tuples(st.integers(1, 6), st.sampled_from(["NN", "VV", "@", "，", "𠀀"])), max_size=8
)


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    """All ways to cut `total` units into words."""
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        for rest in compositions(total - first):
            yield (first, *rest)


def all_encodings(scheme: BoundaryScheme, tags: tuple[str, ...] | None, total: int) -> set[tuple[str, ...]]:
    found = set()
    for lengths in compositions(total):
        choices: Iterator[Sequence[str] | None] = (
            iter([None]) if tags is None else itertools.product(tags, repeat=len(lengths))
        )
        for choice in choices:
            found.add(tuple(scheme.encode(lengths, choice)))
    return found


@given(schemes, tagged_words)
def test_decode_reads_back_what_encode_wrote(scheme: BoundaryScheme, words: list[tuple[int, str]]) -> None:
    lengths, tags = [length for length, _ in words], [tag for _, tag in words]
    ends = list(itertools.accumulate(lengths))
    expected = [(end - length, end, tag) for end, length, tag in zip(ends, lengths, tags, strict=True)]
    assert scheme.decode(scheme.encode(lengths, tags)) == expected
    assert scheme.decode(scheme.encode(lengths)) == [(start, end, None) for start, end, _ in expected]


@pytest.mark.parametrize("tags", TAG_SETS)
@pytest.mark.parametrize("name", SCHEMES)
def test_exactly_the_encodings_are_allowed(name: str, tags: tuple[str, ...] | None) -> None:
    scheme = SCHEMES[name]
    labels = scheme.labels(tags)
    start, end, follows = scheme.allowed_start(labels), scheme.allowed_end(labels), scheme.allowed(labels)
    for total in range(1, 5):
        encodings = all_encodings(scheme, tags, total)
        legal = {
            tuple(labels[i] for i in path)
            for path in itertools.product(range(len(labels)), repeat=total)
            if start[path[0]] and end[path[-1]] and all(follows[i, j] for i, j in itertools.pairwise(path))
        }
        assert legal == encodings


@pytest.mark.parametrize("name", SCHEMES)
def test_decode_takes_the_encodings_and_refuses_the_rest(name: str) -> None:
    scheme = SCHEMES[name]
    tags = ("NN", "VV")
    for total in range(1, 4):
        encodings = all_encodings(scheme, tags, total)
        for labels in itertools.product(scheme.labels(tags), repeat=total):
            if labels in encodings:
                spans = scheme.decode(labels)
                assert scheme.encode([b - a for a, b, _ in spans], [str(tag) for *_, tag in spans]) == list(
                    labels
                )
            else:
                with pytest.raises(StandardError):
                    scheme.decode(labels)


def test_the_labels_of_the_paper() -> None:
    scheme = BoundaryScheme.BIES
    assert scheme.encode([3, 1, 2], ["AD", "PN", "VV"]) == ["B@AD", "I@AD", "E@AD", "S@PN", "B@VV", "E@VV"]
    assert scheme.labels(["NN", "n"]) == ["B@NN", "I@NN", "E@NN", "S@NN", "B@n", "I@n", "E@n", "S@n"]
    assert scheme.labels() == ["B", "I", "E", "S"]
    assert BoundaryScheme.BMES.encode([3, 1]) == ["B", "M", "E", "S"]
    assert BoundaryScheme.BI.encode([3, 1]) == ["B", "I", "I", "B"]
    assert BoundaryScheme.IE.encode([3, 1]) == ["I", "I", "E", "E"]


def test_bies_transitions_by_hand() -> None:
    follows = BoundaryScheme.BIES.allowed(["B", "I", "E", "S"])
    assert follows.dtype == np.bool_
    assert follows.astype(int).tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1]]


def test_allowed_takes_any_selection_of_labels_in_any_order() -> None:
    labels = ["S@NN", "E@VV", "B@NN"]
    assert BoundaryScheme.BIES.allowed(labels).tolist() == [
        [True, False, True],
        [True, False, True],
        [False, False, False],
    ]
    assert BoundaryScheme.BIES.allowed([]).shape == (0, 0)


def test_a_tag_may_contain_the_separator() -> None:
    scheme = BoundaryScheme.BIES
    assert scheme.split("B@a@b") == ("B", "a@b")
    assert scheme.split("S@") == ("S", "")
    assert scheme.split("S") == ("S", None)


def test_nothing_encodes_to_nothing() -> None:
    assert BoundaryScheme.BIES.encode([], []) == []
    assert BoundaryScheme.BIES.decode([]) == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["I@NN", "E@NN"], "'I@NN' cannot start a sentence"),
        (["S@NN", "B@NN"], "'B@NN' cannot end a sentence"),
        (["B@NN", "E@VV"], "'E@VV' at unit 2 cannot follow 'B@NN'"),
        (["B@NN", "E"], "'E' at unit 2 cannot follow 'B@NN'"),
        (["O"], "label 'O' does not start with a boundary letter of BIES"),
        (["NN"], "label 'NN' does not start with a boundary letter of BIES"),
    ],
)
def test_what_is_no_encoding_is_refused(labels: list[str], message: str) -> None:
    with pytest.raises(StandardError) as caught:
        BoundaryScheme.BIES.decode(labels)
    assert message in caught.value.message


def test_wrong_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="word 2 has 0"):
        BoundaryScheme.BIES.encode([1, 0])
    with pytest.raises(ConfigError, match="2 words, but 1 tag"):
        BoundaryScheme.BIES.encode([1, 2], ["NN"])
    with pytest.raises(ConfigError, match="no boundary scheme 'BIO'"):
        BoundaryScheme.named("BIO")


def test_a_scheme_is_refused_exactly_if_two_neighbours_may_be_one_word_or_two() -> None:
    for letters in itertools.product("BIES", repeat=4):
        if readings(letters, True) & readings(letters, False):
            with pytest.raises(ConfigError, match="may be one word or two"):
                BoundaryScheme(*letters)
        else:
            scheme = BoundaryScheme(*letters)
            assert all(scheme.decode(scheme.encode(c)) == spans(c) for n in range(6) for c in compositions(n))


def spans(lengths: Sequence[int]) -> list[tuple[int, int, None]]:
    ends = list(itertools.accumulate(lengths, initial=0))
    return [(start, end, None) for start, end in itertools.pairwise(ends)]


def readings(letters: Sequence[str], is_cut: bool) -> set[tuple[str, str]]:
    """The neighbours that are in two words (or in one) in some sequence of at most five units."""
    begin, inside, end, single = letters
    found = set()
    for lengths in itertools.chain.from_iterable(compositions(total) for total in range(6)):
        row = [
            (single if n == 1 else begin if k == 0 else end if k == n - 1 else inside, k)
            for n in lengths
            for k in range(n)
        ]
        found |= {(left, right) for (left, _), (right, k) in itertools.pairwise(row) if (k == 0) == is_cut}
    return found


@pytest.mark.parametrize("letters", [("", "I", "E", "S"), ("@", "I", "E", "S"), ("B@", "I", "E", "S")])
def test_letters_must_be_letters(letters: tuple[str, str, str, str]) -> None:
    with pytest.raises(ConfigError, match="boundary letter"):
        BoundaryScheme(*letters)

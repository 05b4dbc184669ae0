"""Sentences packed from spans of texts equal those packed from the units themselves."""

from __future__ import annotations

import numpy as np
import pytest

from duilian import _native
from duilian import text as tx
from duilian.features import Templates, pack
from duilian.text import Folding

TEXTS = ["他說：「好。」 iPhone 15！", "", "  ", "一\u0301二\n三"]
FOLDING = Folding(script="simplified")


def packed(texts: list[str], *arrays: object) -> _native.Sentences:
    found = _native.Sentences(FOLDING.native, [])
    found.add_texts(texts, *arrays)  # type: ignore[arg-type]
    return found


def test_units_are_those_of_the_pieces() -> None:
    found = tx.split(TEXTS, (False, False), ())
    quick = packed(TEXTS, found.spans, found.first, found.text)
    pieces = []
    for text, a, b in zip(TEXTS, found.text[:-1], found.text[1:], strict=True):
        for s in range(int(a), int(b)):
            pieces.append(tx.cut(text, found.spans[found.first[s] : found.first[s + 1]]))
    slow = pack(pieces, FOLDING)
    assert quick.first.tolist() == slow.first.tolist()
    templates = Templates("w[0]\nw[-1] w[1]\ntype[0]\n", name="test").native
    for sentence in range(len(slow)):
        assert _native.describe_features(templates, quick, sentence) == _native.describe_features(
            templates, slow, sentence
        )


@pytest.mark.parametrize(
    ("spans", "first", "text"),
    [
        ([[0, 3]], [0, 1], [0, 1]),
        ([[-1, 1]], [0, 1], [0, 1]),
        ([[1, 1]], [0, 1], [0, 1]),
        ([[0, 1]], [0, 2], [0, 1]),
        ([[0, 1]], [1, 1], [0, 1]),
        ([[0, 1]], [0, 1], [0, 2]),
        ([[0, 1]], [0, 1], [0, 1, 1]),
        ([[0, 1]], [], [0, 1]),
    ],
)
def test_places_that_do_not_fit_are_refused(
    spans: list[list[int]], first: list[int], text: list[int]
) -> None:
    with pytest.raises(ValueError, match="unit"):
        packed(["好人"], *(np.array(each, np.int64) for each in (spans, first, text)))

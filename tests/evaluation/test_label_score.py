"""Scores from label numbers equal those of the words and tags that the labels encode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.corpus import Layer
from duilian.evaluation import LabelScorer, Score, main_score
from duilian.labels.encoding import Encoding

TAGS = ("NN", "PU", "VV")
GOLD_TAGS = st.one_of(
    st.none(), st.sampled_from([*TAGS, "XX"]), st.frozensets(st.sampled_from(TAGS), min_size=1)
)


@st.composite
def words_of(draw: st.DrawFn, size: int) -> list[int]:
    """Sizes of words that cover this many units."""
    cuts = sorted(draw(st.sets(st.integers(1, size - 1)))) if size > 1 else []
    return np.diff([0, *cuts, size]).tolist() if size else []


@st.composite
def sentence(draw: st.DrawFn, is_cut: bool) -> tuple[Layer, Layer]:
    """Gold, and a guess over the same characters."""
    size = draw(st.integers(0, 6))
    text = draw(st.text("天地𠀀", min_size=size, max_size=size))
    layers = []
    for tags in (GOLD_TAGS, st.sampled_from(TAGS)):
        sizes = draw(words_of(size)) if is_cut else [1] * size
        ends = np.cumsum(sizes, dtype=int).tolist()
        words = tuple(text[end - n : end] for n, end in zip(sizes, ends, strict=True))
        layers.append(Layer(words, tuple(draw(tags) for _ in words)))
    return layers[0], layers[1]


def scored(encoding: Encoding, gold: list[Layer], guess: list[Layer]) -> Score:
    split = [encoding.split(layer.words) for layer in gold]
    first = np.cumsum([0, *(len(units) for units, _ in split)])
    tags = None if encoding.tags is None else [tag for layer in gold for tag in layer.tags or ()]
    sizes = [size for _, counts in split for size in counts]
    return LabelScorer(encoding.meaning, first, sizes, tags).score(encoding.encode(guess).label)


@pytest.mark.parametrize("scheme", ["BIES", "BMES", "BI", "IE"])
@given(pairs=st.lists(sentence(is_cut=True), max_size=4))
def test_of_words_with_tags(scheme: str, pairs: list[tuple[Layer, Layer]]) -> None:
    gold, guess = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = scored(Encoding("char", TAGS, scheme), gold, guess)
    assert found.f1 == main_score(gold, guess, is_cut=True)


@pytest.mark.parametrize("scheme", ["BIES", "BI", "IE"])
@given(pairs=st.lists(sentence(is_cut=True), max_size=4))
def test_of_words_alone(scheme: str, pairs: list[tuple[Layer, Layer]]) -> None:
    gold, guess = [pair[0] for pair in pairs], [Layer(pair[1].words) for pair in pairs]
    found = scored(Encoding("char", None, scheme), gold, guess)
    assert found.f1 == main_score(gold, guess, is_cut=True)


@given(pairs=st.lists(sentence(is_cut=False), max_size=4))
def test_of_tags_of_given_words(pairs: list[tuple[Layer, Layer]]) -> None:
    gold, guess = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = scored(Encoding("word", TAGS), gold, guess)
    assert found.f1 == main_score(gold, guess, is_cut=False)


def test_counts_by_hand() -> None:
    # 天地|𠀀 and 天地|𠀀 with one wrong tag; 天|地 for 天地: found, right, wrong in this order.
    gold = [Layer(("天地", "𠀀"), ("NN", "PU")), Layer(("天地",), ("NN",))]
    guess = [Layer(("天地", "𠀀"), ("NN", "VV")), Layer(("天", "地"), ("NN", "NN"))]
    assert scored(Encoding("char", TAGS), gold, guess) == Score(3, 4, 1)

"""The doubly annotated newspaper sentences, as far as a script can check them."""

from __future__ import annotations

from pathlib import Path

from duilian.corpus import Layer, read
from duilian.standards import Mapping, Standard

NEWS = Path(__file__).parents[1] / "data" / "news"


def news(standard: str) -> list[Layer]:
    return [sentence[standard] for sentence in read(NEWS / f"{standard}.txt", standard=standard)]


def test_the_sentences_are_the_same_and_all_different() -> None:
    ctb, pku = news("ctb"), news("pku")
    texts = [layer.text for layer in ctb]
    assert texts == [layer.text for layer in pku]
    assert len(texts) == len(set(texts)) == 300
    assert (sum(map(len, ctb)), sum(map(len, pku))) == (3780, 3806)
    alike = [a.words == b.words for a, b in zip(ctb, pku, strict=True)]
    assert alike == [True] * 60 + [False] * 40 + [True] * 93 + [False] * 107


def test_no_word_crosses_a_word_of_the_other_guideline() -> None:
    """Conversion counts on it: a word is part of a given one or joins whole ones."""
    different = 0
    for a, b in zip(news("ctb"), news("pku"), strict=True):
        theirs = b.spans()
        for start, end in set(a.spans()) - set(theirs):
            different += 1
            assert not [s for s in theirs if s[0] < start < s[1] < end or start < s[0] < end < s[1]]
    assert different == 344


def test_every_tag_is_one_of_its_standard() -> None:
    for name in ("ctb", "pku"):
        standard = Standard.load(name)
        assert [tag for layer in news(name) for tag in layer.tags or () if tag not in standard] == []


def test_pairs_of_tags_are_in_the_relaxed_table() -> None:
    """Except for 左右, and two words that are participles in one corpus and modify nouns in the other."""
    allows = Mapping.from_table("ctb-pku.relaxed")
    others = {
        (word, x, y)
        for a, b in zip(news("ctb"), news("pku"), strict=True)
        if a.words == b.words
        for word, x, y in zip(a.words, a.tags or (), b.tags or (), strict=True)
        if not allows(str(x), str(y))
    }
    assert others == {("国有", "JJ", "vn"), ("有关", "JJ", "vn"), ("左右", "LC", "m")}

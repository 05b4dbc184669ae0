"""Words for search engines: what an index and a query have in common, with offsets and positions."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duilian as dl
from duilian.document import Doc, SearchWord, WordTable
from duilian.errors import DuilianError
from duilian.integrations.search import SearchTokenizer, tsvector

COARSE = WordTable([0, 1, 5], [1, 5, 6], [0, 3])
FINE = WordTable([0, 1, 3, 5], [1, 3, 5, 6], [0, 4])


def a_doc(text: str = "去北京大學。") -> Doc:
    return Doc(text, {"coarse": COARSE, "fine": FINE})


def test_coarse_and_fine_words_overlap_and_positions_are_those_of_fine_ones() -> None:
    found = a_doc().search_words(parts=False)
    both = ("coarse", "fine")
    assert found == [
        SearchWord("去", 0, 1, 0, 1, 1, both),
        SearchWord("北京大学", 1, 5, 1, 1, 2, ("coarse",)),
        SearchWord("北京", 1, 3, 1, 0, 1, ("fine",)),
        SearchWord("大学", 3, 5, 2, 1, 1, ("fine",)),
    ]


def test_parts_are_runs_inside_words_and_no_words() -> None:
    found = [word for word in a_doc().search_words() if word.is_part]
    assert [(word.text, word.position, word.length) for word in found] == [
        ("北京大", 1, 2),
        ("京大学", 1, 2),
        ("京大", 1, 2),
    ]


def test_terms_are_folded_unless_they_should_stay() -> None:
    assert "大学" in a_doc().search_terms()
    assert "大學" in a_doc().search_terms(fold=False)
    table = WordTable([0], [3], [0, 1])
    assert Doc("ＡＢc", {"one": table}).search_terms() == ["abc"]


def test_a_wrong_argument_is_refused() -> None:
    with pytest.raises(DuilianError, match="parts"):
        a_doc().search_words(parts="no")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def terms() -> SearchTokenizer:
    return SearchTokenizer(dl.load())


TEXTS = ["他在北京大学学习。", "北京的冬天很冷。", "她去圖書館借书，用iPhone15。", "今天下雨。", "", "。"]


def test_what_is_asked_for_is_found(terms: SearchTokenizer) -> None:
    indexed = [set(found) for found in terms.pipe(TEXTS)]
    for query, place in (("大学", 0), ("图书馆", 2), ("图书", 2), ("IPHONE", 2), ("雨", 3)):
        asked = set(terms(query))
        assert asked, query
        if query != "雨":
            assert asked <= indexed[place], query
    assert indexed[4] == indexed[5] == set()


def test_many_texts_are_answered_as_each_alone(terms: SearchTokenizer) -> None:
    zh = terms.analyzer
    assert list(terms.pipe(TEXTS)) == [terms(text) for text in TEXTS]
    assert list(terms.words(TEXTS)) == [zh.search_words(text) for text in TEXTS]
    assert list(SearchTokenizer(zh, threads=2).columns(TEXTS)) == [" ".join(terms(text)) for text in TEXTS]


def test_the_fast_segmenter_and_single_standards_can_be_asked(terms: SearchTokenizer) -> None:
    zh = terms.analyzer
    for ask in (dl.Ask(fast=True), dl.Ask(standards=("pku",), tags=False, trees=False)):
        found = zh.search_words(TEXTS[0], ask=ask, parts=False)
        assert [word.position for word in found] == list(range(len(found)))
        assert {name for word in found for name in word.standards} == {"pku"}


def test_a_tokenizer_can_be_sent_to_another_process(terms: SearchTokenizer) -> None:
    assert pickle.loads(pickle.dumps(terms))(TEXTS[0]) == terms(TEXTS[0])


def test_postgres_gets_terms_with_their_positions(terms: SearchTokenizer) -> None:
    words = [SearchWord(text, 0, 1, at, 1, 1, ("one",)) for text, at in (("人", 0), ("it's", 2), ("人", 3))]
    assert tsvector(words) == "'人':1,4 'it''s':3"
    assert tsvector([words[0]._replace(position=2**14, text="\\")]) == "'\\\\'"
    assert tsvector(words[:1] * 2) == "'人':1"
    many = [words[0]._replace(position=at) for at in range(1000)]
    assert tsvector(many).count(",") == 255
    assert list(terms.tsvectors(["北京、北京。", ""])) == ["'北京':1,3", ""]


@given(st.text(st.sampled_from("去北京大學ab1 \n，。😀\u200b\u0301٣'"), max_size=40))
def test_offsets_and_positions_hold_for_any_text(text: str) -> None:
    zh = bundled()
    doc = zh(text, ask=dl.Ask(tags=False, trees=False))
    found = zh.search_words(text, fold=False)
    assert all(text[word.start : word.end] == word.text for word in found)
    places = sorted({place for name in doc.standards for place in doc.layer(name).start.tolist()})
    ends = [*places[1:], len(text) + 1]
    for word in found:
        touched = [k for k, a in enumerate(places) if a < word.end and ends[k] > word.start]
        assert (word.position, word.length) == (touched[0], len(touched))
    assert [word.start for word in found] == sorted(word.start for word in found)
    assert list(itertools.accumulate(word.increment for word in found)) == [
        word.position + 1 for word in found
    ]
    words = {(token.start, token.end) for name in doc.standards for token in doc.tokens(name)}
    assert {(word.start, word.end) for word in found if not word.is_part} <= words


def bundled(kept: list[dl.Analyzer] = []) -> dl.Analyzer:  # noqa: B006
    if not kept:
        kept.append(dl.load())
    return kept[0]

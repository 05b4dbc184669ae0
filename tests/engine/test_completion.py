"""Completion of partial annotation: what is given stays, the rest is decided."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysed import check, is_tree
from duilian.corpus import Entity, Layer, Sentence
from duilian.engine import Analyzer, completion
from duilian.errors import AnnotationError, ConfigError


def test_gaps_are_filled_and_what_is_given_stays(analyzer: Analyzer) -> None:
    words = ("我们", "去", "北京图书馆", "。")
    known = analyzer.standards[-1]
    verb = {"pku": "v", "ctb": "VV"}[known]
    given = Layer(words, (None, verb, frozenset({"n", "NN", "nt", "v"} & set(tags(analyzer, known))), None))
    (doc,) = analyzer.fill([Sentence({known: given})], known)
    assert doc.text == "我们去北京图书馆。"
    assert doc.words(known) == list(words)
    assert doc.tags(known)[1] == verb
    assert doc.tags(known)[2] in (given.tags or ())[2]  # type: ignore[operator]
    check(doc)


@given(st.data())
def test_whatever_is_given_stays(coupled: Analyzer, data: st.DataObject) -> None:
    words = tuple(
        data.draw(st.lists(st.sampled_from(["我们", "去", "北京 图书馆", "。", "iPhone"]), min_size=1))
    )
    options = st.none() | st.sampled_from(tags(coupled, "pku"))
    own = tuple(data.draw(st.lists(options, min_size=len(words), max_size=len(words))))
    other = Layer(("".join(words),), ("n",))
    entities = (Entity(0, 1, "nt"),)
    layer = Layer(words, own, columns={"pinyin": ("x",) * len(words)}, entities=entities)
    given = Sentence({"pku": layer, "my own": other}, "s1", ("# by me",))
    ((answer,),) = (doc.to_sentences() for doc in coupled.fill([given], "pku"))
    assert (answer.id, answer.comments, answer["my own"]) == ("s1", ("# by me",), other)
    assert dataclasses.replace(answer["pku"], tags=own) == layer
    assert all(tag == kept for tag, kept in zip(own, answer["pku"].tags or (), strict=True) if tag)
    assert None not in (answer["pku"].tags or ())
    assert answer["ctb"].text == layer.text


def test_a_universal_tag_binds_the_one_that_is_found(
    coupled: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "universal_tags", lambda _: {"n": "NOUN", "ns": "NOUN", "v": "VERB"})
    words = ("我们", "去", "北京")
    for universal in itertools.product(["_", "NOUN", "VERB", "PRON"], repeat=3):
        layer = Layer(words, ("r", None, None), columns={"upos": universal})
        (doc,) = coupled.fill([Sentence({"pku": layer})], "pku")
        assert doc.tags("pku")[0] == "r"
        for tag, name in zip(doc.tags("pku")[1:], universal[1:], strict=True):
            assert tag in {"NOUN": ("n", "ns"), "VERB": ("v",)}.get(name, tags(coupled, "pku"))


def test_filling_keeps_spaces_and_sentences_without_words(analyzer: Analyzer) -> None:
    known = analyzer.standards[0]
    given = [Layer(("北京", "大"), spaces=(" ", "")), Layer(()), Layer(("我。我",))]
    docs = list(analyzer.fill([Sentence({known: layer}) for layer in given], threads=2))
    assert [doc.text for doc in docs] == ["北京 大", "", "我。我"]
    assert [doc.words(known) for doc in docs] == [["北京", "大"], [], ["我。我"]]
    for doc in docs:
        check(doc)


def test_filling_refuses_unknown_tags_and_standards(coupled: Analyzer) -> None:
    given = [Layer(("我",)), Layer(("我", "去"), ("r", frozenset({"v", "ZZ"})))]
    with pytest.raises(AnnotationError, match="sentence 2, word 2: the tag 'ZZ' is not among the model's"):
        list(coupled.fill([Sentence({"pku": layer}) for layer in given], "pku"))
    with pytest.raises(AnnotationError, match="no visible character"):
        list(coupled.fill([Sentence({"pku": Layer(("\u200b",))})], "pku"))
    with pytest.raises(ConfigError, match="there is no standard 'ud'"):
        list(coupled.fill([], "ud"))


def tags(analyzer: Analyzer, standard: str) -> tuple[str, ...]:
    return analyzer.labeler.encoding(standard).tags or ()


def test_given_heads_stay_and_others_are_found(parsed: Analyzer) -> None:
    words = ("我们", "去", "图书馆", "。")
    given = Layer(words, None, (2, None, None, None), ("mine", None, None, None))
    whole = Layer(
        words, None, (3, 4, 0, 1), ("a", "b", "c", "d")
    )  # crossing arcs, which no parser would find
    first, second, third = parsed.fill([Sentence({"pku": each}) for each in (given, whole, Layer(words))])
    assert first.heads[0] == 2
    assert first.relations[0] == "mine"
    assert is_tree(first.heads)
    assert second.heads == [3, 4, 0, 1]
    assert second.relations == ["a", "b", "c", "d"]
    assert is_tree(third.heads)


@given(st.data())
def test_given_heads_stay_whatever_tree_they_are_of(parsed: Analyzer, data: st.DataObject) -> None:
    sentences = []
    for _ in range(3):
        order = data.draw(st.permutations(range(1, 6)))  # each word depends on an earlier one
        above = [0, *(order[data.draw(st.integers(0, k - 1))] for k in range(1, 5))]
        tree = dict(zip(order, above, strict=True))
        known = data.draw(st.lists(st.booleans(), min_size=5, max_size=5))
        heads = tuple(tree[k + 1] if known[k] else None for k in range(5))
        sentences.append(Layer(("我们", "去", "新", "图书馆", "。"), None, heads, ("x", *[None] * 4)))
    docs = list(parsed.fill([Sentence({"pku": layer}) for layer in sentences]))
    for layer, doc in zip(sentences, docs, strict=True):
        assert is_tree(doc.heads)
        assert all(head in (None, found) for head, found in zip(layer.heads or (), doc.heads, strict=True))
        assert doc.relations[0] == "x"
        assert set(doc.relations[1:]) <= {"root", "next"}


def test_heads_of_a_standard_without_a_parser_stay(plain: Analyzer) -> None:
    (doc,) = plain.fill([Sentence({"pku": Layer(("我", "去"), None, (2, None), (None, None))})])
    assert doc.heads == [2, None]

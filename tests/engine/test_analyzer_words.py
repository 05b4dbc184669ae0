"""Constraints on an analyser's words: protected spans, and the user's lexicon."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian import Ask, load
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.errors import StandardError
from duilian.lexicon import Entry, Lexicon
from duilian.text import whole_spans

TEXT = "我们明天去北京图书馆看书，她喜欢云计算和iPhone15。"
PIECES = [
    "我们", "去", "北京", "图书馆", "，", "。", " ", "看", "1998年", "ＡＢ１２", "2026-11-16", "3.5%",
    "https://duilian.cn/a?b=1！c", "a.b@c.cn", "#好天气！#", "@zhang_san ", "Wi-Fi", "12km/h",
    "👩\u200d👩\u200d👧", "😀😀",
]  # fmt: skip
mixed = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join)
words = st.lists(st.sampled_from("我们去北京图书馆看书很大"), min_size=1, max_size=4).map("".join)


def content(doc: Doc) -> list[object]:
    return [doc.tokens(standard) for standard in doc.standards]


def spans(doc: Doc, standard: str) -> set[tuple[int, int]]:
    return {(token.start, token.end) for token in doc.tokens(standard)}


@given(mixed)
def test_parts_that_stay_whole_are_never_cut(coupled: Analyzer, text: str) -> None:
    doc = coupled(text)
    for standard, part in itertools.product(doc.standards, whole_spans(text)):
        assert not any(part.start < token.start < part.end for token in doc.tokens(standard)), part
        if part.kind not in ("number", "word"):
            assert (part.start, part.end) in spans(doc, standard)


def test_parts_that_are_words_have_the_standard_s_tags(coupled: Analyzer) -> None:
    doc = coupled("请看https://duilian.cn/a和a.b@c.cn😀")
    ctb = {token.text: token.tag for token in doc.tokens("ctb")}
    assert ctb["😀"] == "PU"
    assert {token.text: token.tag for token in doc.tokens("pku")}["😀"] == "w"


def test_parts_may_be_cut_if_nobody_protects_them(plain: Analyzer) -> None:
    free = Analyzer(plain.model, whole=())
    assert free("Wi-Fi和a.b@c.cn").words() != plain("Wi-Fi和a.b@c.cn").words()


def test_a_forced_word_is_a_word_in_every_standard(analyzer: Analyzer) -> None:
    own = analyzer.with_lexicon(Lexicon(["京图", "云计算", "看书，她"]))
    doc = own(TEXT)
    for standard in doc.standards:
        assert {"京图", "云计算", "看书，她"} <= set(doc.words(standard))


@pytest.mark.parametrize("text", ["他说，.NET好，见https://a.com/b", "用C#、.NET写，卖5.5元"])
def test_a_forced_word_may_begin_with_a_mark(caplog: pytest.LogCaptureFixture, text: str) -> None:
    zh = load(lexicon=Lexicon([".NET"]))
    for standard in zh.standards:
        words = zh(text, ask=Ask(standards=(standard,), trees=False)).words(standard)
        assert ".NET" in words
        assert "https://a.com/b" in words or "5.5" in words
    assert not caplog.records


def test_forced_marks_stay_marks() -> None:
    doc = load(lexicon=Lexicon(["！！"]))("好！！！")
    assert doc.words("pku") == ["好", "！！", "！"]
    assert doc.tags("pku")[1:] == ["w", "w"]


def test_tags_of_the_lexicon_count_where_the_standard_has_them(coupled: Analyzer) -> None:
    doc = coupled.with_lexicon(Lexicon([Entry("云计算", ("vn", "VV"))]))(TEXT)
    assert dict(zip(doc.words("ctb"), doc.tags("ctb"), strict=True))["云计算"] == "VV"
    only = coupled.with_lexicon(Lexicon([Entry("云计算", ("v",))]))(TEXT)
    assert dict(zip(only.words("pku"), only.tags("pku"), strict=True))["云计算"] == "v"
    assert "云计算" in only.words("ctb")
    with pytest.raises(StandardError, match="'ZZ', which the model does not know"):
        coupled.with_lexicon(Lexicon([Entry("云计算", ("ZZ",))]))


def test_a_preference_wins_if_it_is_strong_enough(analyzer: Analyzer) -> None:
    strong = analyzer.with_lexicon(Lexicon(["京图"], mode="prefer", weight=1000.0))(TEXT)
    weak = analyzer.with_lexicon(Lexicon(["京图"], mode="prefer", weight=1e-6))(TEXT)
    for standard in analyzer.standards:
        assert "京图" in strong.words(standard)
        assert weak.words(standard) == analyzer(TEXT).words(standard)


@settings(max_examples=40)
@given(mixed, st.lists(words, max_size=5), st.sampled_from(["force", "prefer"]))
def test_words_that_a_text_does_not_have_change_nothing(
    coupled: Analyzer, text: str, entries: list[str], mode: str
) -> None:
    absent = [word for word in entries if word not in text]
    own = coupled.with_lexicon(Lexicon(absent, mode=mode))  # type: ignore[arg-type]
    assert content(own(text)) == content(coupled(text))


@settings(max_examples=30)
@given(mixed, st.lists(words, min_size=1, max_size=5, unique=True), st.integers(1, 3))
def test_order_and_threads_do_not_matter(
    coupled: Analyzer, text: str, entries: list[str], threads: int
) -> None:
    one = coupled.with_lexicon(Lexicon(entries))
    other = coupled.with_lexicon(Lexicon(reversed(entries)))
    (found,) = other.pipe([text], threads=threads)
    assert content(found) == content(one(text))


@given(mixed, st.lists(words, min_size=1, max_size=5), st.sampled_from([None, 0.5, 5.0]))
def test_what_is_said_to_fire_is_a_word(
    coupled: Analyzer, text: str, entries: list[str], weight: float | None
) -> None:
    known = {*entries, "Fi", "12km", "3.5%"}
    own = coupled.with_lexicon(Lexicon([Entry(word, ("NN",), weight) for word in known]))
    doc = own(text)
    said = own.explain(doc)
    assert said == own.explain(text)
    tagged = {name: {(t.start, t.end): t.tag for t in doc.tokens(name)} for name in doc.standards}
    for found in said:
        place = (found.start, found.end)
        assert text[slice(*place)] == found.word
        fitting = [name for name in doc.standards if place in tagged[name]]
        if tagged["ctb"].get(place, "NN") != "NN":  # pku does not know the tag
            fitting.remove("ctb")
        assert found.standards == tuple(fitting)
        assert found.fires == (len(fitting) == len(doc.standards))
    assert {found.word for found in said} == {word for word in known if word in text}


def test_what_is_there_instead_of_a_word_is_told(coupled: Analyzer) -> None:
    own = coupled.with_lexicon(Lexicon([Entry(word, (), 1e-6) for word in ("京图", "京图书馆")]))
    doc = own("去北京图书馆")
    (found, _) = own.explain(doc)
    for name in doc.standards:
        there = [token for token in doc.tokens(name) if token.start < found.end and found.start < token.end]
        assert f"{name} has {' '.join(f'{each.text}/{each.tag}' for each in there)}" in found.why_not
    assert found.standards == ()
    assert "overlaps" not in found.why_not, "the longer one has lost too, and the decoder heard of both"


def test_an_emoji_keeps_its_tag(coupled: Analyzer) -> None:
    doc = coupled.with_lexicon(Lexicon(["😀"]))("我们去北京😀")
    assert [doc.tags(name)[-1] for name in doc.standards] == ["PU", "w"]


def test_entries_inside_a_part_that_stays_whole_do_not_fire(analyzer: Analyzer) -> None:
    own = analyzer.with_lexicon(Lexicon(["Phone", "iPhone15", "和iPhone15"]))
    said = {found.word: found.why_not for found in own.explain(TEXT)}
    assert said["Phone"].startswith("begins or ends inside a unit that is never cut: ")
    assert said["和iPhone15"] == ""
    assert "overlaps" in said["iPhone15"]
    assert "和iPhone15" in own(TEXT).words()
    assert analyzer.explain(TEXT) == []


def test_white_space_is_stronger_than_the_lexicon(analyzer: Analyzer) -> None:
    own = analyzer.with_lexicon(Lexicon(["北京"]))
    assert own("北 京").words() == ["北", "京"]
    assert own("北京").words() == ["北京"]


def test_the_best_analyses_obey_the_lexicon(analyzer: Analyzer) -> None:
    own = analyzer.with_lexicon(Lexicon(["京图"]))
    assert all("京图" in doc.words() for doc in own.nbest("去北京图书馆", 5))

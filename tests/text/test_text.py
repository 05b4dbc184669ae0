"""Text in, offsets out: nothing is lost, whatever the text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian import text as tx
from duilian.errors import ConfigError, TextError
from duilian.text import folding

NASTY = [
    "中", "國", "𠀀", "a", "Ｂ", "1", "２", " ", "\u3000", "\n", "\r\n", "\t", "\0", "\x85", "\u200b",
    "\ufeff", "\u200d", "é", "e\u0301", "\u0301", "👍🏽", "👨\u200d👩\u200d👧", "🇨🇳", "🇨", "❤\ufe0f", "。",
    "！", "?", "…", "”", "’", ")", "-", "かな", "한",
]  # fmt: skip

texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(NASTY), max_size=40).map("".join))


def check_spans(text: str, spans: tx.Spans) -> None:
    edges = spans.ravel().tolist()
    assert all(start < end for start, end in spans.tolist())
    assert edges == sorted(edges)
    assert not edges or (edges[0] >= 0 and edges[-1] <= len(text))
    assert tx.join(tx.cut(text, spans), tx.gaps(text, spans)) == text


@settings(max_examples=400)
@given(texts, st.booleans(), st.booleans())
def test_units_and_gaps_are_the_text(text: str, letters: bool, digits: bool) -> None:
    spans = tx.units(text, join_letters=letters, join_digits=digits)
    check_spans(text, spans)
    for gap in tx.gaps(text, spans):
        assert set(tx.char_types(gap)) <= {"space"}


@settings(max_examples=400)
@given(texts)
def test_sentences_and_gaps_are_the_text(text: str) -> None:
    spans = tx.sentences(text)
    check_spans(text, spans)
    for gap in tx.gaps(text, spans):
        assert set(tx.char_types(gap)) <= {"space"}
    for sentence in tx.cut(text, spans):
        assert not set(sentence) & set("\n\r\x85\u2028\u2029\v\f")
        assert tx.cut(sentence, tx.sentences(sentence)) == [sentence]


@given(texts)
def test_folding_keeps_every_offset(text: str) -> None:
    folded = tx.Folding(width=True)(text)
    assert len(folded) == len(text)
    assert tx.Folding(width=True)(folded) == folded
    assert tx.Folding(width=False)(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他2岁", ["他", "2", "岁"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("👨‍👩‍👧好", ["👨‍👩‍👧", "好"]),
        ("👍🏽👍", ["👍🏽", "👍"]),
        ("🇨🇳🇯🇵", ["🇨🇳", "🇯🇵"]),
        ("❤\ufe0f", ["❤\ufe0f"]),
        ("𠀀。", ["𠀀", "。"]),
        ("a\u200bb\ufeffc", ["a", "b", "c"]),
        ("\u0301a", ["\u0301", "a"]),
        ("", []),
        (" \n\0", []),
    ],
)
def test_units_by_example(text: str, expected: list[str]) -> None:
    assert tx.cut(text, tx.units(text)) == expected


def test_runs_are_units_if_asked() -> None:
    text = "用iPhone15打１２３，Ｗｉ－Ｆｉ"
    joined = tx.cut(text, tx.units(text, join_letters=True, join_digits=True))
    assert joined == ["用", "iPhone", "15", "打", "１２３", "，", "Ｗｉ", "－", "Ｆｉ"]
    assert tx.cut("a1", tx.units("a1", join_letters=True)) == ["a", "1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("他来了。她走了！", ["他来了。", "她走了！"]),
        ("“好！”他说。", ["“好！”", "他说。"]),
        ("真的？！真的……好", ["真的？！", "真的……", "好"]),
        ("一\n二\r\n\r\n三", ["一", "二", "三"]),
        ("看 http://a.cn/?q=1&b 吧", ["看 http://a.cn/?q=1&b 吧"]),
        ("Really? 是。", ["Really?", "是。"]),
        ("  。 ", ["。"]),
        ("没有句号", ["没有句号"]),
        ("\n \n", []),
    ],
)
def test_sentences_by_example(text: str, expected: list[str]) -> None:
    assert tx.cut(text, tx.sentences(text)) == expected


MIXED = [
    *NASTY, "http://", "www.", "a.cn", "example.com", "/", "#", "＃", "@", "＠", ".", ",", "%", "-", "+", ":",
    "km", "GB", "℃", "3", "１", "小明", "：", "_", "'", "c", "$", "½", "₂", "U.S", "，", ")",
]  # fmt: skip


@settings(max_examples=400)
@given(st.one_of(texts, st.lists(st.sampled_from(MIXED), max_size=30).map("".join)))
def test_whole_spans_cut_no_unit_and_reach_over_no_white_space(text: str) -> None:
    found = tx.whole_spans(text)
    spans = np.array([each[:2] for each in found], np.int64).reshape(-1, 2)
    check_spans(text, spans)
    edges = set(tx.units(text).ravel().tolist())
    assert set(spans.ravel().tolist()) <= edges
    assert all("space" not in tx.char_types(piece) for piece in tx.cut(text, spans))
    for each in found:
        alone = tx.whole_spans(f" {text[each.start : each.end]} ")
        assert len(alone) >= 1, "it is found between blanks, too"
        assert alone[0].start == 1


def test_whole_spans_by_example() -> None:
    text = "@小明 你看https://example.org/a?b=1，涨了3.5%，iPhone15卖¥5,999！#新品#👍🏽 发a.b@example.cn"
    assert [(text[start:end], kind) for start, end, kind in tx.whole_spans(text)] == [
        ("@小明", "mention"),
        ("https://example.org/a?b=1", "url"),
        ("3.5%", "quantity"),
        ("iPhone15", "word"),
        ("¥", "sign"),
        ("5,999", "number"),
        ("#新品#", "hashtag"),
        ("👍🏽", "emoji"),
        ("a.b@example.cn", "email"),
    ]
    assert [text[start:end] for start, end, _ in tx.whole_spans(text, ["word", "emoji"])] == [
        "iPhone15",
        "👍🏽",
    ]
    assert tx.whole_spans("没有") == []
    with pytest.raises(ConfigError, match="kinds must be among url, email"):
        tx.whole_spans("a", ["links"])  # type: ignore[list-item]


def test_a_megabyte_without_a_line_break() -> None:
    text = "汉字" * 500_000
    assert tx.sentences(text).tolist() == [[k, k + 2000] for k in range(0, 1_000_000, 2000)]
    assert len(tx.units(text)) == 1_000_000


def test_a_split_tells_what_is_known() -> None:
    found = tx.split(["他有5kg。好，"], (False, False), tx.WHOLE_KINDS)
    assert found.first.tolist() == [0, 6, 8]
    assert found.wholes == [(2, 5, "quantity")]
    is_word = tx.NO_MARK
    quantity = [tx.BEGINS, tx.GOES_ON, tx.GOES_ON | is_word]  # at edges and beside marks only
    assert found.known.tolist() == [
        is_word,
        0,
        *quantity,
        tx.BEGINS | tx.MARK | tx.CLAUSE,
        is_word,
        tx.MARK | tx.CLAUSE,
    ]
    gaps = tx.split(["他 有\u200b人"], (False, False), tx.WHOLE_KINDS)
    assert gaps.known.tolist() == [is_word, tx.GAP | tx.APART | tx.BEGINS, tx.GAP | is_word]
    mark = tx.MARK | tx.MARKS | tx.CLAUSE
    row = tx.split(["啊？？℃…"], (False, False), tx.WHOLE_KINDS, is_one_sentence=True)
    assert row.known.tolist() == [is_word, mark, mark, 0, tx.MARK]
    both = tx.split(["好。好", "", "他有5kg。好，"], (False, False), tx.WHOLE_KINDS)
    assert both.text.tolist() == [0, 2, 2, 4]
    assert both.first.tolist() == [0, 2, 3, 9, 11]
    assert both.wholes == [(5, 8, "quantity")]
    assert both.spans.tolist()[3:] == found.spans.tolist()
    assert both.known.tolist()[3:] == found.known.tolist()
    assert tx.split(["5kg"], (False, False), ["url"]).wholes == []
    assert tx.split(["好。好"], (False, False), (), is_one_sentence=True).first.tolist() == [0, 3]


def test_character_types() -> None:
    assert tx.char_types("汉a１。 😀い") == ["han", "letter", "digit", "punct", "space", "emoji", "other"]


def test_width_folding() -> None:
    assert tx.Folding(width=True)("ＡＢｚ０９，！～￥\u3000。、") == "ABz09,!~¥ .、"


def test_lone_surrogates_have_a_clear_error() -> None:
    for call in (tx.units, tx.sentences, tx.char_types, tx.whole_spans, tx.Folding()):
        with pytest.raises(TextError, match=r"offset 2 of the text is a lone surrogate.*\n  hint: "):
            call("好a\udc80")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="script must be"):
        tx.Folding(script="traditional")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="one gap more than pieces"):
        tx.join(["a"], [""])


@given(texts)
def test_the_fast_way_to_simplified_characters_is_the_folding(text: str) -> None:
    every = "".join(map(chr, range(0x3000, 0xA000)))
    for each in (text, every):
        assert tx.simplified(each) == tx.Folding(width=False, script="simplified")(each)


def test_traditional_characters_fold_one_to_one() -> None:
    folding = tx.Folding(script="simplified")
    assert folding("漢語說得好，Ａ") == "汉语说得好,A"
    assert len(folding("後面的頭髮" * 100)) == 500
    assert folding("「山」") == "“山”"


def test_the_table_of_scripts_is_sound() -> None:
    pairs = dict(folding._to_simplified())
    assert len(pairs) == len(folding._to_simplified()) > 4000
    assert not pairs.keys() & set(pairs.values())  # folding twice is folding once


def test_traditional_script_is_recognised() -> None:
    assert tx.is_traditional("他們說漢語，我們聽不懂。")
    assert not tx.is_traditional("他们说汉语，我们听不懂。")
    assert not tx.is_traditional("乾隆年间的瓷器现在放在北京故宫里面。")
    assert not tx.is_traditional("")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("价格&nbsp;5&#39;<br>好</div><BR/>", ["&nbsp;", "&#39;", "<br>", "</div>", "<BR/>"]),
        ("a<b>c，x<y>z", []),
        ("A&B; & <你好> <p", []),
        ("<b>好</b>", ["<b>", "</b>"]),
    ],
)
def test_left_overs_of_html_stay_whole(text: str, found: list[str]) -> None:
    assert [text[a:b] for a, b, kind in tx.whole_spans(text, ["markup"])] == found


def test_brackets_part_numbers_and_words_in_letters() -> None:
    found = tx.split(["f(0)"], (True, True), tx.WHOLE_KINDS)
    assert [bool(known & tx.BEGINS) for known in found.known.tolist()[1:]] == [True] * 3

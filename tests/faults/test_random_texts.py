"""Random texts lose nothing, and every way gives one answer: the short form of fuzz/random_texts.py."""

from __future__ import annotations

import duilian as dl
from duilian.scale import ArrowAnalyzer
from random_texts import attack, lost


def test_random_texts_lose_nothing() -> None:
    found: list[str] = []
    attack(dl.load(), 150, 7, lambda text, problem: found.append(f"{text!r}: {problem}"), ArrowAnalyzer())
    assert found == []


def test_words_alone_are_those_of_words_with_tags() -> None:
    """With tags, a sentence is searched in another way if pruning has left a stretch without any path."""
    zh = dl.load()
    text = "大\ufffe同\x7f完（物理軟，北闻\u202f主\x01务拍北室\x1b公乓；"
    text += "闻新我公乒卖京；闻—；国、国的）北"
    for standard in zh.standards:
        (words,) = zh.segment([text], standard=standard)
        assert list(words) == zh(text, ask=dl.Ask(trees=False)).words(standard)


def test_what_is_lost_is_seen() -> None:
    assert lost("我 们", ["我", "们"]) is None
    assert lost("我们", ["我"]) == "'们' is lost"
    assert lost("我们", ["我", "你"]) == "'你' is not in the text"

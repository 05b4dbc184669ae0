"""Random texts lose nothing, and every way gives one answer: the short form of fuzz/random_texts.py."""

from __future__ import annotations

import duilian as dl
from duilian.scale import ArrowAnalyzer
from random_texts import attack, lost


def test_random_texts_lose_nothing() -> None:
    found: list[str] = []
    attack(dl.load(), 150, 7, lambda text, problem: found.append(f"{text!r}: {problem}"), ArrowAnalyzer())
    assert found == []


def test_what_is_lost_is_seen() -> None:
    assert lost("我 们", ["我", "们"]) is None
    assert lost("我们", ["我"]) == "'们' is lost"
    assert lost("我们", ["我", "你"]) == "'你' is not in the text"

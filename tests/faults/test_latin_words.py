"""Text of separate Latin words costs little more than Chinese: what is known of it slows no search."""

from __future__ import annotations

import time

import numpy as np

import duilian as dl
from duilian.labels.encoding import Encoding
from duilian.text import BEGINS, ENDS, GAP, with_ends

CHINESE = "我们明天去北京参观新的图书馆，然后回家吃饭。"
LATIN = "hello world this is some text of separate words "


def test_a_word_ends_where_the_next_begins() -> None:
    known = np.array([BEGINS, 0, GAP, BEGINS, BEGINS], np.uint16)
    assert with_ends(known).tolist() == [BEGINS, 0, GAP | ENDS, BEGINS | ENDS, BEGINS]
    assert known.tolist() == [BEGINS, 0, GAP, BEGINS, BEGINS]
    assert with_ends(known[:0]).tolist() == []


def test_labels_that_go_on_are_barred_where_a_word_ends() -> None:
    encoding = Encoding(level="char", tags=None)
    is_barred = (encoding.barred_by() & ENDS) != 0
    assert is_barred.tolist() == (~encoding.succession.end).tolist()
    assert is_barred.any()


def _seconds(zh: dl.Analyzer, text: str) -> float:
    began = time.process_time()
    list(zh.segment([text]))
    return time.process_time() - began


def test_latin_words_cost_at_most_three_times_as_much_as_chinese() -> None:
    zh = dl.load()
    chinese, latin = (base * 400 for base in (CHINESE, LATIN))
    times = [(_seconds(zh, chinese[:8000]), _seconds(zh, latin[:8000])) for _ in range(4)]
    assert min(b for _, b in times) < 3 * min(a for a, _ in times)

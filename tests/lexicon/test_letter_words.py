"""Alphabetic words: where they are cut off from Han (against brute force), and which tags they may have."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.features import Dictionary, ListedWord, Reading
from duilian.labels.encoding import Encoding
from duilian.labels.units import UnitBatch, units_of_texts
from duilian.lexicon.letter_words import English, GluedWords, LetterWords
from duilian.text import BEGINS, NOT_FOREIGN, ONLY_FOREIGN, WHOLE_KINDS, Folding

CHARACTERS = "中国aB1 "
WORDS = st.lists(st.text("中国ab1", min_size=2, max_size=4), max_size=6)
MEETING = re.compile("[a-z]1*(?=[中国])|[中国](?=[a-z])")
ENCODING = Encoding("char", ("FW", "NN", "VV"), "BIES", True, False)
GLUED = ("t恤", "卡拉ok", "aa制", "mp3机")


def letter_words(words: list[str] | tuple[str, ...], english: English = "tags") -> LetterWords:
    folding = Folding(letters="cased")
    found = LetterWords.of(Reading(folding, Dictionary(map(ListedWord, words)).folded(folding)), english)
    assert found is not None
    return found


def units_of(text: str) -> UnitBatch:
    return units_of_texts([text], ENCODING, WHOLE_KINDS)


def is_glued(text: str, at: int, words: list[str]) -> bool:
    """Whether a known word, in any case, stands around a place without cutting a run of letters."""
    edges = {k for k in range(len(text) + 1) if not re.fullmatch("[a-z]{2}", text[max(k - 1, 0) : k + 1])}
    return any(
        text[a:b] in words and at - a in {meeting.end() for meeting in MEETING.finditer(text[a:b])}
        for a in range(at)
        for b in range(at + 1, len(text) + 1)
        if a in edges and b in edges
    )


@given(WORDS, st.text(CHARACTERS, min_size=1, max_size=9))
def test_han_and_letters_are_glued_where_brute_force_finds_a_word(words: list[str], text: str) -> None:
    units = units_of(text)
    known, facts = units.known, letter_words(words).facts(units)
    lower = text.lower()
    for unit, (begin, _) in enumerate(units.spans.tolist()):
        meets = begin in {meeting.end() for meeting in MEETING.finditer(lower)}
        must_begin = meets and not is_glued(lower, begin, words) and not known[unit] & 2
        assert bool(facts[unit] & BEGINS) == (bool(known[unit] & BEGINS) or must_begin)


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("真nice", [1]),
        ("太NICE了", [1, 2]),
        ("穿T恤的", [1]),
        ("唱卡拉ＯＫ吧", [4]),
        ("穿TT恤", [1, 2]),
        ("买iPhone15吧", [1, 4]),
        ("买iPhone15", [1]),
        ("听mp3机", [1]),
        ("听mp4机", [1, 3]),
        ("15吧", []),
        ("nice", []),
    ],
)
def test_a_word_begins_where_han_and_letters_meet_by_accident(text: str, cuts: list[int]) -> None:
    units = units_of(text)
    facts = letter_words(GLUED).facts(units)
    assert np.flatnonzero((facts & BEGINS) & ~units.known).tolist() == cuts


def test_tags_bar_the_foreign_tag_and_the_standard_asks_for_it() -> None:
    units = units_of("别check，穿T恤")
    assert (letter_words(GLUED).facts(units) & NOT_FOREIGN).nonzero()[0].tolist() == [1, 4]
    assert (letter_words(GLUED, "standard").facts(units) & ONLY_FOREIGN).nonzero()[0].tolist() == [1]


def test_labels_follow_from_the_facts() -> None:
    barred = ENCODING.barred_by({"foreign": ("FW",)})
    is_foreign = [label.endswith("FW") for label in ENCODING.labels]
    assert ((barred & NOT_FOREIGN) != 0).tolist() == is_foreign
    assert ((barred & ONLY_FOREIGN) == 0).tolist() == is_foreign
    assert not (ENCODING.barred_by({"foreign": ("nx",)}) & (NOT_FOREIGN | ONLY_FOREIGN)).any()


def test_several_texts_are_marked_each_in_its_place() -> None:
    units = units_of_texts(["真nice", "", "ok 的", "好X啊"], ENCODING, WHOLE_KINDS)
    facts = letter_words(()).facts(units)
    assert (facts & NOT_FOREIGN).nonzero()[0].tolist() == [1, 2, 5]
    assert ((facts & BEGINS) & ~units.known).nonzero()[0].tolist() == [1, 5, 6]


def test_other_models_know_nothing_of_it() -> None:
    assert LetterWords.of(Reading(Folding()), "tags") is None
    assert LetterWords.of(None, "tags") is None
    assert not GluedWords([]).covers("真nice", 1)

"""Scores of alphabetic words."""

from __future__ import annotations

from duilian import Layer
from duilian.evaluation.judged import Judged
from duilian.evaluation.letters import is_in_letters, letter_scores


def test_words_in_letters_by_tag() -> None:
    gold = Layer(("我", "like", "这", "个", "app", "wow"), ("r", "v", "r", "q", "n", "v"))
    guess = Layer(("我", "like", "这个", "app", "wo", "w"), ("r", "v", "r", "v", "n", "v"))
    found = letter_scores(Judged.of([gold], [guess]))
    assert {name: (each.gold, each.guess, each.correct) for name, each in found.items()} == {
        "all": (3, 4, 1),  # like is right, app has another tag, wow is cut
        "v": (2, 3, 1),
        "n": (1, 1, 0),
    }


def test_what_is_in_letters() -> None:
    assert [*map(is_in_letters, ("app", "ENG", "4G", "é", "词", "a b"))] == [True, True, *[False] * 4]

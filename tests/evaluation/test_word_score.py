"""Words by their place in the text, with and without tags, known and unknown."""

from __future__ import annotations

import itertools

import naive_scores
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.errors import ConfigError
from duilian.evaluation import Score, align, recall_by_vocabulary, word_score, word_tag_score

TAGS = st.sampled_from(["NN", "VV"])
GOLD_TAGS = st.one_of(st.none(), TAGS, st.frozensets(TAGS, min_size=1))


def cut(text, places):
    edges = [0, *sorted(places), len(text)]
    return [text[i:j] for i, j in itertools.pairwise(edges)] if text else []


@st.composite
def sentences(draw):
    """(gold words, gold tags, guessed words, guessed tags), over few characters so that words recur."""
    text = draw(st.text("天地𠀀a", max_size=7))
    places = st.sets(st.integers(1, max(1, len(text) - 1)), max_size=5 if len(text) > 1 else 0)
    gold, guess = cut(text, draw(places)), cut(text, draw(places))
    count = {"min_size": len(gold), "max_size": len(gold)}
    gold_tags = draw(st.lists(GOLD_TAGS, **count))
    guess_tags = draw(st.lists(TAGS, min_size=len(guess), max_size=len(guess)))
    return gold, gold_tags, guess, guess_tags


def test_words_by_hand():
    # 上海|大学|生 and 上海|大|学生 share 上海; the second sentence is the same on both sides.
    gold = [["上海", "大学", "生"], ["来"]]
    guess = [["上海", "大", "学生"], ["来"]]
    score = word_score(gold, guess)
    assert score == Score(4, 4, 2)
    assert score.as_json() == {"precision": 50.0, "recall": 50.0, "f1": 50.0}


def test_precision_and_recall_are_not_each_other():
    score = word_score([["ab"]], [["a", "b"]])
    assert score == Score(1, 2, 0)
    score = word_score([["ab", "c"]], [["a", "b", "c"]])
    assert (score.precision, score.recall, score.f1) == pytest.approx((100 / 3, 50, 40))


def test_the_same_word_elsewhere_is_not_the_same_word():
    assert word_score([["a", "aa"]], [["aa", "a"]]) == Score(2, 2, 0)


def test_words_with_tags_by_hand():
    gold = [["上海", "大学", "生"]], [["NR", "NN", "NN"]]
    guess = [["上海", "大学", "生"]], [["NR", "VV", "NN"]]
    assert word_tag_score(gold, guess) == Score(3, 3, 2)


def test_a_word_without_a_gold_tag_counts_on_neither_side():
    gold = [["a", "b", "cd"]], [[None, frozenset({"NN", "VV"}), None]]
    assert word_tag_score(gold, ([["a", "b", "c", "d"]], [["NN", "VV", "NN", "NN"]])) == Score(1, 3, 1)


def test_recall_of_known_and_unknown_words_by_hand():
    split = recall_by_vocabulary([["ab", "c", "d", "e"]], [["ab", "cd", "e"]], {"ab", "c"})
    assert (split.known_recall, split.unknown_recall, split.share) == (50.0, 50.0, 50.0)
    split = recall_by_vocabulary([["ab", "c"]], [["ab", "c"]], {"c"})
    assert (split.known, split.known_found, split.unknown, split.unknown_found) == (1, 1, 1, 1)


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_nothing_is_zero_of_nothing(rows):
    alignment = align(rows, rows)
    assert alignment.is_same
    assert alignment.word_counts().tolist() == [[0, 0, 0]] * len(rows)
    assert word_score(rows, rows).f1 == 0.0


def test_an_empty_sentence_between_others_keeps_its_place():
    assert align([["a"], [], ["b"]], [["a"], [], ["b"]]).word_counts()[:, 2].tolist() == [1, 0, 1]


def test_characters_beyond_the_basic_plane_are_one_character():
    assert word_score([["𠀀", "𠀁b"]], [["𠀀", "𠀁", "b"]]) == Score(2, 3, 1)


@pytest.mark.parametrize(
    ("gold", "guess", "message"),
    [
        ([["a"], ["bcd"]], [["a"], ["b", "xd"]], "sentence 2: .* from character 2 on: 'cd' and 'xd'"),
        ([["ab"]], [["a"]], "sentence 1: .* from character 2 on: 'b' and ''"),
        ([["a", ""]], [["a"]], "sentence 1: word 2 of gold is empty"),
        ([["a"]], [["", "a"]], "sentence 1: word 1 of guess is empty"),
        ([["a"], ["b"]], [["a"]], "1 sentence of guess, but more of gold"),
    ],
)
def test_sides_that_do_not_fit(gold, guess, message):
    with pytest.raises(ConfigError, match=message):
        align(gold, guess)


def test_tags_that_do_not_fit_the_words():
    alignment = align([["a"], ["b", "c"]], [["a"], ["bc"]])
    with pytest.raises(ConfigError, match="sentence 2: guess has 1 word, but 2 tags"):
        alignment.word_tag_counts([["NN"], ["NN", "NN"]], [["NN"], ["NN", "NN"]])
    with pytest.raises(ConfigError, match="1 sentence of gold tags, but more of gold words"):
        alignment.word_tag_counts([["NN"]], [["NN"], ["NN"]])


@settings(deadline=None)
@given(st.lists(sentences(), max_size=5))
def test_counts_equal_sets_of_spans(corpus):
    gold, gold_tags, guess, guess_tags = ([row[k] for row in corpus] for k in range(4))
    alignment = align(gold, guess)
    expected = [naive_scores.word_counts(a, b) for a, b in zip(gold, guess, strict=True)]
    assert alignment.word_counts().tolist() == expected
    assert alignment.word_tag_counts(gold_tags, guess_tags).tolist() == [
        naive_scores.word_tag_counts(*row) for row in corpus
    ]
    assert alignment.is_same == (gold == guess)
    split = alignment.by_vocabulary({"天", "a天"})
    flat = [word for row in gold for word in row]
    assert split.known == sum(word in {"天", "a天"} for word in flat)
    assert split.unknown == len(flat) - split.known
    assert split.known_found + split.unknown_found == sum(row[2] for row in expected)


@settings(deadline=None)
@given(st.lists(sentences(), max_size=4))
def test_matched_words_spell_the_same(corpus):
    alignment = align([row[0] for row in corpus], [row[2] for row in corpus])
    guess = [word for row in corpus for word in row[2]]
    for t in np.flatnonzero(alignment.match >= 0).tolist():
        assert alignment.gold_words[t] == guess[alignment.match[t]]

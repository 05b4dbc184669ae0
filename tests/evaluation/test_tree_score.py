"""Attachment scores on trees worked out by hand, with punctuation and without."""

from __future__ import annotations

import dataclasses
import random

import pytest

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import (
    attachment_counts,
    complete_counts,
    evaluate_layers,
    p_value,
    root_counts,
    tree_score,
)
from duilian.text import is_punctuation

GOLD = Layer(
    ("他", "看", "书", "。"), ("PN", "VV", "NN", "PU"), (2, 0, 2, 2), ("nsubj", "root", "obj", "punct")
)
# 书 below 。 and 。 below 他: one of three words, and two of four, are wrong; 他 has a wrong relation.
GUESS = dataclasses.replace(GOLD, heads=(2, 0, 4, 1), relations=("obj", "root", "obj", "punct"))


def test_figures_by_hand():
    found = tree_score([GOLD], [GUESS])
    assert found is not None
    assert (found.uas, found.las) == (pytest.approx(200 / 3), pytest.approx(100 / 3))
    assert (found.root, found.complete) == (100.0, 0.0)
    assert found.as_json()["with_punctuation"] == {"uas": 50.0, "las": 25.0}


def test_a_wrong_head_of_punctuation_does_not_spoil_a_complete_match():
    guess = dataclasses.replace(GOLD, heads=(2, 0, 2, 3))
    assert complete_counts([GOLD], [guess]).tolist() == [[1, 1, 1]]
    assert attachment_counts([GOLD], [guess], punctuation=True).tolist() == [[4, 4, 3]]
    assert attachment_counts([GOLD], [guess]).tolist() == [[3, 3, 3]]


def test_another_root_is_wrong():
    guess = dataclasses.replace(GOLD, heads=(0, 1, 2, 2))
    assert root_counts([GOLD, GOLD], [guess, GOLD]).tolist() == [[1, 1, 0], [1, 1, 1]]


def test_what_gold_does_not_say_is_not_judged():
    gold = dataclasses.replace(GOLD, heads=(2, None, None, 2), relations=(None, None, None, "punct"))
    assert attachment_counts([gold], [GUESS], punctuation=True).tolist() == [[2, 2, 1]]
    assert attachment_counts([gold], [GUESS], punctuation=True, labelled=True).tolist() == [[1, 1, 0]]
    assert complete_counts([gold], [GUESS]).tolist() == [[0, 0, 0]]
    assert root_counts([gold], [GUESS]).tolist() == [[0, 0, 0]]


def test_a_sentence_of_punctuation_only():
    dots = Layer(("…", "！"), None, (0, 1), ("root", "punct"))
    found = tree_score([dots], [dots])
    assert found is not None
    assert (found.uas, found.complete, found.root) == (0.0, 100.0, 100.0)
    assert found.uas_with_punctuation == 100.0


@pytest.mark.parametrize(
    ("word", "expected"),
    [("。", True), ("，", True), ("...", True), ("「", True), ("+", False), ("3.5", False), ("的", False)],
)
def test_what_punctuation_is(word: str, expected: bool):
    assert is_punctuation(word) is expected


def test_without_heads_there_are_no_figures():
    bare = dataclasses.replace(GOLD, heads=None)
    assert tree_score([bare], [GUESS]) is None
    assert tree_score([GOLD], [bare]) is None


def test_without_relations_there_is_no_labelled_figure():
    bare = dataclasses.replace(GOLD, relations=None)
    found = tree_score([bare], [GUESS])
    assert found is not None
    assert found.las is None
    assert set(found.as_json()) == {"uas", "root", "complete", "with_punctuation"}
    assert found.as_json()["with_punctuation"] == {"uas": 50.0}


def test_subtypes_of_relations_by_hand():
    """In the guess 看 has another subtype, 书 another relation; 他 and 。 are right."""
    gold = dataclasses.replace(GOLD, relations=("nsubj", "root:a", "obj", "punct"))
    guess = dataclasses.replace(GOLD, relations=("nsubj", "root:b", "nsubj", "punct"))
    found = tree_score([gold], [guess])
    assert found is not None
    assert (found.las, found.las_with_punctuation) == (pytest.approx(100 / 3), 50.0)
    assert (found.las_without_subtypes, found.las_of_all_without_subtypes) == (pytest.approx(200 / 3), 75.0)
    assert attachment_counts([gold], [guess], labelled=True).tolist() == [[3, 3, 1]]
    for pair in ((gold, GOLD), (GOLD, guess)):  # it is enough if one of them has subtypes
        assert tree_score([pair[0]], [pair[1]]).las_without_subtypes is not None
    assert tree_score([GOLD], [GUESS]).las_without_subtypes is None


def test_sentences_without_annotation_among_others():
    bare = Layer(GOLD.words)
    found = tree_score([GOLD, bare], [GOLD, bare])
    assert found is not None
    assert (found.uas, found.las, found.root) == (100.0, 100.0, 100.0)
    assert tree_score([GOLD, GOLD], [GOLD, bare]).las == 50.0


def test_other_words_are_refused():
    with pytest.raises(ConfigError, match=r"sentence 1: .* same number of words, got 4 and 1"):
        tree_score([GOLD], [Layer(("他看书。",), None, (0,))])


def test_an_evaluation_has_the_figures_of_trees_at_its_top():
    found = evaluate_layers([GOLD], [GUESS], standard="ud").as_json()
    assert list(found)[-5:] == ["uas", "las", "root", "complete", "with_punctuation"]
    assert found["accuracy"] == 100.0
    rows = dict(evaluate_layers([GOLD], [GUESS], standard="ud").rows())
    assert rows["uas"] == "66.67"
    assert rows["with punctuation las"] == "25.00"
    other = [Layer(("他看", "书", "。"), None, (2, 0, 2))]
    assert "uas" not in evaluate_layers([GOLD], other, standard="ud").as_json()


def test_counts_serve_the_test_of_significance():
    """One system gets a third of the heads wrong in each of 40 sentences: that is no accident."""
    gold = [GOLD] * 40
    right, wrong = attachment_counts(gold, gold), attachment_counts(gold, [GUESS] * 40)
    assert p_value(right, wrong, "accuracy", trials=500) < 0.01
    assert p_value(right, right, "accuracy", trials=500) == 1.0


def test_random_trees_against_a_count_word_by_word():
    rng = random.Random(1)
    words = ("他", "。", "看", "书", "，")
    gold, guess, right, total = [], [], 0, 0
    for _ in range(50):
        heads = [tuple(rng.randrange(3) for _ in words) for _ in range(2)]
        gold.append(Layer(words, None, heads[0]))
        guess.append(Layer(words, None, heads[1]))
        for place in (0, 2, 3):
            total += 1
            right += heads[0][place] == heads[1][place]
    found = tree_score(gold, guess)
    assert found is not None
    assert found.uas == pytest.approx(100 * right / total)


def test_punctuation_makes_no_tree_incomplete() -> None:
    gold, guess = (Layer(("他", "来", "。"), None, (2, 0, head), ("x", "root", "p")) for head in (2, 1))
    assert complete_counts([gold], [guess]).tolist() == [[1, 1, 1]]
    assert complete_counts([guess], [gold]).tolist() == [[1, 1, 1]]

"""Which metrics are computed, their values, and how they look as JSON and to people."""

from __future__ import annotations

import json

import pytest

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import Score, UnknownWords, evaluate_layers, main_score

GOLD = [Layer(("他", "来", "北京"), ("PN", "VV", "NR")), Layer(("好",), ("VA",))]
SAME_WORDS = [Layer(("他", "来", "北京"), ("PN", "VV", "NN")), Layer(("好",), ("VA",))]
OTHER_WORDS = [Layer(("他", "来北", "京"), ("PN", "VV", "NR")), Layer(("好",), ("AD",))]
BARE = [Layer(layer.words) for layer in GOLD]


def test_same_words_have_an_accuracy():
    found = evaluate_layers(GOLD, SAME_WORDS, standard="ctb")
    assert (found.standard, found.sentences, found.tokens) == ("ctb", 2, 4)
    assert found.accuracy == 75.0
    assert found.word == Score(4, 4, 4)
    assert found.word_tag == Score(4, 4, 3)
    assert (found.chunk, found.oov, found.seconds, found.tokens_per_second) == (None, None, None, None)


def test_other_words_have_no_accuracy():
    found = evaluate_layers(GOLD, OTHER_WORDS, standard="ctb")
    assert (found.accuracy, found.chunk) == (None, None)
    assert found.word == Score(4, 4, 2)
    assert found.word_tag == Score(4, 4, 1)


@pytest.mark.parametrize(("gold", "guess"), [(BARE, GOLD), (GOLD, BARE), (BARE, BARE)])
def test_without_tags_there_are_only_words(gold, guess):
    found = evaluate_layers(gold, guess, standard="ctb", vocabulary={"他"})
    assert (found.accuracy, found.word_tag, found.chunk) == (None, None, None)
    assert found.word == Score(4, 4, 4)
    assert found.oov == UnknownWords(tokens=3, share=75.0, recall=100.0, known_recall=100.0)


def test_a_sentence_that_was_not_tagged_is_wrong_but_one_without_gold_is_not_counted():
    assert evaluate_layers(GOLD, [GOLD[0], BARE[1]], standard="ctb").accuracy == 75.0
    assert evaluate_layers([GOLD[0], BARE[1]], GOLD, standard="ctb").accuracy == 100.0


def test_one_number_for_comparing_taggers():
    assert main_score(GOLD, SAME_WORDS, is_cut=False) == 75.0
    assert main_score([GOLD[0], BARE[1]], SAME_WORDS, is_cut=False) == pytest.approx(200 / 3)
    longer = [Layer(("他", "来", "北", "京"), ("PN", "VV", "NN", "NN")), GOLD[1]]
    assert main_score(GOLD, [Layer(layer.words) for layer in longer], is_cut=True) == pytest.approx(600 / 9)
    wrong = [Layer(("他", "来", "北", "京"), ("PN", "NN", "NN", "NN")), GOLD[1]]
    assert main_score(GOLD, wrong, is_cut=True) == pytest.approx(400 / 9)
    assert main_score(GOLD, [wrong[0], BARE[1]], is_cut=True) == pytest.approx(200 / 9)


def test_partial_gold():
    gold = [Layer(("a", "b", "c"), (None, frozenset({"NN", "VV"}), "P"))]
    found = evaluate_layers(gold, [Layer(("a", "b", "c"), ("X", "VV", "NN"))], standard="x")
    assert found.accuracy == 50.0
    assert found.word_tag == Score(2, 2, 1)


def test_unknown_words_by_hand():
    found = evaluate_layers(GOLD, SAME_WORDS, standard="ctb", vocabulary={"他", "来"})
    assert found.oov == UnknownWords(
        tokens=2, share=50.0, recall=100.0, known_recall=100.0, accuracy=50.0, known_accuracy=100.0
    )
    found = evaluate_layers(GOLD, OTHER_WORDS, standard="ctb", vocabulary={"他", "来"})
    assert found.oov == UnknownWords(tokens=2, share=50.0, recall=50.0, known_recall=50.0)


def test_figures_of_words_that_do_not_occur_are_left_out():
    found = evaluate_layers(GOLD, GOLD, standard="ctb", vocabulary={"他", "来", "北京", "好"})
    assert found.oov is not None
    assert found.oov.as_json() == {
        "tokens": 0,
        "share": 0.0,
        "known_recall": 100.0,
        "known_accuracy": 100.0,
    }


def test_chunk_labels_have_chunks():
    gold = [Layer(("a", "b", "c"), ("B-NP", "I-NP", "O"))]
    assert evaluate_layers(gold, gold, standard="x").chunk == Score(1, 1, 1)
    guess = [Layer(("a", "b", "c"), ("B-NP", None, "B-NP"))]
    assert evaluate_layers(gold, guess, standard="x").chunk == Score(1, 2, 0)
    with pytest.raises(ConfigError, match="sentence 1: 'NN' is not a chunk label"):
        evaluate_layers(gold, [Layer(("a", "b", "c"), ("NN", "NN", "NN"))], standard="x")


def test_errors_name_the_sentence():
    with pytest.raises(ConfigError, match="sentence 2: gold and guess have different text"):
        evaluate_layers(GOLD, [GOLD[0], Layer(("坏",))], standard="ctb")
    with pytest.raises(ConfigError, match="1 sentence of guess, but more of gold"):
        evaluate_layers(GOLD, GOLD[:1], standard="ctb")
    with pytest.raises(ConfigError, match="sentence 1: guess has 1 word, but 2 tags"):
        evaluate_layers([Layer(("a",), ("X",))], [Layer(("a",), ("X", "X"))], standard="x")


def test_nothing_to_evaluate():
    found = evaluate_layers([], [], standard="x", vocabulary=set())
    assert (found.sentences, found.tokens, found.accuracy, found.word) == (0, 0, None, Score(0, 0, 0))


def test_json_has_the_keys_in_order_and_keeps_all_digits():
    gold = [Layer(("a", "b", "c"), ("B-NP", "I-NP", "O"))]
    guess = [Layer(("a", "b", "c"), ("B-NP", "I-NP", "B-NP"))]
    found = evaluate_layers(gold, guess, standard="x", vocabulary={"a"}).timed(0.5).as_json()
    assert list(found) == [
        "standard",
        "sentences",
        "tokens",
        "accuracy",
        "word",
        "word_tag",
        "chunk",
        "oov",
        "seconds",
        "tokens_per_second",
    ]
    assert found["accuracy"] == 200 / 3
    assert found["chunk"] == {"precision": 50.0, "recall": 100.0, "f1": 200 / 3}
    assert found["tokens_per_second"] == 6.0
    assert json.loads(json.dumps(found)) == found


def test_json_has_only_what_there_is():
    assert list(evaluate_layers(BARE, BARE, standard="x").as_json()) == [
        "standard",
        "sentences",
        "tokens",
        "word",
    ]


def test_rows_for_people_have_two_decimals():
    rows = dict(evaluate_layers(GOLD, OTHER_WORDS, standard="ctb").timed(0.0).rows())
    assert rows["standard"] == "ctb"
    assert rows["tokens"] == "4"
    assert rows["word tag f1"] == "25.00"
    # Zero seconds give no speed.
    assert "tokens per second" not in rows

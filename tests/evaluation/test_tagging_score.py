"""Tags: accuracy with partial gold, each tag separately, confusions, known and unknown words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.errors import ConfigError
from duilian.evaluation import Score, accuracy, tag_counts, tagging_by_vocabulary, tagging_score

TAGS = st.sampled_from(["NN", "VV", "P"])
GOLD_TAGS = st.one_of(st.none(), TAGS, st.frozensets(TAGS, min_size=1))
TOKENS = st.lists(st.lists(st.tuples(GOLD_TAGS, TAGS, st.sampled_from("abc")), max_size=5), max_size=5)


def test_accuracy_by_hand():
    assert accuracy([["NN", "VV"], ["P"]], [["NN", "NN"], ["P"]]) == pytest.approx(200 / 3)


def test_unknown_gold_is_not_counted_and_a_set_is_right_if_it_has_the_guess():
    gold = [[None, frozenset({"NN", "VV"}), frozenset({"NN", "VV"}), "P"]]
    assert accuracy(gold, [["NN", "VV", "P", "P"]]) == pytest.approx(200 / 3)


def test_a_guess_that_is_no_tag_is_wrong():
    both = frozenset({"NN", "VV"})
    assert accuracy([["NN", both, "NN"]], [[None, both, "NN"]]) == pytest.approx(100 / 3)


@pytest.mark.parametrize("gold", [[], [[]], [[None]]])
def test_nothing_to_judge_is_zero(gold):
    assert accuracy(gold, [["NN"] * len(row) for row in gold]) == 0.0


def test_each_tag_by_hand():
    score = tagging_score([["NN", "NN", "VV", "P"]], [["NN", "VV", "VV", "VV"]])
    assert score.by_tag() == {"NN": Score(2, 1, 1), "P": Score(1, 0, 0), "VV": Score(1, 3, 1)}
    assert score.by_tag()["VV"].precision == pytest.approx(100 / 3)
    assert score.by_tag()["NN"].f1 == pytest.approx(200 / 3)


def test_a_set_counts_as_the_tag_that_was_guessed_from_it():
    either = frozenset({"NN", "VV"})
    score = tagging_score([[either, either]], [["NN", "P"]])
    assert score.by_tag() == {"NN": Score(1, 1, 1), "P": Score(0, 1, 0)}


def test_confusions_come_by_frequency_then_name():
    gold = [["NN", "NN", "VV", "P", frozenset({"VV", "NN"}), "P", None]]
    score = tagging_score(gold, [["VV", "VV", "NN", "NN", "P", None, "P"]])
    assert list(score.confusions().items()) == [
        (("NN", "VV"), 2),
        (("P", "?"), 1),
        (("P", "NN"), 1),
        (("VV", "NN"), 1),
        (("{NN|VV}", "P"), 1),
    ]


def test_known_and_unknown_words_by_hand():
    words, gold, guess = [["a", "b", "c", "d"]], [["NN", "NN", None, "P"]], [["NN", "VV", "VV", "P"]]
    split = tagging_by_vocabulary(words, gold, guess, {"a", "c"})
    assert (split.known.accuracy, split.unknown.accuracy) == (100.0, 50.0)
    assert split.share == pytest.approx(200 / 3)


@pytest.mark.parametrize(
    ("gold", "guess", "message"),
    [
        ([["NN"], ["NN", "P"]], [["NN"], ["NN"]], "sentence 2: .* same number of tags, got 2 and 1"),
        ([["NN"]], [], "0 sentences of guess, but more of gold"),
        ([], [["NN"]], "0 sentences of gold, but more of guess"),
    ],
)
def test_sides_that_do_not_fit(gold, guess, message):
    for measure in (accuracy, tag_counts):
        with pytest.raises(ConfigError, match=message):
            measure(gold, guess)


def test_words_that_do_not_fit_the_tags():
    with pytest.raises(ConfigError, match="sentence 1 has 2 words, but 1 tag"):
        tagging_by_vocabulary([["a", "b"]], [["NN"]], [["NN"]], set())
    with pytest.raises(ConfigError, match="1 sentence of words, but more of tags"):
        tagging_by_vocabulary([["a"]], [["NN"], ["P"]], [["NN"], ["P"]], set())


@settings(deadline=None)
@given(TOKENS)
def test_all_figures_equal_plain_counting(sentences):
    gold, guess, words = ([[token[k] for token in row] for row in sentences] for k in range(3))
    judged = [token for row in sentences for token in row if token[0] is not None]
    right = [x for x in judged if x[1] in (x[0] if isinstance(x[0], frozenset) else {x[0]})]
    score = tagging_score(gold, guess)
    assert (score.tokens, score.correct) == (len(judged), len(right))
    assert Score.of(tag_counts(gold, guess)) == Score(len(judged), len(judged), len(right))
    assert sum(score.confusions().values()) == len(judged) - len(right)
    by_tag = score.by_tag()
    assert sum(part.guess for part in by_tag.values()) == len(judged)
    assert sum(part.correct for part in by_tag.values()) == len(right)
    split = tagging_by_vocabulary(words, gold, guess, {"a"})
    assert split.known.tokens == sum(word == "a" for _, _, word in judged)
    assert split.known.correct == sum(word == "a" for _, _, word in right)
    assert split.known.correct + split.unknown.correct == len(right)


def test_generators_will_do():
    assert accuracy(iter([["NN"]]), (row for row in [["NN"]])) == 100.0

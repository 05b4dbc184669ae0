"""Two systems and more: differences, exact p-values, runs, what changed, and the time it takes."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy.stats import binomtest

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import McNemar, compare_layers, mcnemar
from duilian.evaluation.comparison import METRICS, TITLES

GOLD = [Layer((f"w{k}", "x"), ("A", "B")) for k in range(12)]


def wrong_in(places: range, tag: str = "C") -> list[Layer]:
    """Gold with a wrong first tag in some sentences."""
    return [Layer(each.words, (tag, "B")) if k in places else each for k, each in enumerate(GOLD)]


def test_p_of_constructed_data_is_exact() -> None:
    # One system is right in 8 sentences where the other is wrong, never the other way round: of the 2^8 swaps
    # only two, of all and of none, give as large a difference.
    found = compare_layers(GOLD, {"bad": [wrong_in(range(8))], "good": [GOLD]}, trials=200_000)
    (each,) = found.contrasts[0].differences
    assert each.metric == "accuracy"
    assert each.difference == pytest.approx(100 * 8 / 24)
    assert each.p == pytest.approx(2 / 256, abs=0.001)
    assert each.low < each.difference < each.high
    assert found.contrasts[0].tokens == McNemar(0, 8)
    assert found.contrasts[0].tokens.p == pytest.approx(2 / 256)


def test_p_of_wins_and_losses_is_binomial() -> None:
    # 9 wins and 3 losses of one token each: |wins - losses| >= 6 in 2 P(X <= 3), X ~ B(12, 1/2).
    a, b = wrong_in(range(9)), wrong_in(range(9, 12))
    (each,) = compare_layers(GOLD, {"a": [a], "b": [b]}, trials=200_000).contrasts[0].differences
    exact = 2 * sum(math.comb(12, k) for k in range(4)) / 2**12
    assert each.p == pytest.approx(exact, abs=0.005)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (3, 7), (40, 60), (500, 430), (5000, 5300)])
def test_mcnemar_is_the_binomial_test(a: int, b: int) -> None:
    expected = binomtest(a, a + b).pvalue if a + b else 1.0
    assert McNemar(a, b).p == pytest.approx(expected, rel=1e-9)
    right_a = np.array([True] * a + [False] * b, np.bool_)
    assert mcnemar(right_a, ~right_a) == McNemar(a, b)


def test_several_runs_have_mean_and_spread() -> None:
    runs = [wrong_in(range(6)), wrong_in(range(8))]
    found = compare_layers(GOLD, {"bad": runs, "good": [GOLD]}, trials=1000)
    bad, good = found.systems
    assert (bad.runs, good.runs) == (2, 1)
    assert bad.scores["accuracy"] == pytest.approx([75.0, 100 * 16 / 24])
    assert bad.mean("accuracy") == pytest.approx(np.mean(bad.scores["accuracy"]))
    assert bad.spread("accuracy") == pytest.approx(np.std(bad.scores["accuracy"], ddof=1))
    assert good.spread("accuracy") is None
    rows = [dict(zip(TITLES, row, strict=True)) for row in found.rows()]
    assert [
        (row["system"], row["runs"], row["spread"]) for row in rows if row["metric"] == METRICS["accuracy"]
    ] == [
        ("bad", 2, bad.spread("accuracy")),
        ("good", 1, None),
    ]
    assert found.contrasts[0].tokens is None
    assert found.contrasts[0].differences[0].difference == pytest.approx(100 * 7 / 24)
    assert found.contrasts[0].tags[0].first == 7.0


def test_what_changed() -> None:
    a, b = wrong_in(range(2)), wrong_in(range(1, 2), "D")
    found = compare_layers(GOLD, {"a": [a], "b": [b]}, trials=10).contrasts[0]
    assert [(x.gold, x.guess, x.first, x.other) for x in found.tags] == [("A", "C", 2, 0), ("A", "D", 0, 1)]
    assert [(x.word, x.count, x.first, x.other) for x in found.words] == [("w0", 1, 0, 1)]
    assert found.words[0].example == "[w0] x"
    (sentence,) = found.sentences
    assert (sentence.number, sentence.gained, sentence.lost) == (1, 1, 0)
    assert sentence.first == (("w0", "C"), ("x", "B"))


def test_words_that_one_system_cuts_are_scored_as_cut_for_all() -> None:
    cut = [Layer(("w", "0", "x"), ("A", "A", "B")), *GOLD[1:]]
    found = compare_layers(GOLD, {"cut": [cut], "same": [GOLD]}, trials=10)
    assert list(found.systems[0].scores) == ["word", "word_tag", "character"]
    assert found.contrasts[0].tags[0].guess == "(no word)"


def test_tags_that_only_one_system_has_are_not_judged() -> None:
    bare = [Layer(each.words) for each in GOLD]
    found = compare_layers(GOLD, {"bare": [bare], "wrong tags": [wrong_in(range(9))]}, trials=10)
    assert list(found.systems[0].scores) == ["word"]
    assert found.contrasts[0].tokens == McNemar(0, 0)
    assert found.contrasts[0].tags == []


def test_trees() -> None:
    gold = [Layer(("a", "b"), ("X", "Y"), (0, 1), ("root", "obj"))] * 4
    wrong = [Layer(("a", "b"), ("X", "Y"), (0, 1), ("root", "dep"))] * 4
    found = compare_layers(gold, {"wrong": [wrong], "right": [gold]}, trials=10)
    assert found.systems[0].mean("uas") == 100.0
    assert found.systems[0].mean("las") == 50.0
    assert found.contrasts[0].relations[0].guess == "dep"
    sentence = found.contrasts[0].sentences[0]
    assert sentence.gold == sentence.other == (("a", "X"), ("b", "Y←a obj"))
    assert sentence.first == (("a", "X"), ("b", "Y←a dep"))
    cut = [Layer(("ab",), ("X",), (0,), ("root",))] * 4
    found = compare_layers(gold, {"cut": [cut], "right": [gold]}, trials=10)
    assert found.systems[1].mean("raw_las") == 100.0
    assert found.systems[0].mean("raw_las") == 0.0


def test_three_systems_and_their_table() -> None:
    found = compare_layers(GOLD, {"a": [wrong_in(range(3))], "b": [GOLD], "<c>": [GOLD]}, trials=10)
    assert [(each.first, each.other) for each in found.contrasts] == [("a", "b"), ("a", "<c>")]
    assert [row[1] for row in found.rows()] == ["a", "b", "<c>"]
    assert "&lt;c&gt;" in found._repr_html_()
    assert found.to_dict()["contrasts"][1]["other"] == "<c>"
    with pytest.raises(ConfigError, match="at least two systems"):
        compare_layers(GOLD, {"a": [GOLD]})


def test_five_thousand_sentences_take_seconds() -> None:
    rng = np.random.default_rng(1)
    gold = [Layer(("词",) * 20, ("A",) * 20) for _ in range(5000)]
    answers = [
        [Layer(each.words, tuple("A" if x > 0.06 else "B" for x in rng.random(20))) for each in gold]
        for _ in range(2)
    ]
    start = time.process_time()
    found = compare_layers(gold, {"a": [answers[0]], "b": [answers[1]]}, trials=10_000)
    assert time.process_time() - start < 5.0
    assert 0 < found.contrasts[0].differences[0].p <= 1

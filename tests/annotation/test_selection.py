"""Selection of words for annotators: which words, format and order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian import Analyzer, Sentence, Tagger, demo, read, write
from duilian.annotation.selection import Review, hardest, most_uncertain, probable_tags, select, select_with
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.learning import AdaGrad

TAGS = ["A", "B", "C", "D", "E", "F"]
probabilities = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def tagger():
    return Tagger("ctb", learning=AdaGrad(iterations=2)).fit(demo.load("ctb", "ctb"))


@given(probabilities, st.floats(0.01, 1.0))
def test_the_hardest_are_below_all_others(best, share):
    found = hardest(np.array(best), share)
    others = set(range(len(best))) - set(found)
    assert found == sorted(set(found))
    assert 1 <= len(found) <= len(best)
    assert abs(len(found) - share * len(best)) < 1
    assert all(best[a] <= best[b] for a in found for b in others)


def test_how_many_are_a_share():
    assert [len(hardest(np.ones(n), 0.2)) for n in (1, 5, 6, 10, 15, 30)] == [1, 1, 2, 2, 3, 6]
    assert hardest(np.array([0.5, 0.4, 0.4, 0.9]), 0.25) == [1], "ties from the left"


def test_candidates_hold_the_mass():
    def of(*values):
        return sorted(probable_tags(np.array(values), TAGS))

    assert of(0.5, 0.3, 0.195, 0.005, 0.0, 0.0) == ["A", "B", "C"]
    assert of(0.0, 1.0, 0.0, 0.0, 0.0, 0.0) == ["A", "B"], "a choice of one is none"
    assert of(0.2, 0.2, 0.2, 0.2, 0.1, 0.1) == ["A", "B", "C", "D"]
    assert sorted(probable_tags(np.array([1.0]), ["A"])) == ["A"]


def test_selected_words_are_the_uncertain_ones(tagger):
    corpus = demo.load("ctb-dev", "ctb")
    for given_sentence, found in zip(corpus, select(tagger, corpus, 0.2), strict=True):
        words = given_sentence["ctb"].words
        (marginals,) = tagger.marginals([words])
        best = marginals.max(axis=1)
        layer = found.sentence["ctb"]
        chosen = [place for place, tag in enumerate(layer.tags) if tag is not None]
        assert layer.words == words
        assert len(chosen) == math.ceil(round(len(words) * 0.2, 9))
        assert max(best[chosen]) <= min(np.delete(best, chosen))
        assert found.uncertainty == pytest.approx(np.mean(1 - best))
        for place in chosen:
            assert tagger.encoding_.labels[int(marginals[place].argmax())] in layer.tags[place]


@pytest.mark.parametrize("form", ["underscore", "slash", "conllu", "columns", "jsonl"])
def test_the_file_is_a_corpus_with_partial_annotation(tagger, tmp_path, form):
    found = [each.sentence for each in select(tagger, demo.load("ctb-dev", "ctb"), 0.2)]
    write(found, tmp_path / "f", format=form, standard="ctb")
    again = read(tmp_path / "f", format=form, standard="ctb")
    assert [each["ctb"].tags for each in again] == [each["ctb"].tags for each in found]
    assert [each["ctb"].words for each in again] == [each["ctb"].words for each in found]
    Tagger("ctb", learning=AdaGrad(iterations=1)).fit(again)


def test_the_most_uncertain_sentences_come_first(tagger):
    everything = list(select(tagger, demo.load("ctb-dev", "ctb"), 0.2))
    found = most_uncertain(everything, 5)
    values = [each.uncertainty for each in found]
    assert values == sorted((each.uncertainty for each in everything), reverse=True)[:5]
    assert most_uncertain(everything[:2], 9) == sorted(everything[:2], key=lambda each: -each.uncertainty)


def test_ids_stay_and_empty_sentences_go(tagger):
    sentences = [Sentence({"ctb": Layer(())}), Sentence({"ctb": Layer(("他", "来"))}, "s1")]
    assert [each.sentence.id for each in select(tagger, sentences, 1.0)] == ["s1"]


def test_what_is_refused(tagger):
    for share in (0.0, -1.0, 1.1, float("nan")):
        with pytest.raises(ConfigError, match="share"):
            list(select(tagger, [], share))
    char = Tagger("ctb", level="char", learning=AdaGrad(iterations=1)).fit(demo.load("both-ctb", "ctb"))
    with pytest.raises(ConfigError, match=r"word-level model\n  hint: use select_with"):
        list(select(char, [], 0.2))
    with pytest.raises(ConfigError, match="share"):
        list(select_with(Analyzer(char), [], 0.0, "ctb"))


def test_both_ways_to_select_agree(tagger):
    """An analyser finds the same words as the tagger in it, and the same best tags."""
    corpus = list(demo.load("ctb-dev", "ctb"))
    found = zip(select(tagger, corpus, 0.2), select_with(Analyzer(tagger), corpus, 0.2, "ctb"), strict=True)
    for by_tagger, by_analyser in found:
        assert by_analyser.uncertainty == pytest.approx(by_tagger.uncertainty, abs=1e-3)
        pairs = zip(by_tagger.sentence["ctb"].tags, by_analyser.sentence["ctb"].tags, strict=True)
        assert all((a is None) == (b is None) for a, b in pairs)
        assert all(a is None or b <= a for a, b in pairs)


@given(st.lists(probabilities, min_size=1, max_size=8), st.floats(0.01, 1.0))
def test_review_takes_the_hardest_of_the_whole_corpus(corpus, share):
    with Review("ctb") as review:
        for number, sure in enumerate(corpus):
            words = [f"{number}:{place}" for place in range(len(sure))]
            review.add(words, [frozenset({"A", word}) for word in words], sure, id=f"s{number}")
        found = list(review.selected(share))
    flat = [p for sure in corpus for p in np.float32(sure).tolist()]
    names = [f"{number}:{place}" for number, sure in enumerate(corpus) for place in range(len(sure))]
    expected = {names[place] for place in hardest(np.array(flat), share)}
    layers = [each["ctb"] for each in found]
    chosen = [(w, tag) for layer in layers for w, tag in zip(layer.words, layer.tags, strict=True) if tag]
    assert {word for word, _ in chosen} == expected
    assert all(tag == {"A", word} for word, tag in chosen)
    assert all(any(layer.tags) for layer in layers), "sentences without hard words are left out"
    assert [each.id for each in found] == sorted((each.id for each in found), key=lambda id: int(id[1:]))


def test_review_shows_words_that_were_cut_differently():
    """Both words of 街上 are as uncertain as the first of them."""
    words, tags = ["球迷们", "在", "街", "上"], [frozenset({"NN"}), frozenset({"P"})] * 2
    with Review("ctb") as review:
        review.add(words, tags, [0.9, 0.6, 0.1, 0.8], given=["球迷", "们", "在", "街上"])
        (half,), (whole,) = list(review.selected(0.5)), list(review.selected(1.0))
    assert half["ctb"].tags == (None, None, {"NN", "街上"}, {"P", "街上"})
    assert whole["ctb"].tags[:2] == ({"NN", "球迷+们"}, {"P"})

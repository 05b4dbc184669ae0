"""The coupled tagger on the demonstration corpora."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from duilian import demo
from duilian.corpus import Corpus, Layer, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.learning import LearnConfig
from duilian.models import CoupledTagger
from duilian.models.coupled import LEARN


@pytest.fixture(scope="module")
def result() -> demo.DemoResult:
    return demo.run()


def corpus(standard: str, *sentences: tuple[str, str]) -> Corpus:
    layers = [Layer(tuple(words.split()), tuple(tags.split())) for words, tags in sentences]
    return Corpus([Sentence({standard: layer}) for layer in layers], standard=standard)


def test_learning_together_beats_learning_alone(result: demo.DemoResult) -> None:
    for standard in demo.STANDARDS:
        assert result.coupled[standard] > result.alone[standard] + 3.0


def test_conversion_keeps_the_given_side_and_is_better_than_tagging(result: demo.DemoResult) -> None:
    for source, target in (("ctb", "pku"), ("pku", "ctb")):
        gold = [sentence[target] for sentence in demo.load(f"both-{target}", target)]
        words = [layer.words for layer in gold]
        guess = [tags[target] for tags in result.tagger.predict(words)]
        converted = result.tagger.convert(demo.load(f"both-{source}", source), source, target)
        right = [sum(a == b for layer, tags in zip(gold, answer, strict=True) for a, b in
                     zip(layer.tags or (), tags, strict=True)) for answer in (guess, converted)]  # fmt: skip
        assert right[1] >= right[0]
        assert right[1] > 0.97 * sum(map(len, gold))


def test_every_tag_pair_respects_the_mapping(result: demo.DemoResult) -> None:
    mapping = result.tagger._mapping(0, 1)
    assert mapping is not None
    # Marginals choose each side's tag by itself, so the pair may differ; the best path may not.
    words = [sentence["ctb"].words for sentence in demo.load("ctb-dev", "ctb")]
    lattices = [result.tagger._lattice(len(each)) for each in words]
    for lattice in lattices:
        tags = lattice.tags
        assert all(mapping(result.tagger.tags_[0][a], result.tagger.tags_[1][b]) for a, b in tags.tolist())


def test_the_same_weights_for_any_number_of_threads() -> None:
    train = [demo.load(s, s)[:60] for s in demo.STANDARDS]
    weights = [
        CoupledTagger(
            demo.STANDARDS,
            mapping="tight",
            learn=dataclasses.replace(LEARN, iterations=2, threads=threads),
        )
        .fit(train)
        .weights_
        for threads in (1, 2, 3)
    ]
    assert weights[0].tobytes() == weights[1].tobytes() == weights[2].tobytes()
    assert np.isfinite(weights[0]).all()


def test_partial_annotation_teaches_what_it_says() -> None:
    known = [("他 走", "PN VV"), ("他 看 书", "PN VV NN")]
    partial = Sentence({"ctb": Layer(("书", "走"), (None, frozenset({"VV", "NN"})))})
    full = corpus("ctb", *known)
    tagger = CoupledTagger(["ctb"]).fit([Corpus([*full, partial], standard="ctb")])
    assert tagger.predict([["他", "走"]]) == [{"ctb": ["PN", "VV"]}]


def test_three_standards_in_one_model() -> None:
    sides = [corpus("a", ("x y", "A B")), corpus("b", ("x y", "1 2")), corpus("c", ("y x", "q p"))]
    tagger = CoupledTagger(["a", "b", "c"], learn=dataclasses.replace(LEARN, iterations=10)).fit(sides)
    assert tagger.predict([["x", "y"]]) == [{"a": ["A", "B"], "b": ["1", "2"], "c": ["p", "q"]}]


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: CoupledTagger([]), ConfigError, "different names"),
        (lambda: CoupledTagger(["a", "a"]), ConfigError, "different names"),
        (lambda: LearnConfig(iterations=0), ConfigError, "iterations"),
        (lambda: CoupledTagger(["a"]).fit([]), ConfigError, "0 corpora for 1 standards"),
        (lambda: CoupledTagger(["a"]).fit([Corpus([], standard="a")]), StandardError, "no tags"),
        (lambda: LearnConfig(rate=0.0), ConfigError, "rate must be > 0"),
        (lambda: LearnConfig(threads=0), ConfigError, "at least 1"),
    ],
)
def test_wrong_settings_are_refused(act: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act()  # type: ignore[operator]


def test_a_tag_unseen_in_training_is_named() -> None:
    tagger = CoupledTagger(["a", "b"]).fit([corpus("a", ("x", "A")), corpus("b", ("x", "1"))])
    with pytest.raises(StandardError, match="'Z' of 'a'"):
        tagger.convert(corpus("a", ("x", "Z")), "a", "b")
    with pytest.raises(ConfigError, match="no standard 'c'"):
        tagger.convert(corpus("a", ("x", "A")), "a", "c")

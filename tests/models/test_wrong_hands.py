"""Wrong shapes of arguments and untrained models are refused with a hint, never answered with nonsense."""

from __future__ import annotations

import copy
import pickle

import pytest

import duilian
from duilian import CoupledTagger, Lexicon, MultitaskTagger, Parser, Tagger, TwoChainTagger, demo
from duilian.errors import ArgumentError, ConfigError, NotFittedError, TextError
from duilian.features import Dictionary
from duilian.learning import AdaGrad, Session
from duilian.models.base.sentences import check_corpora
from duilian.models.coupled.config import CoupledPruning

TAGGER = Tagger("ctb", learning=AdaGrad(iterations=1)).fit(demo.load("ctb", "ctb")[:20])


@pytest.mark.parametrize("wrong", ["我们", ["我们", "去"]])
def test_a_string_is_no_sentence(wrong: object) -> None:
    with pytest.raises(TextError) as caught:
        TAGGER.predict(wrong)  # type: ignore[arg-type]
    assert "list" in caught.value.hint


@pytest.mark.parametrize("wrong", ["云计算", ["云计算"]])
def test_a_string_is_no_entry_of_a_dictionary(wrong: object) -> None:
    with pytest.raises(ConfigError, match="not the string '云计算'") as caught:
        Dictionary(wrong)  # type: ignore[arg-type]
    assert caught.value.hint == "write Dictionary([ListedWord('云计算')])"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["我们"], ["我们", "", "去"]], "sentence 2: word 2 is empty"),
        ([["我们", 7]], "sentence 1: a word must be a string, got 7"),
        ([["我们"], 7], "sentence 2 must be a list of words, got 7"),
        (demo.load("ctb", "ctb")[0], "expected a list of sentences, got one sentence"),
        (demo.load("ctb", "ctb")[0]["ctb"], "X must be a list, got Layer(words=(...extra_rows=())"),
    ],
)
def test_what_is_wrong_with_sentences_is_said(sentences: object, message: str) -> None:
    with pytest.raises((ArgumentError, TextError)) as caught:
        TAGGER.predict(sentences)  # type: ignore[arg-type]
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ([["PN"]], "there are 2 sentences, but tags for 1"),
        ([["PN"], ["VV"]], "sentence 2 has 2 words, but 1 tag"),
    ],
)
def test_tags_must_fit_words(tags: list[list[str]], message: str) -> None:
    with pytest.raises(TextError) as caught:
        Tagger("ctb").fit([["我们"], ["去", "吧"]], tags)
    assert caught.value.message == message


def test_several_standards_need_several_corpora() -> None:
    corpus = demo.load("ctb", "ctb")
    check_corpora([corpus, corpus])
    with pytest.raises(ConfigError, match="expected a list of corpora, got one corpus") as caught:
        check_corpora(corpus)
    assert "one per standard" in caught.value.hint


@pytest.mark.parametrize("wrong", [["a.txt", "b.txt"], 7, None])
def test_a_path_is_one_path(wrong: object) -> None:
    for read in (duilian.read, Lexicon.read):
        with pytest.raises(ConfigError, match="path must be a string or a path, got"):
            read(wrong)  # type: ignore[operator]
    with pytest.raises(ConfigError, match="path must be a string or a path, got"):
        duilian.write([], wrong, format="segmented")  # type: ignore[arg-type]


def test_settings_of_older_versions_say_what_became_of_them() -> None:
    for make in (lambda: CoupledPruning(most=4), lambda: CoupledPruning().updated({"most": 4})):  # type: ignore[call-arg]
        with pytest.raises(ConfigError, match="most is not a setting") as caught:
            make()
        assert caught.value.hint == "it is now [pruning] max_candidates"
    with pytest.raises(ConfigError) as caught:
        AdaGrad(raet=0.1)  # type: ignore[call-arg]
    assert caught.value.hint == "did you mean 'rate'?"


def test_a_lexicon_is_no_string() -> None:
    with pytest.raises(ConfigError, match="a list of words, not the string '云计算'") as caught:
        Lexicon("云计算")
    assert caught.value.hint == "write Lexicon(['云计算'])"


def test_threads_and_session_go_together() -> None:
    seen: list[int] = []
    session = Session(on_iteration=lambda report: seen.append(report.iteration))
    tagger = Tagger("ctb", learning=AdaGrad(iterations=2)).fit(
        demo.load("ctb", "ctb")[:9], threads=2, session=session
    )
    assert (seen, tagger.is_trained()) == ([1, 2], True)
    assert Session.of(session, 2).threads == 2 == Session.of(Session(threads=2), 1).threads
    with pytest.raises(ConfigError, match="3 threads, but 2 in the session"):
        Session.of(Session(threads=2), 3)


@pytest.mark.parametrize("model", [Tagger, CoupledTagger, MultitaskTagger, TwoChainTagger, Parser])
def test_an_untrained_model_says_so(model: type[Tagger]) -> None:
    with pytest.raises(NotFittedError, match=f"this {model.__name__} has not been trained yet"):
        model().predict_layers([["我们"]])
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = model().nothing  # type: ignore[attr-defined]
    assert not copy.deepcopy(model()).is_trained()
    assert not pickle.loads(pickle.dumps(model())).is_trained()

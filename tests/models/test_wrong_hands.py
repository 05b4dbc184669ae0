"""Wrong shapes of arguments and untrained models are refused with a hint, never answered with nonsense."""

from __future__ import annotations

import copy
import pickle

import pytest

from duilian import CoupledTagger, Lexicon, MultitaskTagger, Parser, Tagger, TwoChainTagger, demo
from duilian.errors import ConfigError, NotFittedError, TextError
from duilian.learning import AdaGrad, Session

TAGGER = Tagger("ctb", learning=AdaGrad(iterations=1)).fit(demo.load("ctb", "ctb")[:20])


@pytest.mark.parametrize("wrong", ["我们", ["我们", "去"]])
def test_a_string_is_no_sentence(wrong: object) -> None:
    with pytest.raises(TextError) as caught:
        TAGGER.predict(wrong)  # type: ignore[arg-type]
    assert "list" in caught.value.hint


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

"""Questions of a wrong shape are answered with one clear sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import duilian as dl
from duilian import demo
from duilian.engine import Analyzer

WRONG: dict[str, Callable[[Any], object]] = {
    "ask must be an Ask or None, got 'pku'": lambda zh: zh("好", ask="pku"),
    "trees must be True or False": lambda zh: dl.Ask(trees="no"),  # type: ignore[arg-type]
    "standards must be a list": lambda zh: dl.Ask("pku"),  # type: ignore[arg-type]
    "name of a standard, got 3": lambda zh: zh("好").words(3),
    "threads must be a whole number": lambda zh: list(zh.pipe(["好"], threads="2")),
    "batch must be a whole number": lambda zh: list(zh.pipe(["好"], batch=0)),
    "k must be a whole number": lambda zh: zh.nbest("好", 2.0),
    "lexicon must be a Lexicon or None": lambda zh: zh.with_lexicon("words.txt"),
    "expected sentences, got a string": lambda zh: list(zh.anew("好")),
    "expected annotated sentences": lambda zh: list(zh.fill("好")),
    "gold must be a Corpus": lambda zh: dl.evaluate("m.model", None),  # type: ignore[arg-type]
    "has not been trained": lambda zh: Analyzer(dl.Tagger("ctb")),
    "Tagger has not been trained": lambda zh: dl.evaluate(dl.Tagger("ctb"), demo.load("ctb-dev", "ctb")),
    "Coupled.* has not been trained": lambda zh: dl.compare(
        demo.load("ctb-dev", "ctb"), {"old": dl.CoupledTagger(), "new": zh}
    ),
    "of kind 'coupled' has no fast segmenter": lambda zh: list(zh.segment(["好"], fast=True)),
    "cannot find words": lambda zh: Analyzer(3),
    "answers in ctb, pku": lambda zh: dl.evaluate(zh, dl.Corpus([], standard="ud", source="gold")),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_shapes_are_refused(coupled: Analyzer, message: str) -> None:
    with pytest.raises(dl.DuilianError, match=message):
        WRONG[message](coupled)


def test_what_there_is_is_shown(coupled: Analyzer, parsed: Analyzer) -> None:
    assert repr(coupled) == "<Analyzer: coupled model, words and tags in ctb, pku>"
    assert repr(parsed) == "<Analyzer: crf model, words and tags in pku, trees in pku>"
    with pytest.raises(dl.DuilianError, match="trees were not asked for"):
        _ = parsed.nbest("我们", 1)[0].heads


def test_words_of_gold_beside_words_that_were_found(caplog: pytest.LogCaptureFixture) -> None:
    gold = demo.load("ctb-dev", "ctb")
    tagger = dl.Tagger("ctb", learning=dl.AdaGrad(iterations=1)).fit(gold)
    layers = [sentence["ctb"] for sentence in gold]
    cut = [dl.Layer(("".join(each.words),), each.tags[:1]) for each in layers if each.tags]
    answers = dl.Corpus([dl.Sentence({"ctb": each}) for each in cut], standard="ctb")
    dl.compare(gold, {"tagger": tagger, "again": tagger})
    assert not caplog.records
    dl.compare(gold, {"tagger": tagger, "cut": answers})
    assert "tagger reads words and was given those of gold, but cut found its own" in caplog.text

"""The example of a foreign tagger works: with jieba if it is there, else with a function that cuts pairs."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import duilian as dl
from duilian import demo
from duilian.corpus import Layer
from duilian.models.roles import Ability, Labeler, Ranked, TaggedWords, Trees
from scripts import load_script

EXAMPLE = Path(__file__).parents[2] / "examples" / "foreign_tagger.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return load_script("examples/foreign_tagger.py")


def pairs(text: str) -> list[str]:
    return re.findall(r"..?", text, re.DOTALL)


def cutters() -> list[Callable[[str], list[str]]]:
    found: list[Callable[[str], list[str]]] = [pairs, list]
    if importlib.util.find_spec("jieba"):
        import jieba

        found.append(jieba.lcut)
    return found


@pytest.mark.parametrize("cut", cutters(), ids=lambda cut: cut.__name__)
def test_words_are_those_of_the_function(example: ModuleType, cut: Callable[[str], list[str]]) -> None:
    text = "他把书借给了国务院新闻办公室"
    doc = example.analyzer(cut)(text)
    assert doc.words() == cut(text)
    assert len(doc.tags()) == len(doc)
    assert doc.heads.count(0) == 1
    assert "# text = 他把书" in doc.to_conllu()


def test_words_that_end_inside_a_unit_go_on(example: ModuleType) -> None:
    doc = example.analyzer(pairs)("用 a\u0301b\u0301c 吗？\n好")
    assert "".join(doc.words()) == "用a\u0301b\u0301c吗？好"


def test_what_it_cannot_do_is_said(example: ModuleType) -> None:
    zh = example.analyzer(pairs)
    with pytest.raises(dl.DuilianError, match="'foreign-words' cannot give n-best lists"):
        zh.nbest("好", 2)
    with pytest.raises(dl.DuilianError, match="'foreign-words' cannot take a lexicon"):
        zh.with_lexicon(dl.Lexicon(["好"]))


class FirstIsRoot:
    """A parser that hangs all words on the first."""

    kind, standard, abilities = "first-is-root", "ctb", frozenset({Ability.TREES})

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        heads = [int(k > 0) for words in sentences.words for k in range(len(words))]
        relation = [int(head > 0) for head in heads]
        return Trees(np.array(heads, np.int32), np.array(relation, np.int32), ("root", "dep"))


class ForeignTags:
    """A tagger of given words that is none of ours, though it asks one."""

    kind, reads, abilities = "foreign-tags", "words", frozenset({Ability.TAGS})

    def __init__(self, own: Labeler) -> None:
        self.standards, self.encoding, self.label = own.standards, own.encoding, own.label

    def k_best_labels(self, *_: object, **__: object) -> list[Ranked[Any]]:
        raise AssertionError


def test_foreign_models_are_scored() -> None:
    gold = demo.load("ctb-dev", "ctb")
    tagger = dl.Tagger("ctb").fit(demo.load("ctb", "ctb"))
    foreign = dl.evaluate(dl.Analyzer(ForeignTags(tagger.labeler)), gold)
    assert foreign.accuracy == dl.evaluate(tagger, gold).accuracy
    tree = dl.Layer(("我们", "去", "北京"), ("PN", "VV", "NR"), (0, 1, 2), ("root", "dep", "dep"))
    corpus = dl.Corpus([dl.Sentence({"ctb": tree})], standard="ctb", source="gold")
    found = dl.evaluate(FirstIsRoot(), corpus)
    assert found.trees is not None
    assert found.trees.uas == found.trees.las == pytest.approx(200 / 3)
    assert found.pruning is None
    untagged = dl.Corpus([dl.Sentence({"ctb": dataclasses.replace(tree, tags=None)})], standard="ctb")
    with pytest.raises(dl.DuilianError, match="first-is-root needs the tag of every word"):
        dl.evaluate(FirstIsRoot(), untagged)

"""The example of a foreign tagger works: with jieba if it is there, else with a function that cuts pairs."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

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
    import duilian as dl

    zh = example.analyzer(pairs)
    with pytest.raises(dl.DuilianError, match="'foreign-words' cannot give n-best lists"):
        zh.nbest("好", 2)
    with pytest.raises(dl.DuilianError, match="'foreign-words' cannot take a lexicon"):
        zh.with_lexicon(dl.Lexicon(["好"]))

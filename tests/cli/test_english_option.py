"""`[mixing]` in recipes, `--english` of commands that analyse text, and the tool that lists English words."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import AdaGrad, Tagger, demo
from duilian.corpus import Corpus, Layer, Sentence
from duilian.features.dictionary import parse_line
from scripts import load_script

RECIPE = """
[model]
kind = "crf"
level = "char"

[mixing]
share = 0.4
file = "english.txt"

[[side]]
standard = "ctb"
train = ["ctb.txt", "foreign.txt"]

[learning]
iterations = 2
"""
FOREIGN = "他_PN 学_VV Python_FW 。_PU\n" * 3


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that knows no English words, a word list, and a corpus with English words."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "english.txt").write_text("check 90 env\nnice 50 ea\nreport 40 en\n", encoding="utf-8")
    (folder / "foreign.txt").write_text(FOREIGN, encoding="utf-8")
    foreign = Sentence({"ctb": Layer(("他", "学", "Python", "。"), ("PN", "VV", "FW", "PU"))})
    corpus = Corpus([*demo.load("ctb", "ctb"), foreign], standard="ctb", source="demo")
    Tagger("ctb", level="char", learning=AdaGrad(iterations=2)).fit(corpus).save(folder / "plain.model")
    return folder


@pytest.fixture
def duilian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    """Run a command in a folder with all of these."""
    return in_demo_folder(monkeypatch, tmp_path, models, {"english.toml": RECIPE})


def test_a_recipe_trains_and_commands_choose(duilian: Call) -> None:
    status, _, err = duilian("train", "english.toml", "-o", "english.model")
    assert status == 0, err
    for command in ("tag", "analyze"):
        to = ["--to", "underscore" if command == "tag" else "slash"]
        _, real, _ = duilian(command, "--model", "english.model", *to, "他别check")
        _, same, _ = duilian(command, "--model", "english.model", "--english", "tags", *to, "他别check")
        _, prescribed, _ = duilian(
            command, "--model", "english.model", "--english", "standard", *to, "他别check"
        )
        assert real == same
        assert "FW" not in real
        assert prescribed.strip().endswith("FW")
    _, words, _ = duilian("segment", "--model", "english.model", "--english", "standard", "真nice")
    assert words.split() == ["真", "nice"]


def test_a_model_that_has_not_learned_it_is_refused(duilian: Call) -> None:
    status, _, err = duilian("tag", "--model", "plain.model", "--english", "tags", "他很nice")
    assert status == 1
    assert "has not learned to tag alphabetic words by part of speech" in err
    assert "[mixing]" in err
    status, plain, _ = duilian("tag", "--model", "plain.model", "--english", "standard", "他很nice")
    assert status == 0
    assert plain == duilian("tag", "--model", "plain.model", "他很nice")[1]


def test_another_word_for_it_is_refused(duilian: Call) -> None:
    status, _, err = duilian("tag", "--model", "plain.model", "--english", "real", "他很nice")
    assert status == 2
    assert "neither 'tags' nor 'standard'" in err


def test_a_missing_list_is_named(duilian: Call) -> None:
    settings = ["--set", "mixing.file=none.txt"]
    status, _, err = duilian("train", "english.toml", "-o", "x.model", *settings)
    assert status == 1
    assert "none.txt" in err


def test_the_tool_lists_words_with_their_uses() -> None:
    tool = load_script("tools/english_list.py")
    usual = tool.usual_uses(
        [";;; a comment\n", "check NN\n", "nice JJ\n", "Google NNP\n", "the DT\n", "! .\n"]
    )
    possible = tool.possible_uses(["check,noun,check", "check,verb,check", "nice,adj,nice", "emo,adj,emo"])
    frequency = {
        "check": 2e-4,
        "nice": 1e-4,
        "google": 5e-5,
        "the": 5e-2,
        "a": 1e-2,
        "emo": 1e-9,
        "c3po": 1.0,
    }
    frequency["unheard"] = 1e-3
    found = list(tool.lines(frequency, usual, possible, 10))
    assert found == [
        "check 20000 env\n",
        "emo 1 ea\n",
        "google 5000 ep\n",
        "nice 10000 ea\n",
        "the 5000000 eo\n",
    ]
    assert [parse_line(line).tag for line in found] == ["env", "ea", "ep", "ea", "eo"]
    assert list(tool.lines(frequency, usual, possible, 1)) == ["the 5000000 eo\n"]

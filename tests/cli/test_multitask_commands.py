"""Multitask models on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from demo_recipes import both_sides

RECIPE = both_sides("multitask", 'mapping = "relaxed"', tested=["pku"])


@pytest.fixture
def duilian(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Call:
    """Run a command in a folder with the demonstration corpora and a recipe."""
    return in_demo_folder(monkeypatch, tmp_path, tmp_path_factory.mktemp("none"), {"both.toml": RECIPE})


def test_train_then_tag_in_each_standard(duilian: Call) -> None:
    status, out, err = duilian("train", "both.toml", "-o", "m", "--test")
    assert status == 0
    assert re.findall(r"standard +(\w+)", out) == ["pku"]
    number = r"\d+\.\d\d"
    line = rf"iteration (\d): (?:loss \d+\.\d+, )?dev {number}(?: \(best\))?, ctb {number}, pku {number}, .*s"
    found = [re.fullmatch(line, each) for each in err.splitlines()]
    assert [each[1] for each in found if each] == ["1", "2"]
    text = "我们去北京。\n".encode()
    answers = [duilian("tag", "-m", "m", "--standard", name, stdin=text) for name in ("ctb", "pku")]
    assert [status for status, _, _ in answers] == [0, 0]
    assert "。_PU" in answers[0][1]
    assert "。_w" in answers[1][1]
    for standard in ("ctb", "pku"):
        status, out, _ = duilian("evaluate", "m", f"{standard}-dev.txt", "--standard", standard, "--json")
        assert status == 0
        assert json.loads(out)["word_tag"]["f1"] > 50.0
    status, out, _ = duilian("inspect", "m")
    assert status == 0
    assert re.search(r"E@NR.*S@nr", out)  # a name of one word, and surname and given name
    status, _, err = duilian("tag", "-m", "m", "--standard", "gsd", stdin=text)
    assert status == 1
    assert "ctb" in err
    assert "pku" in err


def test_the_papers_learner_and_expansion_from_a_recipe(duilian: Call) -> None:
    text = Path("both.toml").read_text(encoding="utf-8")
    own = text.replace(
        'mapping = "relaxed"', 'mapping = "tight"\nexpansion = "best"\nlearns_from_other = "first"'
    )
    Path("paper.toml").write_text(own + 'algorithm = "pa"\n', encoding="utf-8")
    assert duilian("train", "paper.toml", "-o", "m")[0] == 0
    status, out, _ = duilian("segment", "-m", "m", "--standard", "ctb", stdin="我们去北京。\n".encode())
    assert status == 0
    assert out.replace(" ", "") == "我们去北京。\n"
    Path("wrong.toml").write_text(own, encoding="utf-8")
    status, _, err = duilian("train", "wrong.toml", "-o", "m")
    assert (status, "needs the algorithm 'pa'" in err) == (1, True)

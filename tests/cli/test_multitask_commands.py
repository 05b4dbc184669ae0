"""Multitask models on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import Call, in_demo_folder

RECIPE = """
[model]
kind = "multitask"
mapping = "relaxed"

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[[side]]
standard = "pku"
train = "pku.txt"
dev = "pku-dev.txt"
test = "both-pku.txt"

[learn]
iterations = 2
"""


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
    answers = [duilian("tag", "m", "--standard", name, stdin=text) for name in ("ctb", "pku")]
    assert [status for status, _, _ in answers] == [0, 0]
    assert "。_PU" in answers[0][1]
    assert "。_w" in answers[1][1]

"""No command writes over what it reads, nor text over a model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import run_here

from duilian import demo
from duilian.engine import BUNDLED

RECIPE = """
[model]
kind = "crf"
[[side]]
standard = "ctb"
train = "ctb.txt"
[learning]
iterations = 1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text, a corpus, a recipe and a link to the text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    shutil.copy(Path(demo.__file__).parent / "ctb.txt", tmp_path)
    (tmp_path / "text.txt").write_text("我们去北京。\n", encoding="utf-8")
    (tmp_path / "link.txt").symlink_to("text.txt")
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "analyze text.txt --to json -o text.txt",
        "analyze text.txt --to json -o link.txt",
        "tag link.txt -o text.txt",
        "segment text.txt -o ./text.txt",
        "corpus convert ctb.txt --standard ctb --to jsonl -o ctb.txt",
        "corpus sample ctb.txt -n 3 -o ctb.txt",
        "corpus mix ctb.txt --standard ctb --preset E -o ctb.txt",
        "train r.toml -o ctb.txt",
        "train r.toml -o r.toml",
        "train r.toml -o ctb.txt --force",
    ],
)
def test_an_input_is_not_written_over(folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    status, _, errors = run_here(monkeypatch, *arguments.split())
    assert status == 1
    assert "is also an input" in errors
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_split_does_not_write_over_its_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "ctb.txt").rename(folder / "train.txt")
    before = (folder / "train.txt").read_bytes()
    status, _, errors = run_here(monkeypatch, "corpus", "split", "train.txt", "--standard", "ctb", "-o", ".")
    assert status == 1
    assert "is also an input" in errors
    assert (folder / "train.txt").read_bytes() == before


def test_text_does_not_replace_a_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(BUNDLED, folder / "my.model")
    status, _, errors = run_here(monkeypatch, "segment", "text.txt", "-o", "my.model")
    assert status == 1
    assert "my.model: this is a model and would be overwritten" in errors
    assert (folder / "my.model").read_bytes() == BUNDLED.read_bytes()


def test_a_model_replaces_other_files_only_if_forced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, _, errors = run_here(monkeypatch, "train", "r.toml", "-o", "text.txt")
    assert status == 1
    assert "text.txt: this file exists and is not a model" in errors
    assert (folder / "text.txt").read_text(encoding="utf-8") == "我们去北京。\n"
    assert run_here(monkeypatch, "train", "r.toml", "-o", "text.txt", "--force")[0] == 0
    assert run_here(monkeypatch, "train", "r.toml", "-o", "text.txt")[0] == 0  # a model replaces a model

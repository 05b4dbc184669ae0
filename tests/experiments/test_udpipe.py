"""UDPipe as a system of a study; it runs where ufal.udpipe is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import duilian as dl
from duilian import Corpus, Layer, Sentence, demo, write
from duilian.experiments import udpipe

STUDY = """
title = "Ours and theirs"
[systems.ours]
recipe = "papers/li2014-o1"
set = ["learning.iterations=1", "trees.bits=12", "relations.bits=10", "relations.guess_iterations=0"]
[systems.theirs]
recipe = "papers/li2014-o1"
set = ["learning.iterations=1"]
rival = "udpipe-parser"
[systems.tagger]
recipe = "papers/li2014-o1"
set = ["learning.iterations=1"]
rival = "udpipe"
[systems.pipeline]
recipe = "papers/li2014-o1"
set = ["learning.iterations=1"]
rival = "udpipe"
tagger = "tagger"
[[data]]
name = "trees"
corpora = ["udc"]
[[tables]]
name = "Table 1"
title = "parsers"
compare = "ours"
columns = [{ title = "UAS", metric = "uas" }, { title = "tags", metric = "accuracy" }]
rows = [
  { name = "ours", system = "ours" },
  { name = "UDPipe", system = "theirs" },
  { name = "UDPipe, own tags", system = "pipeline" },
]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of short chains as trees: each word depends on the one before it."""
    found = demo.load("ctb", "ctb")[:20]
    for part in ("train", "dev", "test"):
        trees = Corpus([Sentence({"gsd": _chain(each["ctb"])}) for each in found], standard="gsd")
        (tmp_path / "udc").mkdir(exist_ok=True)
        write(trees, tmp_path / "udc" / f"{part}.conll", format="conllx", column="xpos")
    (tmp_path / "own.toml").write_text(STUDY, encoding="utf-8")
    return tmp_path / "own.toml"


def _chain(layer: Layer) -> Layer:
    relations = ("root", *["next"] * (len(layer) - 1))
    return Layer(layer.words, layer.tags, heads=tuple(range(len(layer))), relations=relations)


def test_without_udpipe_its_rows_are_left_out(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(udpipe, "is_installed", lambda: False)
    found = dl.experiment(study, study.parent / "out", data=study.parent)
    assert [row.name for row in found.tables[0].rows] == ["ours"]
    assert set(found.absent) == {"UDPipe", "UDPipe, own tags"}
    page = (study.parent / "out" / "report.md").read_text(encoding="utf-8")
    assert "Not run: UDPipe (there is no `ufal.udpipe`)." in page


@pytest.mark.skipif(not udpipe.is_installed(), reason="ufal.udpipe is not installed")
def test_udpipe_is_trained_once_and_judged_like_ours(study: Path) -> None:
    found = dl.experiment(study, study.parent / "out", data=study.parent)
    assert found.cells == 3, "the tagger of the pipeline is in the same model"
    ours, theirs, pipeline = found.tables[0].rows
    assert theirs.p is not None
    assert theirs.values[0] > 60, "chains are easy"
    assert (ours.values[1], theirs.values[1]) == (100.0, 100.0), "tags are given"
    assert 50 < pipeline.values[1] <= 100
    cell = study.parent / "out" / "cells" / theirs.cells[0]
    gold = dl.read(cell / "dev-1.gold.jsonl", standard="gsd")
    answer = dl.read(cell / "dev-1.answer.jsonl", standard="gsd")
    assert dl.evaluate(answer, gold).to_dict()["uas"] == theirs.values[0]

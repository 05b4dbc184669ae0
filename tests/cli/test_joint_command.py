"""`duilian train`, `parse` and `evaluate` with a joint parser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import Sentence, write
from tree.ambiguous import treebank

RECIPE = """
[model]
kind = "joint-parser"
order = 2

[trees]
bits = 16
head_cost = 5.0

[relations]
bits = 14

[pruning]
bits = 14
iterations = 2

[tagging]
bits = 14
folds = 4
iterations = 2

[[side]]
standard = "ctb"
train = "train.conllu"
dev = "dev.conllu"

[learning]
iterations = 3
"""
GAPS = (
    "1\t老师\t_\t_\t_\t_\t2\t_\t_\t_\n2\t研究\t_\tVV\t_\t_\t_\t_\t_\t_\n3\t计划\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "4\t。\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, count, seed in (("train", 80, 1), ("dev", 30, 2)):
        trees = [Sentence({"ctb": layer}) for layer in treebank(count, seed)]
        write(trees, folder / f"{name}.conllu", standard="ctb")
    return folder


@pytest.fixture
def duilian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {"recipe.toml": RECIPE})


def test_train_evaluate_and_parse(duilian: Call):
    status, _, err = duilian("train", "recipe.toml", "-o", "m")
    assert status == 0, err
    assert "tagging in 4 folds" in err
    status, out, _ = duilian("evaluate", "m", "dev.conllu", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["uas"] > 90
    assert found["accuracy"] > 95
    assert set(found["with_punctuation"]) == {"uas", "las"}
    status, out, err = duilian("parse", "m", "--format", "segmented", stdin="老师 研究 计划 。\n".encode())
    assert status == 0, err
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert [(row[1], row[4], row[6]) for row in rows] == [
        ("老师", "NN", "2"),
        ("研究", "VV", "0"),
        ("计划", "NN", "2"),
        ("。", "PU", "2"),
    ]
    status, out, err = duilian("parse", "m", "dev.conllu", "--nbest", "2")
    assert (status, out) == (1, "")
    assert "a joint parser has no k best trees" in err
    Path("gaps.conllu").write_text(GAPS, encoding="utf-8")
    status, out, err = duilian("parse", "m", "gaps.conllu", "--keep")
    assert status == 0, err
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdigit()]
    assert (rows[0][6], rows[1][3]) == ("2", "VV")
    assert all(row[3] != "_" and row[6] != "_" for row in rows)


def test_settings_that_cannot_be_are_refused(duilian: Call):
    status, _, err = duilian("train", "recipe.toml", "-o", "m", "--set", "tagging.folds=1")
    assert status == 1
    assert "recipe.toml: [tagging] folds must be at least 2, got 1" in err


def test_templates_are_found_beside_the_recipe(duilian: Call):
    Path("my.txt").write_text("w[0]\nw[-1] w[0]\n", encoding="utf-8")
    status, _, err = duilian("train", "recipe.toml", "-o", "m", "--set", "tagging.templates=my.txt")
    assert status == 0, err


def test_trees_that_are_not_whole_are_refused_with_their_line(duilian: Call):
    Path("train.conllu").write_text(GAPS, encoding="utf-8")
    status, _, err = duilian("train", "recipe.toml", "-o", "m")
    assert status == 1
    assert "train.conllu:2: word 2 has no head" in err

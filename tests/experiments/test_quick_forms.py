"""Every study runs on tiny corpora in the places of the real ones, and no column of a table stays empty."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import duilian as dl
from duilian import Corpus, Layer, Sentence, demo, write
from duilian.experiments import Study, studies
from duilian.experiments.study import FOLDER

PAPERS = [name for name in studies() if name != "demo"]
SIZES = {"limit": 8, "other_limit": 8, "dev_limit": 4}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora laid out as the studies expect, made of the package's own sentences."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("zx", "pd", "udc", "ud2", "conll2000"):
        (folder / name).mkdir()
    ctb, pku = ([*demo.load(name, name)] for name in ("ctb", "pku"))
    for part in ("train", "dev"):
        write(Corpus(ctb[:40], standard="ctb"), folder / "zx" / f"{part}.wordpos", format="underscore")
    for part in ("train", "dev", "test"):
        write(Corpus(pku[:40], standard="pku"), folder / "pd" / f"{part}.txt", format="slash")
    short = sorted((each["ctb"] for each in ctb), key=len)[:8]
    trees = [Sentence({"gsd": _chain(short[k % 8])}) for k in range(360)]
    for part in ("train", "dev", "test"):
        some = Corpus(trees if part == "dev" else trees[:16], standard="gsd")
        write(some, folder / "udc" / f"{part}.conll", format="conllx", column="xpos")
    again = Corpus([Sentence({"ud": each["gsd"]}) for each in trees], standard="ud")
    write(again, folder / "ud2" / "gsdsimp-dev.conllu", format="conllu", column="upos")
    chunks = ["He PRP B-NP", "runs VBZ B-VP", "the DT B-NP", "race NN I-NP", ""] * 12
    for part in ("train", "test"):
        (folder / "conll2000" / f"{part}.txt").write_text("\n".join(chunks), encoding="utf-8")
    return folder


def _chain(layer: Layer) -> Layer:
    relations = ("root", *["next"] * (len(layer) - 1))
    return Layer(layer.words, layer.tags, heads=tuple(range(len(layer))), relations=relations)


def _tiny(name: str) -> str:
    """The text of a study whose quick form takes seconds."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    before, found, after = re.split(r"(?m)^(\[quick\]\n)", text)
    for key, size in SIZES.items():
        after = re.sub(rf"(?m)^{key} = \d+$", f"{key} = {size}", after)
    return before + found + after.replace("learning.iterations=2", "learning.iterations=1")


@pytest.mark.parametrize("name", PAPERS)
def test_the_quick_form_fills_its_tables(name: str, data: Path, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    path.write_text(_tiny(name), encoding="utf-8")
    found = dl.experiment(path, tmp_path / "out", data=data, quick=True)
    assert found.finished == found.cells
    planned = Study.load(path).in_form("quick").tables
    assert [table.name for table in found.tables] == [table.about.name for table in planned]
    for table in found.tables:
        for k, column in enumerate(table.plan.columns):
            empty = all(row.values[k] is None for row in table.rows)
            is_rare = column.metric.startswith("letters.")  # a tag that no English word here may have
            assert not empty or is_rare, (table.name, column.title)

"""What a study is estimated to cost in full."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import duilian as dl
from duilian import demo
from duilian.experiments.full_cost import FullCost

DEMO = Path(demo.__file__).parent
STUDY = """
title = "Rates"
demo = true
[systems.a]
recipe = "papers/li2017-baseline-ctb"
set = ["learning.algorithm=adagrad", "learning.iterations=2", "side.sample=100000"]
[systems.b]
recipe = "papers/li2017-baseline-ctb"
[[data]]
name = "demo"
corpora = ["demo-ctb"]
[sample]
limit = 20
[[tables]]
name = "Table 1"
title = "accuracy"
columns = [{ title = "CTB", metric = "accuracy" }]
rows = [
  { name = "a", system = "a" },
  { name = "faster", system = "a", set = ["learning.rate=0.3"], sample = false },
  { name = "b", system = "b", sample = false },
]
"""


@pytest.fixture
def sampled(tmp_path: Path) -> tuple[Path, FullCost]:
    """A study of two systems, of which one cell has run on a sample, in an hour by its own account."""
    path, out = tmp_path / "rates.toml", tmp_path / "out"
    path.write_text(STUDY, encoding="utf-8")
    dl.experiment(path, out, sample=True)
    (kept,) = (out / "cells").glob("*/trained.json")
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"cpu_seconds": 3600.0}))
    (kept,) = (out / "cells").glob("*/dev-1.json")
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"cpu_seconds": 0.0}))
    (out / "full-cost.json").unlink()
    cost = dl.experiment(path, out, sample=True).full_cost
    assert cost is not None
    return out, cost


def words(name: str, limit: int | None = None) -> int:
    return sum(len(each["ctb"]) for each in list(dl.read(DEMO / name, standard="ctb"))[:limit])


def test_time_grows_with_the_words_that_are_read(sampled: tuple[Path, FullCost]) -> None:
    """Words of training and dev sentences; rows that no sample has cost as much as the row most like them."""
    dev = words("ctb-dev.txt")
    once = 3600 * (words("ctb.txt") + dev) / (words("ctb.txt", 20) + dev)
    (only,) = sampled[1].systems
    assert (only.system, only.cells, only.likened) == ("a", 2, 1)
    assert only.seconds == pytest.approx(2 * once)
    assert sampled[1].unknown == ("b",)
    assert sampled[1].hours == pytest.approx(2 * once / 3600)


def test_the_page_says_it(sampled: tuple[Path, FullCost]) -> None:
    out, cost = sampled
    page = (out / "report.md").read_text(encoding="utf-8")
    assert f"About {cost.hours:,.1f} h of CPU time" in page
    assert "1 cell not run on samples count" in page
    assert "Without an estimate: b." in page
    assert f"| a | 2 | {cost.hours * 60:.1f} |" in page
    assert json.loads((out / "results.json").read_text())["full_cost"]["unknown"] == ["b"]


def test_it_is_kept_until_a_cell_changes(
    sampled: tuple[Path, FullCost], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, cost = sampled

    def refuse(*_: object) -> None:
        raise AssertionError("the corpora were counted again")

    monkeypatch.setattr("duilian.experiments.full_cost._estimate", refuse)
    assert dl.experiment(out.parent / "rates.toml", out, sample=True).full_cost == cost


def test_other_forms_have_none(tmp_path: Path) -> None:
    assert dl.experiment("demo", tmp_path, quick=True).full_cost is None

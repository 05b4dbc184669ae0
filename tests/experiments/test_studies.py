"""Studies as files: those of the package are sound, and mistakes are named."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path

import pytest

from duilian import demo
from duilian.errors import ConfigError
from duilian.experiments import Study, studies
from duilian.experiments.named_corpora import TABLE, CorpusShelf
from duilian.experiments.plan import StudyPlan
from duilian.experiments.recipe_text import recipe_text
from duilian.experiments.study import ShortForm
from duilian.recipes import Recipe
from duilian.recipes.shipped import shipped_recipes

DEMO = Path(demo.__file__).parent
OWN = """
title = "Ours"
[systems.a]
recipe = "papers/li2017-baseline-ctb"
[[data]]
name = "demo"
corpora = ["demo-ctb"]
[[tables]]
name = "Table 1"
title = "accuracy"
columns = [{ title = "CTB", metric = "accuracy" }]
rows = [{ name = "a", system = "a", paper = [90.0] }]
"""


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_papers_are_there() -> None:
    assert {"li2017", "li2016", "qiu2012", "qiu2013", "zhao2012", "li2014", "demo"} <= set(studies())


@pytest.mark.parametrize("name", studies())
def test_every_study_is_sound(name: str, tmp_path: Path) -> None:
    study = Study.load(name)
    named = set(tomllib.loads(TABLE.read_text(encoding="utf-8"))) | {each["name"] for each in study.prepare}
    for data in study.data:
        assert set(data.corpora) <= named
    for system in study.systems.values():
        assert Recipe.load(system.recipe, tmp_path).kind
    names = {data.name for data in study.data}
    for table in study.tables:
        assert set(table.about.data) <= names
        assert table.rows, "a table has rows"
    rows = sum(len(table.rows) for table in study.tables)
    for form, limits in (("quick", study.quick), ("sample", study.sample), ("full", None)):
        if limits is not None:
            assert set(limits.data) <= names
        if limits is not None or form == "full":
            assert 0 < sum(len(table.rows) for table in study.in_form(form).tables) <= rows


def test_every_recipe_of_the_papers_is_run_as_printed() -> None:
    study = Study.load("as-printed")
    assert sorted(system.recipe for system in study.systems.values()) == sorted(shipped_recipes())
    assert not any(system.set for system in study.systems.values())
    rows = [row for table in study.tables for row in table.rows]
    assert sorted(row.system for row in rows) == sorted(study.systems)
    assert not any(row.set for row in rows)


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('system = "a"', 'system = "b"', "names no system: 'b'", "choose one of: a"),
        ("metric =", "metrik =", "has no key 'metrik'", "did you mean 'metric'?"),
        ('title = "Ours"', 'titel = "Ours"', "has no key 'titel'", "did you mean 'title'?"),
        ("paper = [90.0]", "paper = [90.0, 91.0]", "has 2 figures of the paper for 1 column", ""),
        ('name = "a", ', 'name = "a", vary = { x = [1, 2] }, ', "has 2 points and 1 list", ""),
        ('title = "accuracy"', 'title = "accuracy"\ncompare = "z"', "compare names no row: 'z'", ""),
        ('title = "Ours"', 'title = "Ours"\nseeds = ["1"]', "seeds must be a list of whole numbers", ""),
        ("[[data]]", "[[dada]]", "has no key 'dada'", "did you mean 'data'?"),
    ],
)
def test_mistakes_are_named(write, old: str, new: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError, match="own") as caught:
        Study.load(write(OWN.replace(old, new)))
    assert message in str(caught.value)
    assert hint in str(caught.value)


def test_an_unknown_study_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match="there is no study 'li2071'") as caught:
        Study.load("li2071")
    assert "did you mean 'li2017'?" in caught.value.hint


def test_a_grid_is_a_row_for_each_point(write) -> None:
    grid = 'name = "{} {}", vary = { "learning.rate" = [0.1, 0.2], "learning.batch" = [1, 2] }, '
    text = OWN.replace('name = "a", ', grid).replace("paper = [90.0]", "paper = [[1], [2], [3], ['-']]")
    rows = Study.load(write(text)).tables[0].rows
    assert [row.name for row in rows] == ["0.1 1", "0.1 2", "0.2 1", "0.2 2"]
    assert rows[3].set == ("learning.rate=0.2", "learning.batch=2")
    assert [row.paper for row in rows] == [(1.0,), (2.0,), (3.0,), (None,)]


def test_corpora_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="zx/train") as caught:
        StudyPlan(
            Study.load("qiu2013").in_form("quick"), CorpusShelf(tmp_path, tmp_path / "out", (None, None))
        )
    assert "--data" in caught.value.hint


ROW = '{ name = "b", system = "a", set = ["side.sample=500"], full = false },'
SHORT = '\n[sample]\nlimit = 20\ndev_limit = 5\nnotes = ["A sample."]\n'
SAMPLE = OWN.replace("rows = [", f"rows = [\n{ROW}") + SHORT


def test_the_form_on_samples(write, tmp_path: Path) -> None:
    """It has its own rows and notes, and limits that a row's settings cannot exceed."""
    study = Study.load(write(SAMPLE))
    assert [row.name for row in study.in_form("full").tables[0].rows] == ["a"]
    sampled = study.in_form("sample")
    assert ([row.name for row in sampled.tables[0].rows], sampled.differs) == (["b", "a"], ("A sample.",))
    plan = StudyPlan(sampled, CorpusShelf(DEMO, tmp_path / "out", (20, 5)))
    sides = [tomllib.loads(cell.recipe)["side"][0] for cell in plan.cells]
    assert [(side["limit"], side["dev_limit"], side["sample"]) for side in sides] == [(20, 5, 20)]
    assert len(plan.places) == 2, "both rows have the same cell"


@pytest.mark.parametrize(
    ("gold", "is_quick", "part"),
    [
        ({"dev": "d", "test": "t"}, False, "test"),
        ({"dev": "d", "test": "t"}, True, "dev"),
        ({"dev": "d"}, False, "dev"),
        ({"test": "t"}, True, "test"),
    ],
)
def test_a_corpus_without_a_test_set_is_judged_on_its_dev_set(
    gold: dict[str, str], is_quick: bool, part: str, tmp_path: Path
) -> None:
    plan = StudyPlan(Study.load("demo"), CorpusShelf(DEMO, tmp_path, (None, None)))
    place = next(each for each in plan.places if each.table.about.part == "test")
    cell = dataclasses.replace(place.cells[0], gold={1: gold})
    assert dataclasses.replace(place, cells=(cell,), is_quick=is_quick).part == part


def test_corpora_after_the_first_may_be_larger(tmp_path: Path) -> None:
    study = Study.load("demo")
    limits = ShortForm(limit=20, other_limit=50)
    plan = StudyPlan(dataclasses.replace(study, limits=limits), CorpusShelf(DEMO, tmp_path, (20, None)))
    together = next(cell for cell in plan.cells if cell.kind == "coupled")
    sides = tomllib.loads(together.recipe)["side"]
    assert [(side["limit"], side["sample"]) for side in sides] == [(20, 20), (50, 20)]
    assert [side["limit"] for side in together.words] == [20, 50]


def test_a_study_without_samples_says_so(write) -> None:
    with pytest.raises(ConfigError, match=r"the study 'own' has no \[sample\]"):
        Study.load(write(OWN)).in_form("sample")


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_recipe_survives_being_written_again(name: str, tmp_path: Path) -> None:
    recipe = Recipe.load(name, tmp_path)
    (tmp_path / "again.toml").write_text(recipe_text(tomllib.loads(recipe.text)), encoding="utf-8")
    again = Recipe.load(tmp_path / "again.toml", tmp_path)
    assert (again.config, again.sides, again.saving) == (recipe.config, recipe.sides, recipe.saving)

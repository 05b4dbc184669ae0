"""The papers' recipes train; files with numbers, and limits of every part."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from duilian import Corpus, Layer, Sentence, demo, load, write
from duilian.errors import ConfigError
from duilian.experiments.recipe_text import recipe_text
from duilian.models import is_parser
from duilian.recipes import Recipe, train
from duilian.recipes.shipped import shipped_recipes
from duilian.recipes.train_files import numbered_files

DEMO = Path(demo.__file__).parent


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo corpora, with chains as trees, and a few chunks."""
    folder = tmp_path_factory.mktemp("corpora")
    found = demo.load("ctb", "ctb")[:30]
    trees = [Sentence({"ctb": _chain(each["ctb"])}) for each in found]
    write(Corpus(trees, standard="ctb"), folder / "trees.conllx", format="conllx", column="xpos")
    chunks = ["He PRP B-NP", "runs VBZ B-VP", "the DT B-NP", "race NN I-NP", "", ""] * 8
    (folder / "chunks.txt").write_text("\n".join(chunks), encoding="utf-8")
    for path in DEMO.glob("*.txt"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def _chain(layer: Layer) -> Layer:
    relations = ("root", *["next"] * (len(layer) - 1))
    return Layer(layer.words, layer.tags, heads=tuple(range(len(layer))), relations=relations)


def _sides(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The sides of a recipe with files of our own."""
    if "parser" in content["model"]["kind"]:
        side = {"standard": "ctb", "format": "conllx", "column": "xpos", "train": "trees.conllx"}
        return [side | {"dev": "trees.conllx"}]
    if content["side"][0]["standard"] == "chunk":
        return [{"standard": "chunk", "format": "columns", "train": "chunks.txt"}]
    # Without pruning, or with that of the papers, a coupled model has hundreds of bundles a word.
    limits = (
        {"limit": 4, "dev_limit": 1}
        if content["model"]["kind"] == "coupled"
        else {"limit": 20, "dev_limit": 5}
    )
    return [
        {"standard": name, "train": f"{name}.txt", "dev": f"{name}-dev.txt", **limits}
        for name in (side["standard"] for side in content["side"])
    ]


@pytest.mark.parametrize("name", shipped_recipes())
def test_every_system_of_the_papers_trains(name: str, corpora: Path, tmp_path: Path) -> None:
    content = tomllib.loads(Recipe.load(name, tmp_path).text)
    content["side"] = _sides(content)
    content["learning"]["iterations"] = 1
    for table in ("pruning", "tagging"):
        if "folds" in content.get(table, {}):
            content[table]["folds"] = 2
    if "parser" in content["model"]["kind"]:  # tables of the usual size take seconds to write
        content["trees"]["bits"], content["relations"] = 12, {"bits": 10, "guess_iterations": 0}
        # A tagger of thirty sentences is unsure: with all its candidates, a search takes minutes.
        content.get("tagging", {})["threshold"] = 0.9
    (tmp_path / "r.toml").write_text(recipe_text(content), encoding="utf-8")
    train(tmp_path / "r.toml", tmp_path / "m", data=corpora)
    if not is_parser(tmp_path / "m"):
        assert load(tmp_path / "m").standards[0] == content["side"][0]["standard"]


def test_an_unknown_recipe_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match="papers/ has no recipe 'li2017-coupeld'") as caught:
        Recipe.load("papers/li2017-coupeld")
    assert "did you mean 'li2017-coupled'?" in caught.value.hint
    with pytest.raises(ConfigError, match="papers/ has no recipe 'list'") as caught:
        Recipe.load("papers/list")
    assert all(name.removeprefix("papers/") in caught.value.hint for name in shipped_recipes())


def test_numbered_files(tmp_path: Path) -> None:
    for name in ("chtb_001.fid", "chtb_0270.fid", "chtb_271.fid", "chtb_3.txt", "other_002.fid"):
        (tmp_path / name).touch()

    def names(pattern: str) -> list[str]:
        return [path.name for path in numbered_files(tmp_path, pattern)]

    assert names("chtb_{1-270}.fid") == ["chtb_001.fid", "chtb_0270.fid"]
    assert names("chtb_{1-999}.*") == ["chtb_001.fid", "chtb_3.txt", "chtb_0270.fid", "chtb_271.fid"]
    assert names("chtb_{400-931}.fid") == []
    assert names("chtb_1.fid") == ["chtb_1.fid"], "a name without numbers is taken as it is"


def test_numbered_files_are_one_corpus(tmp_path: Path) -> None:
    lines = (DEMO / "ctb.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    for k in (1, 2, 4):
        (tmp_path / f"c{k}.txt").write_text("".join(lines[k : k + 3]), encoding="utf-8")
    text = '[model]\nkind = "crf"\n[[side]]\nstandard = "ctb"\ntrain = "c{1-3}.txt"\ndev = "c{5-9}.txt"'
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    recipe = Recipe.load(tmp_path / "r.toml", tmp_path)
    corpus = recipe.corpus(recipe.sides[0], "train")
    assert corpus is not None
    assert len(corpus) == 6
    assert tmp_path / "c2.txt" in recipe.inputs()
    with pytest.raises(ConfigError, match=r"there is no file '.*c\{5-9\}.txt'"):
        recipe.corpus(recipe.sides[0], "dev")


def test_every_part_has_a_limit(tmp_path: Path) -> None:
    text = '[model]\nkind = "crf"\n[[side]]\nstandard = "ctb"\ntrain = "ctb.txt"\ndev = "ctb-dev.txt"\n'
    text += 'test = "both-ctb.txt"\nlimit = 5\ndev_limit = 4\ntest_limit = 3'
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    recipe = Recipe.load(tmp_path / "r.toml", DEMO)
    sizes = [len(recipe.corpus(recipe.sides[0], part) or ()) for part in ("train", "dev", "test")]
    assert sizes == [5, 4, 3]

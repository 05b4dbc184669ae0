"""An analyser from a recipe with a parser that has been trained before."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import duilian
from cli.running import Call, in_demo_folder
from duilian import demo
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.modelfile import checksum_of, read_model
from duilian.models import Parser, Tagger
from duilian.models.neural_parser.model import NeuralParser
from duilian.recipes import Recipe, Run, train
from models.random_neural import random_model
from recipes.test_analyzer_recipe import RECIPE, trees

OWN = re.compile(r"\[parser\]\n.*?\n\n", re.DOTALL)
NAMED = OWN.sub('[parser]\nfile = "own.model"\n\n', RECIPE)


def small_parser(standard: str = "ctb") -> Parser:
    """A parser that has seen one tree."""
    tree = Layer(("他", "看", "书"), ("PN", "VV", "NN"), (2, 0, 2), ("nsubj", "root", "obj"))
    return Parser(standard, order=1).set_params(trees__bits=12, relations__bits=10).fit([tree])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, a parser, the recipe that names it and its model."""
    folder = tmp_path_factory.mktemp("trained")
    for name in ("pku.txt", "pku-dev.txt"):
        shutil.copy(Path(demo.__file__).parent / name, folder)
    (folder / "trees.conllu").write_text(trees(), encoding="utf-8")
    small_parser().save(folder / "own.model")
    (folder / "r.toml").write_text(NAMED, encoding="utf-8")
    train(Recipe.load(folder / "r.toml"), Run(output=folder / "zh.model"))
    return folder


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, folder, {})


def test_the_parser_of_the_analyser_is_that_of_the_file(folder: Path) -> None:
    zh, parser = duilian.load(folder / "zh.model"), Parser.load(folder / "own.model")
    doc = zh("他们明天去北京。")
    (alone,) = parser.predict_layers([Layer(tuple(doc.words("ctb")), tuple(doc.tags("ctb")))])
    assert tuple(doc.heads) == alone.heads
    assert read_model(folder / "zh.model")[0]["parser"]["config"] == parser.config.to_dict()


def test_notes_tell_where_the_parser_comes_from(folder: Path, call: Call) -> None:
    notes = json.loads(call("inspect", "zh.model", "--json")[1])["notes"]["parser"]
    score = notes.pop("dev_score")
    assert 0 < score < 100
    assert notes == {"file": "own.model", "fingerprint": checksum_of(folder / "own.model")}
    out = call("inspect", "zh.model")[1]
    assert re.search(rf"^  from +own\.model \({notes['fingerprint'][:12]}\)$", out, re.MULTILINE)
    assert f"{score:.2f}" in out


def test_a_run_that_was_stopped_goes_on_with_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    plan, output = Recipe.load(folder / "r.toml"), tmp_path / "zh.model"

    def stop(stage: str) -> None:
        if stage == "segmenter of pku":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(plan, Run(output=output, on_stage=stop))
    assert (tmp_path / "zh.model.tagger").exists()
    train(plan, Run(output=output, resume=True, threads=2))
    assert output.read_bytes() == (folder / "zh.model").read_bytes()


def test_a_path_with_a_dot_is_beside_the_recipe(folder: Path, tmp_path: Path) -> None:
    near = Recipe.load(folder / "r.toml", tmp_path, ["parser.file=./own.model"])
    far = Recipe.load(folder / "r.toml", tmp_path)
    assert folder / "own.model" in list(near.inputs())
    assert tmp_path / "own.model" in list(far.inputs())


def test_a_dev_set_without_trees_has_no_score(folder: Path, tmp_path: Path) -> None:
    small_parser("pku").save(folder / "pku.model")
    output = tmp_path / "zh.model"
    train(Recipe.load(folder / "r.toml", overrides=["parser.file=pku.model"]), Run(output=output))
    assert read_model(output)[0]["notes"]["parser"]["dev_score"] is None
    assert duilian.load(output).parser.standard == "pku"  # type: ignore[union-attr]


@pytest.mark.parametrize("chooses_tags", [False, True])
def test_a_neural_parser_gets_into_an_analyser(folder: Path, tmp_path: Path, chooses_tags: bool) -> None:
    parser = NeuralParser.with_model(random_model(1, standard="ctb", chooses_tags=chooses_tags))
    parser.save(tmp_path / "neural.model")
    shutil.copy(folder / "r.toml", tmp_path)
    output, overrides = tmp_path / "zh.model", ["parser.file=./neural.model", "saving.precision=float32"]
    train(Recipe.load(tmp_path / "r.toml", folder, overrides), Run(output=output))
    doc = duilian.load(output)("他们明天去北京。")
    assert doc.heads.count(0) == 1
    if not chooses_tags:
        (alone,) = parser.predict_layers([Layer(tuple(doc.words("ctb")), tuple(doc.tags("ctb")))])
        assert tuple(doc.heads) == alone.heads
    notes = read_model(output)[0]["notes"]["parser"]
    assert notes["file"] == "neural.model"
    assert 0 <= notes["dev_score"] <= 100


@pytest.mark.parametrize(
    "key", ["order=1", "bits=20", "hints.standard=pku", "kind=joint-parser", "sees=xpos"]
)
def test_other_settings_of_the_parser_are_refused(folder: Path, key: str) -> None:
    name = key.partition("=")[0].partition(".")[0]
    with pytest.raises(
        ConfigError, match=rf"r\.toml: \[parser\] has a file, so it cannot have {name}"
    ) as caught:
        Recipe.load(folder / "r.toml", overrides=[f"parser.{key}"])
    assert "leave out file" in caught.value.hint


def test_the_file_is_checked_before_anything_is_trained(folder: Path, tmp_path: Path) -> None:
    Tagger("ctb").fit([Layer(("他",), ("PN",))]).save(folder / "tagger.model")
    small_parser("ud").save(folder / "ud.model")
    for overrides, message, hint in (
        (["parser.file=no.model"], "there is no file '.*no.model'", "train this parser first; say where"),
        (["parser.file=pku.txt"], "", ""),
        (["parser.file=tagger.model"], "'.*tagger.model' is a model of kind 'crf', not a parser", "name the"),
        (["parser.file=ud.model"], "standard 'ud', which is not one of ctb, pku", "use a parser"),
        (["parser.standard=pku"], "standard 'ctb', which is not 'pku'", "change [parser] standard"),
    ):
        with pytest.raises(ConfigError, match=rf"^r\.toml: \[parser\] file: .*{message}") as caught:
            train(Recipe.load(folder / "r.toml", overrides=overrides), Run(output=tmp_path / "zh.model"))
        assert hint in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_the_model_does_not_replace_the_parser(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"own\.model"):
        train(Recipe.load(folder / "r.toml"), Run(output=folder / "own.model"))

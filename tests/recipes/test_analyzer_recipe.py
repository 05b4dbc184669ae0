"""An analyser from a recipe: tagger and parser in one file, always with the same bytes."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duilian
from cli.running import Call, in_demo_folder
from duilian import demo
from duilian.engine import BUNDLED
from duilian.errors import ModelFileError
from duilian.learning import IterationReport
from duilian.modelfile import read_model, write_model
from duilian.models import CoupledTagger, Suite
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.effort import Effort
from duilian.models.parser.config import ParserConfig
from duilian.recipes import Recipe, Run, train
from duilian.recipes.kinds.analyzer import AnalyzerConfig

RECIPE = """
[model]
kind = "analyzer"

[features]
script = "simplified"
joint_count = 1

[pruning]
max_candidates = 3
max_candidates_tagging = 3

[start]
baseline_iterations = 2

[parser]
order = 1
bits = 14
relation_bits = 12
pruning_bits = 10
iterations = 2
min_weight = 0.001

[segmenter]
standard = "pku"
iterations = 2
min_weight = 0.001

[[side]]
standard = "ctb"
column = "xpos"
train = "trees.conllu"
dev = "trees.conllu"
test = "trees.conllu"

[[side]]
standard = "pku"
train = "pku.txt"
dev = "pku-dev.txt"
limit = 24

[learning]
iterations = 1
keep = "average"

[saving]
precision = "int8"
min_weight = 0.001

[card]
title = "a small analyser"
limits = ["it has seen little", "and knows less"]
"""
TREES = 24


def trees() -> str:
    """Sentences of the demo corpus, in which every word depends on the previous one."""
    blocks = []
    for sentence in list(demo.load("ctb", "ctb"))[:TREES]:
        layer = sentence["ctb"]
        rows = [
            f"{k}\t{word}\t_\t_\t{tag}\t_\t{k - 1}\t{'next' if k > 1 else 'root'}\t_\t_"
            for k, (word, tag) in enumerate(zip(layer.words, layer.tags or (), strict=True), start=1)
        ]
        blocks.append("\n".join(rows) + "\n\n")
    return "".join(blocks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, the recipe and its model."""
    folder = tmp_path_factory.mktemp("analyzer")
    for name in ("pku.txt", "pku-dev.txt"):
        shutil.copy(Path(demo.__file__).parent / name, folder)
    (folder / "trees.conllu").write_text(trees(), encoding="utf-8")
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    train(Recipe.load(folder / "r.toml"), Run(output=folder / "zh.model"))
    return folder


def test_the_file_is_an_analyser(folder: Path) -> None:
    zh = duilian.load(folder / "zh.model")
    assert zh.standards == ("ctb", "pku")
    doc = zh("他們明天去北京。")  # traditional
    assert doc.is_traditional
    assert "".join(doc.words("pku")) == doc.text
    simplified = zh("他们明天去北京。")
    for standard in zh.standards:
        assert [word.replace("們", "们") for word in doc.words(standard)] == simplified.words(standard)
        assert doc.tags(standard) == simplified.tags(standard)
    assert doc.heads == [0, *range(1, len(doc.heads))]
    notes = read_model(folder / "zh.model")[0]["notes"]
    assert notes["card"]["title"] == "a small analyser"
    assert notes["parser"]["dev_score"] > 90
    assert set(notes["sides"]) == {"ctb", "pku"}
    assert not (folder / "zh.model.tagger").exists()
    assert not (folder / "zh.model.checkpoint").exists()


@pytest.mark.parametrize("stop_at", ["tagger", "parser"])
def test_a_run_that_was_stopped_goes_on(folder: Path, tmp_path: Path, stop_at: str) -> None:
    told = []

    def stop(report: IterationReport) -> None:
        told.append(report)
        if (stop_at == "tagger") == ("pku" in report.details):
            raise KeyboardInterrupt

    plan, output = Recipe.load(folder / "r.toml"), tmp_path / "zh.model"
    with pytest.raises(KeyboardInterrupt):
        train(plan, Run(output=output, on_iteration=stop))
    assert Run(output=output).is_begun
    assert (tmp_path / "zh.model.tagger").exists() == (stop_at == "parser")
    train(plan, Run(output=output, resume=True))
    assert output.read_bytes() == (folder / "zh.model").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["zh.model"]


@pytest.mark.parametrize("stop_at", [1, 2], ids=["tagger", "whole"])
def test_a_run_that_was_stopped_before_it_removes_a_checkpoint_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int
) -> None:
    plan, output, calls = Recipe.load(folder / "r.toml"), tmp_path / "zh.model", []
    really_forget = Run.forget

    def forget(run: Run) -> None:
        calls.append(run)
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        really_forget(run)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "forget", forget)
        with pytest.raises(KeyboardInterrupt):
            train(plan, Run(output=output))
    assert Run(output=output).is_begun
    train(plan, Run(output=output, resume=True))
    assert output.read_bytes() == (folder / "zh.model").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["zh.model"]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, folder, {})


def test_evaluate_scores_trees_in_raw_text(call: Call) -> None:
    status, out, _ = call("evaluate", "zh.model", "trees.conllu", "--standard", "ctb", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["word"]["f1"] > 80
    assert 50 < found["raw_text"]["las"] <= found["raw_text"]["uas"] <= 100
    status, out, _ = call("evaluate", "zh.model", "pku-dev.txt", "--standard", "pku", "--json")
    assert status == 0
    assert "raw_text" not in json.loads(out)


def test_threads_do_not_show_in_the_bytes(call: Call, folder: Path) -> None:
    status, out, _ = call("train", "r.toml", "-o", "two.model", "--threads", "2", "--test")
    assert status == 0
    assert "raw text las" in out
    assert Path("two.model").read_bytes() == (folder / "zh.model").read_bytes()


def test_inspect_shows_the_card(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = call("inspect", "zh.model")
    assert status == 0
    for part in ("a small analyser", "it has seen little", "and knows less", "ctb, order 1", "analyzer"):
        assert part in out
    monkeypatch.setattr("duilian.engine.loading.BUNDLED", Path("zh.model"))
    assert call("inspect")[1] == out
    notes = json.loads(call("inspect", "zh.model", "--json")[1])["notes"]
    assert notes["card"]["title"] == "a small analyser"


def test_words_alone_come_from_the_segmenter(folder: Path, call: Call) -> None:
    zh = duilian.load(folder / "zh.model")
    assert zh.segmenter is not None
    texts = ["我们明天去北京。", "", "第一行。\n第二行，很长", " 空格 里 "]
    found = list(zh.segment(texts, fast=True))
    assert found == list(zh.segment(texts, "pku", fast=True, threads=2))
    assert ["".join(words) for words in found] == ["".join(text.split()) for text in texts]
    alone = [layer.words for layer in zh.segmenter.predict_layers([[texts[0]]])]
    assert [tuple(found[0])] == alone
    assert list(zh.segment(texts, "ctb")) == [doc.words("ctb") for doc in zh.pipe(texts)]
    own = zh.with_lexicon(duilian.Lexicon(["天去"]))
    assert "天去" in next(own.segment(texts))
    assert "天去" in next(own.segment(texts, fast=True))
    with pytest.raises(duilian.DuilianError, match="there is no standard 'ud'"):
        list(zh.segment(texts, "ud"))
    out = call("segment", "-m", "zh.model", "--fast", texts[0])[1]
    assert out == "  ".join(found[0]) + "\n"
    out = call("analyze", "--model", "zh.model", "--to", "words", texts[0])[1]
    assert out.split() == zh(texts[0]).words()
    other = call("analyze", "--model", "zh.model", "--to", "words", "--standard", "ctb", texts[0])[1]
    assert other.split() == zh(texts[0]).words("ctb")


def test_other_commands_take_the_file_too(call: Call) -> None:
    Path("a.txt").write_text("我们明天去北京。\n", encoding="utf-8")
    assert call("tag", "-m", "zh.model", "a.txt", "--standard", "pku")[0] == 0
    assert call("segment", "-m", "zh.model", "a.txt", "--standard", "pku")[0] == 0
    status, out, _ = call("parse", "zh.model", "trees.conllu")
    assert status == 0
    assert out.count("\troot\t") == TREES
    status, out, _ = call("analyze", "--model", "zh.model", "--to", "pretty", "我们明天去北京。")
    assert status == 0
    assert "└─ " in out


def test_a_card_has_texts(folder: Path) -> None:
    (folder / "bad.toml").write_text(RECIPE.replace('"a small analyser"', "3"), encoding="utf-8")
    with pytest.raises(duilian.DuilianError, match=r"bad.toml: \[card\] title must be a string"):
        Recipe.load(folder / "bad.toml")


@pytest.mark.parametrize(
    "damage",
    [
        lambda header: header.pop("tagger"),
        lambda header: header.update(parser=3),
        lambda header: header["tagger"].update(kind="parser"),
        lambda header: header.update(segmenter=header["parser"]),
        lambda header: header["parser"]["config"].update(standard="ud"),
        lambda header: header["segmenter"]["config"].update(standard="ud"),
        lambda header: header["tagger"]["config"].update(level="word"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(
    folder: Path, tmp_path: Path, damage: Callable[[dict[str, Any]], object]
) -> None:
    header, arrays = read_model(folder / "zh.model")
    damage(header)
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match="do not fit together"):
        duilian.load(tmp_path / "bad.model")


def test_the_parts_must_fit(folder: Path) -> None:
    zh = duilian.load(folder / "zh.model")
    assert isinstance(zh.model, CoupledTagger)
    assert zh.model.features.script == zh.parser.script == "simplified"  # type: ignore[union-attr]


def test_the_settings_of_all_parts_come_from_the_recipe(folder: Path) -> None:
    config = Recipe.load(folder / "r.toml").config
    assert isinstance(config, AnalyzerConfig)
    header, _ = read_model(folder / "zh.model")
    assert ParserConfig().updated(header["parser"]["config"]) == config.parser_config()
    tagger = CoupledConfig().updated(header["tagger"]["config"])
    assert tagger == config.tagger_config().updated({"features": {"templates": "segpos-char"}})
    assert header["segmenter"]["config"]["learning"]["iterations"] == 2


def test_the_segmenter_needs_a_side(folder: Path) -> None:
    with pytest.raises(duilian.DuilianError, match="the segmenter's standard 'ud' is not one of ctb, pku"):
        Recipe.load(folder / "r.toml", overrides=["segmenter.standard=ud"])


def test_an_older_recipe_says_what_became_of_its_keys(folder: Path) -> None:
    for setting, hint in (
        ("model.parser_bits=3", "[parser] bits"),
        ("model.parser_least=3", "[parser] min_weight"),
        ("model.segmenter_least=3", "[segmenter] min_weight"),
        ("model.segmenter=pku", "[segmenter] and its keys"),
    ):
        with pytest.raises(duilian.DuilianError) as caught:
            Recipe.load(folder / "r.toml", overrides=[setting])
        assert hint in caught.value.hint


def test_a_copy_in_another_process_prunes_as_the_analyser_does(folder: Path) -> None:
    suite = Suite.load(folder / "zh.model")
    assert isinstance(suite.tagger, CoupledTagger)
    copy = pickle.loads(pickle.dumps(suite.tagger))
    assert copy.predictor_.effort == suite.tagger.predictor_.effort == Effort(5.0, 0.9, 2.5)
    assert CoupledTagger.with_model(suite.tagger.model_).predictor_.effort == Effort()


def test_the_bundled_model_says_what_its_recipe_says() -> None:
    path = Path(__file__).parents[2] / "recipes" / "bundled.toml"
    config = Recipe.load(path).config
    assert isinstance(config, AnalyzerConfig)
    header, _ = read_model(BUNDLED)
    assert header["notes"]["recipe"] == path.read_text(encoding="utf-8")
    expected = config.tagger_config().to_dict()
    for lists in (expected["features"]["dictionary"], expected["features"]["mixing"]):
        lists["file"] = Path(lists["file"]).name  # where it was is nobody's business
    assert header["tagger"]["config"] == expected
    assert config.parser.file is not None
    assert header["notes"]["parser"]["file"] == Path(config.parser.file).name
    assert header["parser"]["config"]["standard"] == config.parser.standard
    assert header["segmenter"]["config"]["standard"] == config.segmenter.standard

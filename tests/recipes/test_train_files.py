"""Recipes with self-training, and with weights of training files."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from demo_recipes import ONE_SIDE, both_sides, train_bytes
from duilian.errors import ConfigError, DuilianError
from duilian.recipes import Run, train
from duilian.recipes.train_files import TrainFile

QUICK = "\n[features]\njoint_count = 1\n\n[start]\nbaseline_iterations = 2\n\n"
COUPLED = both_sides("coupled").replace('"ctb-dev.txt"', '"ctb-dev.txt"\nlimit = 60') + QUICK
TAUGHT = f"{COUPLED}[self_training]\nrounds = 1\niterations = 1\n"
FILES = 'train = ["ctb.txt", { file = "both-ctb.txt", weight = 0.5 }]'
WEIGHTED = COUPLED.replace('train = "ctb.txt"', FILES).replace("limit = 60", "limit = 270")


def second(name: str):
    seen: list[str] = []

    def see(stage: str) -> None:
        seen.append(stage)
        if seen.count(name) == 2:
            raise KeyboardInterrupt

    return see


def test_self_training_from_a_recipe(recipe, tmp_path):
    plan, path, stages = recipe(TAUGHT), tmp_path / "a.model", []
    whole = train_bytes(plan, path, on_stage=stages.append)
    assert "teacher 1 of 1" in stages
    assert [each.name for each in tmp_path.glob("a.model*")] == ["a.model"]
    path.unlink()
    with pytest.raises(KeyboardInterrupt):
        train(plan, Run(output=path, on_stage=second("features")))
    run = Run(output=path, resume=True)
    assert run.is_begun
    assert not run.checkpoint.exists()  # only the teacher's labels are kept so far
    assert train_bytes(plan, path, resume=True) == whole
    assert [each.name for each in tmp_path.glob("a.model*")] == ["a.model"]


def test_a_mapping_of_its_own_lies_beside_the_recipe(recipe, tmp_path):
    plan = recipe(f'{TAUGHT}mapping = "mine.txt"\n')
    assert Path(plan.config.start.self_training.mapping) == plan.path.parent / "mine.txt"
    with pytest.raises(DuilianError, match=r"mine\.txt"):
        train(plan, Run(output=tmp_path / "a.model"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rounds = 99", r"\[self_training\] rounds must be at most 9, got 99"),
        ("confidence = 0", r"\[self_training\] confidence must be greater than 0"),
        ("confidense = 0.9", "did you mean 'confidence'"),
    ],
)
def test_wrong_settings_of_self_training(recipe, line, message):
    with pytest.raises(ConfigError) as caught:
        recipe(f"{COUPLED}[self_training]\n{line}\n")
    assert re.search(message, f"{caught.value} {caught.value.hint}")


def test_files_have_weights(recipe, tmp_path):
    plan = recipe(WEIGHTED)
    assert plan.sides[0].train == ("ctb.txt", TrainFile(file="both-ctb.txt", weight=0.5))
    told = recipe(WEIGHTED)
    run = Run(output=tmp_path / "a.model")
    read = dataclasses.replace(told, run=run)
    corpus = read.corpus(plan.sides[0], "train")
    weights = read.train_weights(plan.sides[0])
    assert len(weights) == len(corpus) == 270
    assert set(weights[:260]) == {1.0}
    assert set(weights[260:]) == {0.5}
    assert read.train_weights(plan.sides[1]) is None
    heavier = recipe(WEIGHTED.replace("0.5", "5"))
    assert train_bytes(plan, tmp_path / "a.model") != train_bytes(heavier, tmp_path / "b.model")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('{ file = "both-ctb.txt", weight = 0 }', r"\[\[side\]\] train weight must be greater than 0"),
        ('{ file = "both-ctb.txt", weight = "much" }', "weight must be a number"),
        ("{ weight = 2 }", "needs the key 'file'"),
        ('{ path = "both-ctb.txt" }', "has no key 'path'"),
        ("3", "train must be a string or a list of strings"),
    ],
)
def test_wrong_files_are_refused(recipe, table, message):
    with pytest.raises(ConfigError, match=message):
        recipe(WEIGHTED.replace('{ file = "both-ctb.txt", weight = 0.5 }', table))


@pytest.mark.parametrize("kind", ["crf", "multitask"])
def test_other_kinds_refuse_weights(recipe, tmp_path, kind):
    text = ONE_SIDE if kind == "crf" else both_sides(kind)
    plan = recipe(text.replace('train = "ctb.txt"', FILES))
    with pytest.raises(ConfigError, match=f"a model of kind '{kind}' does not use"):
        train(plan, Run(output=tmp_path / "a.model"))

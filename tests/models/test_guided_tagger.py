"""The guided tagger on the demonstration corpora."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from demo_recipes import train_bytes
from duilian import demo
from duilian.corpus import Layer
from duilian.errors import ConfigError, ModelFileError
from duilian.features import Templates
from duilian.learning import AdaGrad, IterationReport, PassiveAggressive, Session, fingerprint, jackknifed
from duilian.modelfile import read_model, write_model
from duilian.models import GuidedTagger, Tagger, load
from duilian.models.base.feature_settings import Features
from duilian.models.guided.config import GuidedConfig
from duilian.models.guided.training import GuidedTrainer
from duilian.recipes import Recipe

CTB = [sentence["ctb"] for sentence in demo.load("ctb", "ctb")]
DEV = [sentence["ctb"] for sentence in demo.load("ctb-dev", "ctb")]
PKU = [sentence["pku"] for sentence in demo.load("pku", "pku")]
QUICK = AdaGrad(iterations=2)
RECIPE = """
[model]
kind = "guided"
source_iterations = 1

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"
limit = 60
sample = 50

[[side]]
standard = "pku"
train = "pku.txt"
limit = 60
sample = 40

[learning]
iterations = 2

[saving]
min_weight = 0.01
"""


@pytest.fixture(scope="module")
def guided() -> GuidedTagger:
    """One with both guides."""
    tagger = GuidedTagger("ctb", source_standard="pku", folds=3, learning=QUICK)
    return tagger.fit(CTB[:90], source=PKU[:90], dev=DEV)


def test_it_beats_a_plain_one(tmp_path: Path) -> None:
    learning = AdaGrad(iterations=5)
    plain = Tagger("ctb", learning=learning).fit(CTB).score(DEV)
    tagger = GuidedTagger("ctb", source_standard="pku", learning=learning).fit(CTB, source=PKU)
    assert tagger.score(DEV) > plain
    tagger.save(tmp_path / "g.duilian")
    loaded = GuidedTagger.load(tmp_path / "g.duilian")
    assert loaded.predict(DEV) == tagger.predict(DEV, threads=2)
    assert loaded.get_params() == tagger.get_params()
    assert pickle.loads(pickle.dumps(tagger)).predict(DEV) == tagger.predict(DEV)
    with pytest.raises(ModelFileError, match="kind 'guided', not 'crf'"):
        Tagger.load(tmp_path / "g.duilian")


@pytest.mark.parametrize("level", ["word", "char"])
def test_jack_knifed_guides_are_there_for_training_and_tagging(level: Any, tmp_path: Path) -> None:
    tagger = GuidedTagger("ctb", source_standard="pku", folds=3, level=level, learning=QUICK)
    tagger.fit(CTB[:90], source=PKU[:90], dev=DEV)
    assert tagger.templates_.name == f"guide-own-{level}"
    assert tagger.own_ is not None
    assert (tagger.source_.standard, tagger.own_.standard) == ("pku", "ctb")
    tagger.save(tmp_path / "g.duilian")
    assert GuidedTagger.load(tmp_path / "g.duilian").predict(DEV) == tagger.predict(DEV)


def test_training_sees_jack_knifed_labels_and_tagging_those_of_the_own_tagger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is packed, column by column, against taggers that are trained here."""
    layers, seen = CTB[:60], []
    monkeypatch.setattr(
        "duilian.models.guided.training.pack",
        lambda units, folding, columns: seen.append(columns) or real(units, folding, columns),
    )
    from duilian.features import pack as real

    source = Tagger("pku", learning=QUICK).fit(PKU[:60])
    config = GuidedConfig(standard="ctb", folds=3, learning=QUICK)
    trainer = GuidedTrainer(config, Session(), source)
    trainer.run(layers)
    (columns,) = seen
    words = [layer.words for layer in layers]

    def answer(train: list[Layer], held_out: list[Layer]) -> list[list[str]]:
        return Tagger("ctb", learning=QUICK).fit(train).predict(held_out)

    folds = [labels for fold in jackknifed(layers, 3, answer) for labels in fold]
    assert [each["own"] for each in columns] == folds
    assert [each["guide"] for each in columns] == source.predict(words)
    own = Tagger("ctb", learning=QUICK).fit(layers).predict(words)
    assert own != folds
    for _ in range(2):  # nothing is used up
        assert [each["own"] for each in trainer.packer.columns(words, layers, 1)] == own


@pytest.mark.parametrize("rule", [AdaGrad, PassiveAggressive])
@pytest.mark.parametrize("folds", [0, 2])
def test_the_same_bytes_for_any_number_of_threads_and_resumed(rule: Any, folds: int, tmp_path: Path) -> None:
    def fit(**options: Any) -> bytes:
        tagger = GuidedTagger("ctb", folds=folds, learning=rule(iterations=3), source_iterations=2)
        session = Session(checkpoint=tmp_path / "c", **options)
        tagger.fit(CTB[:40], source=PKU[:40], dev=DEV[:10], session=session).save(tmp_path / "g")
        return (tmp_path / "g").read_bytes()

    def stop(report: IterationReport) -> None:
        if report.iteration == 2:
            raise KeyboardInterrupt

    whole = fit()
    assert fit(threads=2) == whole
    with pytest.raises(KeyboardInterrupt):
        fit(on_iteration=stop)
    seen: list[int] = []
    assert fit(resume=True, on_iteration=lambda report: seen.append(report.iteration)) == whole
    assert seen == [3]


def test_a_source_that_is_there_and_one_that_is_trained_are_the_same() -> None:
    source = Tagger("pku", learning=AdaGrad(iterations=1)).fit(PKU[:60])
    ready = GuidedTagger("ctb", source_standard="pku", learning=QUICK).fit(CTB[:60], source=source)
    told = GuidedTagger("ctb", source_standard="pku", learning=QUICK, source_iterations=1)
    arrays = told.fit(CTB[:60], source=PKU[:60]).state()[1]
    assert ready.state()[1].keys() == arrays.keys()
    for name, array in ready.state()[1].items():
        np.testing.assert_array_equal(array, arrays[name])
    assert told.source_.learning.iterations == 1


def test_trimming_leaves_the_guides_unless_the_source_is_trimmed_too() -> None:
    source = Tagger("pku", learning=QUICK).fit(PKU[:60])
    tagger = GuidedTagger("ctb", source_standard="pku", learning=QUICK).fit(CTB[:60], source=source)
    sizes = []
    for _ in range(2):
        tagger.trim(0.05)
        arrays = tagger.state()[1]
        sizes.append((len(arrays["weight"]), len(arrays["source.weight"])))
        source.trim(0.05)
    assert sizes[0][0] == sizes[1][0]
    assert sizes[0][1] > sizes[1][1]


def test_a_file_names_its_arrays_and_no_paths(guided: GuidedTagger, tmp_path: Path) -> None:
    names = ["check", "used", "slots", "size", "first", "step", "transition", "weight"]
    assert list(guided.state()[1]) == [*names, *(f"{a}.{b}" for a in ("source", "own") for b in names)]
    (tmp_path / "t.txt").write_text(Templates.load("guide-word").text, encoding="utf-8")
    features = Features(templates=str(tmp_path / "t.txt"))
    tagger = GuidedTagger("ctb", features=features, learning=QUICK).fit(CTB[:40], source=PKU[:40])
    tagger.save(tmp_path / "m")
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()
    assert GuidedTagger.load(tmp_path / "m").features.templates == "t.txt"


def test_a_file_without_a_guide_is_refused(guided: GuidedTagger, tmp_path: Path) -> None:
    guided.save(tmp_path / "m")
    header, arrays = read_model(tmp_path / "m")
    for name in ("source", "own"):
        write_model(tmp_path / "bad", {key: each for key, each in header.items() if key != name}, arrays)
        with pytest.raises(ModelFileError, match="do not fit together"):
            GuidedTagger.load(tmp_path / "bad")
        few = {key: each for key, each in arrays.items() if not key.startswith(f"{name}.")}
        write_model(tmp_path / "bad", header, few)
        with pytest.raises(ModelFileError, match="do not fit together"):
            GuidedTagger.load(tmp_path / "bad")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: GuidedTagger(folds=1).fit(CTB, source=PKU), "folds must be 0 or at least 2, got 1"),
        (lambda: GuidedTagger(folds=-1).fit(CTB, source=PKU), "folds must be at least 0, got -1"),
        (
            lambda: GuidedTagger(source_iterations=0).fit(CTB, source=PKU),
            "source_iterations must be at least",
        ),
        (lambda: GuidedTagger().fit(CTB), "needs a source"),
    ],
)
def test_wrong_settings_are_refused(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        act()


def test_parameters_are_the_settings() -> None:
    parameters = inspect.signature(GuidedTagger).parameters
    fields = dataclasses.fields(GuidedConfig)
    assert {name: each.default for name, each in parameters.items()} == {
        field.name: field.default for field in fields
    }
    assert len(fields) <= 8
    tagger = GuidedTagger("x").set_params(learning__rate=0.1, features__min_count=2, folds=4)
    again = clone(tagger)
    assert again.get_params() == tagger.get_params()
    assert (again.learning.rate, again.features.min_count, again.folds) == (0.1, 2, 4)  # type: ignore[attr-defined]
    assert GuidedConfig().updated(tagger.config.to_dict()) == tagger.config


def test_guides_share_the_settings_but_not_the_templates() -> None:
    config = GuidedConfig(
        standard="a",
        level="char",
        segment_only=True,
        source_standard="b",
        source_iterations=3,
        features=Features(templates="guide-char", join_digits=True),
        learning=AdaGrad(iterations=7, rate=0.1),
    )
    source, own = config.source_config(), config.own_config()
    assert (source.standard, source.learning) == ("b", AdaGrad(iterations=3, rate=0.1))
    assert (own.standard, own.learning) == ("a", config.learning)
    for each in (source, own):
        assert (each.level, each.segment_only) == ("char", True)
        assert each.features == Features(join_digits=True)
    assert fingerprint(config, []) != fingerprint(dataclasses.replace(config, folds=2), [])


def test_a_recipe_trains_it(recipe: Callable[..., Recipe], tmp_path: Path) -> None:
    plan = recipe(RECIPE)
    whole = train_bytes(plan, tmp_path / "m")
    assert train_bytes(plan, tmp_path / "m", threads=2) == whole
    tagger = load(tmp_path / "m")
    assert isinstance(tagger, GuidedTagger)
    assert (tagger.standard, tagger.source_standard, tagger.learning.sample) == ("ctb", "pku", 50)
    source = tagger.source_
    assert (source.standard, source.learning.iterations, source.learning.sample) == ("pku", 1, 40)
    for name in ("weight", "source.weight"):
        assert np.abs(tagger.state()[1][name]).min() >= 0.01
    with pytest.raises(ConfigError, match=r"\[model\] has no key 'source_standard'") as caught:
        recipe(RECIPE, "model.source_standard=msr")
    assert caught.value.hint == "set it in [[side]]"

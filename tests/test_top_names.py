"""The names at the top of the package do what they say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import duilian as dl
from demo_recipes import ONE_SIDE
from duilian import demo
from duilian.learning import AdaGrad


def test_every_name_is_there() -> None:
    for name in dl.__all__:
        assert getattr(dl, name) is not None
    assert {"Doc", "Token", "Ask", "evaluate", "convert", "train"} <= set(dl.__all__)


def test_a_recipe_is_trained_and_its_model_evaluated(tmp_path: Path) -> None:
    for path in Path(demo.__file__).parent.glob("*.txt"):
        shutil.copy(path, tmp_path)
    (tmp_path / "r.toml").write_text(ONE_SIDE, encoding="utf-8")
    score = dl.train(tmp_path / "r.toml", tmp_path / "m", overrides=["learning.iterations=2"])
    zh = dl.load(tmp_path / "m")
    gold = dl.read(tmp_path / "ctb-dev.txt", standard="ctb")
    found = dl.evaluate(zh, gold)
    assert found.accuracy == pytest.approx(score)
    assert dl.evaluate(zh.model, gold, standard="CTB").accuracy == found.accuracy


def test_a_corpus_is_converted() -> None:
    corpora = [demo.load(name, name) for name in demo.STANDARDS]
    tagger = dl.CoupledTagger(demo.STANDARDS, learning=AdaGrad(iterations=1)).fit(
        [each[:40] for each in corpora]
    )
    found = dl.convert(tagger, corpora[1], "CTB", unknown_tags=True)
    assert (found.standard, len(found)) == ("ctb", len(corpora[1]))
    assert [each.text for each in found] == [each.text for each in corpora[1]]
    with pytest.raises(dl.DuilianError, match="'crf' cannot convert"):
        dl.convert(dl.Tagger("ctb"), corpora[0], "pku")

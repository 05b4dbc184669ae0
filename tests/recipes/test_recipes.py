"""Recipes: what they accept and refuse, error messages, files left by training."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import pytest

from demo_recipes import ONE_SIDE as RECIPE
from demo_recipes import train_bytes
from duilian.errors import ConfigError, CorpusError, DuilianError, ModelFileError, StandardError
from duilian.learning import AdaGrad
from duilian.models import Tagger
from duilian.models.crf.config import CrfConfig
from duilian.recipes import KINDS, Kind, Recipe, Run, register, train

DEMO = Path(str(importlib.resources.files("duilian.demo")))
SHIPPED = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
SHIPPED = [path for path in SHIPPED if not path.stem.endswith(".rules")]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_recipes_are_sound(path, tmp_path):
    found = Recipe.load(path, tmp_path)
    marks = {kind: kind for kind in ("two-chain", "guided", "parser", "multitask")}
    marks |= {"mixed": "dynamic", "joint": "joint-parser", "ud1-ud2": "tree-converter"}
    named = [kind for mark, kind in marks.items() if mark in path.stem]
    usual = "coupled" if "-pd" in path.stem else "crf"
    assert found.kind == (
        "analyzer" if path.stem.startswith(("bundled", "ud2-")) else named[0] if named else usual
    )
    with pytest.raises(ConfigError, match="there is no file") as caught:
        found.corpus(found.sides[0], "dev" if found.sides[0].dev else "train")
    assert "--data" in caught.value.hint


def test_there_are_shipped_recipes():
    assert {"zx-pos", "pd-seg", "conll2000", "zx-pd", "zx-udc-pd"} <= {path.stem for path in SHIPPED}


def test_what_is_named_is_taken_and_the_rest_is_usual(recipe):
    found = recipe()
    assert found.config == CrfConfig(standard="ctb", learning=AdaGrad(iterations=2))
    assert (found.saving.precision, found.saving.min_weight) == ("float32", 0.0)
    corpus = found.corpus(found.sides[0], "train")
    assert corpus is not None
    assert len(corpus) == 80
    assert len(found.corpus(found.sides[0], "dev") or ()) == 40, "the limit is for train only"
    assert found.corpus(found.sides[0], "test") is None


WRONG = [
    ("learning.raet=1", "r.toml: [learning] has no key 'raet'", "did you mean 'rate'?"),
    ("learning.xyzzy=1", "r.toml: [learning] has no key 'xyzzy'", "choose one of: iterations"),
    ("learning.batch=1.5", "r.toml: [learning] batch must be a whole number, got 1.5", ""),
    ("learning.batch=true", "r.toml: [learning] batch must be a whole number, got True", ""),
    ("learning.batch=0", "r.toml: [learning] batch must be at least 1, got 0", ""),
    ("learning.rate=-1", "r.toml: [learning] rate must be greater than 0, got -1", ""),
    ("learning.average=1", "r.toml: [learning] average must be true or false, got 1", ""),
    (
        "learning.algorithm=adam",
        "r.toml: [learning] algorithm must be one of 'adagrad', 'sgd', 'eg', 'pa', 'perceptron', got 'adam'",
        "",
    ),
    ("model.kind=crff", "r.toml: [model] kind 'crff' does not exist", "did you mean 'crf'?"),
    ("model.levle=char", "r.toml: [model] has no key 'levle'", "did you mean 'level'?"),
    ("side.dve=a.txt", "r.toml: [[side]] has no key 'dve'", "did you mean 'dev'?"),
    ("side.train=[1]", "r.toml: [[side]] train must be a string or a list of strings, got (1,)", ""),
    ("side.limit=0", "r.toml: [[side]] limit must be at least 1, got 0", ""),
    ("side.cut=word", "r.toml: [[side]] cut must be 'line' or 'sentence', got 'word'", ""),
    (
        "saving.precision=int2",
        "r.toml: [saving] precision must be 'float32' or 'float16' or 'int8' or 'int4', got 'int2'",
        "",
    ),
    ("lern.rate=1", "r.toml: the recipe has no table [lern]", "did you mean 'learning'?"),
    ("learning.rate", "--set learning.rate: expected table.key=value", "for instance learning.rate=0.1"),
    ("rate=1", "--set rate=1: expected table.key=value", "for instance learning.rate=0.1"),
    ("side.2.dev=a", "--set side.2.dev=a: 2 must be a number from 1 to 1", ""),
    ("learning.iterations.x=1", "--set learning.iterations.x=1: learning.iterations is not a table", ""),
]


@pytest.mark.parametrize(("setting", "message", "hint"), WRONG, ids=lambda value: value[:20])
def test_mistakes_are_named(recipe, setting, message, hint):
    with pytest.raises(ConfigError) as caught:
        recipe(RECIPE, setting)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)
    assert bool(caught.value.hint) == bool(hint)


def test_all_mistakes_are_told_at_once(recipe):
    wrong = (
        "learning.raet=1",
        "learning.batch=0",
        "model.most=4",
        "lern.x=1",
        "side.limit=0",
        "saving.least=1",
    )
    with pytest.raises(ConfigError) as caught:
        recipe(RECIPE.replace('standard = "ctb"', ""), *wrong)
    assert caught.value.message.splitlines() == [
        "r.toml: 7 mistakes",
        "  [[side]] needs the key 'standard'",
        "  [[side]] limit must be at least 1, got 0",
        "  the recipe has no table [lern] (did you mean 'learning'?)",
        "  [learning] has no key 'raet' (did you mean 'rate'?)",
        "  [learning] batch must be at least 1, got 0",
        "  [model] has no key 'most' (it is now [pruning] max_candidates)",
        "  [saving] has no key 'least' (it is now [saving] min_weight)",
    ]
    with pytest.raises(ConfigError, match=r"^r\.toml: \[model\] kind 'crff' does not exist"):
        recipe(RECIPE, "model.kind=crff", *wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "[model] needs the key 'kind'"),
        ("model = 1", "model must be a table"),
        ("[model]\nkind = 'crf'", "has 0 [[side]]; a model of kind 'crf' needs 1"),
        ("[model]\nkind = 'crf'\n[[side]]\nstandard = 'a'", "[[side]] needs the key 'train'"),
        ("[model]\nkind = 'crf'\n[side]\nstandard = 'a'", "side must be a list of tables"),
        ("[model", "expected ']'"),
    ],
)
def test_wholes_that_are_wrong(recipe, text, message):
    with pytest.raises(ConfigError) as caught:
        recipe(text)
    assert message in caught.value.message
    assert "r.toml: " in caught.value.message


def test_overrides_are_values_or_bare_strings(recipe):
    found = recipe(
        RECIPE, "learning.rate=0.1", "side.dev=['a', 'b']", "side.1.standard=x-y", "saving.precision='int8'"
    )
    assert found.config.learning.rate == 0.1
    assert (found.sides[0].dev, found.sides[0].standard) == (("a", "b"), "x-y")
    assert found.saving.precision == "int8"


def test_several_files_are_one_corpus(recipe):
    found = recipe(RECIPE, "side.dev=['ctb-dev.txt', 'both-ctb.txt']")
    assert len(found.corpus(found.sides[0], "dev") or ()) == 65


def test_where_paths_start(recipe, tmp_path, monkeypatch):
    assert recipe(data=None).folder == tmp_path
    monkeypatch.setenv("DUILIAN_DATA", "elsewhere")
    assert recipe(data=None).folder == Path("elsewhere")
    assert recipe(data=DEMO).folder == DEMO
    (tmp_path / "own.txt").write_text("好_VA\n", encoding="utf-8")
    found = recipe(RECIPE, "side.train=['./own.txt', 'ctb.txt']", data=DEMO)
    assert [each["ctb"].words for each in (found.corpus(found.sides[0], "train") or ())[:1]] == [("好",)]
    assert tmp_path / "own.txt" in found.inputs()


def test_two_sides_need_a_kind_that_takes_them(recipe, monkeypatch):
    text = RECIPE + '[[side]]\nstandard = "pku"\ntrain = "pku.txt"\n'
    with pytest.raises(ConfigError, match="has 2"):
        recipe(text)
    monkeypatch.setitem(KINDS, "pair", Kind("pair", CrfConfig, range(2, 3), lambda recipe, run: 12.5))
    found = recipe(text, "model.kind=pair", "side.2.limit=3")
    assert [side.limit for side in found.sides] == [80, 3]
    with pytest.raises(ConfigError, match="say which"):
        recipe(text, "model.kind=pair", "side.limit=3")
    assert train(found, Run(output=Path("never-written"))) == 12.5


def test_register_adds_a_kind(monkeypatch):
    monkeypatch.setattr("duilian.recipes.parts.KINDS", {})
    from duilian.recipes import parts

    register(Kind("new", CrfConfig, range(1, 2), lambda recipe, run: None))
    assert list(parts.KINDS) == ["new"]


def test_threads_and_folders_do_not_show_in_the_model(recipe, tmp_path):
    (tmp_path / "mine.txt").write_text("w[0]\nt[-1]\n", encoding="utf-8")
    text = RECIPE.replace('kind = "crf"', 'kind = "crf"\n\n[features]\ntemplates = "mine.txt"')
    one = train_bytes(recipe(text), tmp_path / "one", threads=1)
    two = train_bytes(recipe(text), tmp_path / "two", threads=3)
    assert one == two
    assert str(tmp_path).encode() not in one
    assert train_bytes(recipe(text, "learning.seed=2"), tmp_path / "three") != one


def test_notes_tell_where_a_model_comes_from(recipe, tmp_path):
    plan = recipe(RECIPE, "learning.iterations=1")
    score = train(plan, Run(output=tmp_path / "m"))
    notes = Tagger.load(tmp_path / "m").notes_
    corpus = plan.corpus(plan.sides[0], "train")
    assert corpus is not None
    assert notes["recipe"] == RECIPE
    assert notes["overrides"] == ["learning.iterations=1"]
    assert notes["corpora"]["train"] == {"sentences": 80, "fingerprint": corpus.fingerprint()}
    assert notes["corpora"]["dev"]["sentences"] == 40
    assert (notes["dev_score"], notes["iterations"]) == (score, 1)


def test_stopped_and_resumed_is_the_same_model(recipe, tmp_path):
    class Stop(Exception):  # noqa: N818
        pass

    def stop(report):
        raise Stop

    plan = recipe(RECIPE, "learning.iterations=3")
    whole = train_bytes(plan, tmp_path / "whole")
    run = Run(output=tmp_path / "m", on_iteration=stop)
    with pytest.raises(Stop):
        train(plan, run)
    assert run.checkpoint.exists()
    assert not run.output.exists()
    seen: list[int] = []
    resumed = train_bytes(
        plan, run.output, resume=True, on_iteration=lambda report: seen.append(report.iteration)
    )
    assert seen == [2, 3]
    assert resumed == whole
    assert not run.checkpoint.exists()


def test_a_checkpoint_of_another_run_is_refused(recipe, tmp_path):
    def stop(report):
        raise KeyboardInterrupt

    run = Run(output=tmp_path / "m", on_iteration=stop, resume=True)
    with pytest.raises(KeyboardInterrupt):
        train(recipe(), run)
    with pytest.raises(ModelFileError, match="this is the checkpoint of another run"):
        train(recipe(RECIPE, "learning.rate=0.5"), run)


def test_warnings_about_the_dev_set(recipe, tmp_path):
    said: list[str] = []
    run = Run(output=tmp_path / "m", on_warning=said.append)
    train(recipe(), run)
    assert said == []
    train(recipe(RECIPE.replace("limit = 80\n", ""), "side.dev=ctb.txt"), run)
    train(recipe(RECIPE, "side.dev=ctb.txt"), run)
    assert "the dev set is the training corpus" in said[0]
    assert "80 of 260 dev sentences also occur" in said[1]


def test_what_looks_wrong_in_a_corpus_is_told_once(recipe, tmp_path):
    """Malformed lines with --lenient, tags that the standard does not have, and its name if it is a slip."""
    (tmp_path / "a.wordpos").write_text("他_PN 来_VV1\nbad\n他_PN 去_VV\n", encoding="utf-8")
    text = RECIPE.replace("ctb.txt", "a.wordpos").replace("ctb-dev.txt", "a.wordpos")
    with pytest.raises(CorpusError, match=r"a\.wordpos:2: the word 'bad' has no tag"):
        train(recipe(text, data=tmp_path), Run(output=tmp_path / "m"))
    told = []
    run = Run(output=tmp_path / "m", lenient=True, on_warning=told.append)
    train(recipe(text, data=tmp_path), run)
    path = tmp_path / "a.wordpos"
    assert told[:2] == [
        f"skipped 1 line; first: {path}:2: the word 'bad' has no tag",
        f"{path}:1: 来_VV1: 1 word has a tag that 'ctb' does not have (VV1 1)",
    ]
    assert len(told) == 3, "the third is about the dev set"
    told.clear()
    run = Run(output=tmp_path / "m", lenient=True, on_warning=told.append)
    train(recipe(text, "side.standard=ctbb", "side.limit=1", data=tmp_path), run)
    assert told[0] == "the standard 'ctbb' is not built in; did you mean 'ctb'?"


def test_smaller_files(recipe, tmp_path):
    plain = len(train_bytes(recipe(), tmp_path / "a"))
    assert len(train_bytes(recipe(RECIPE, "saving.precision=int8"), tmp_path / "b")) < plain
    assert len(train_bytes(recipe(RECIPE, "saving.min_weight=0.2"), tmp_path / "c")) < plain / 2


def test_corpora_that_cannot_be_learned_from(recipe, tmp_path):
    (tmp_path / "words.seg").write_text("我们  去  北京\n", encoding="utf-8")
    (tmp_path / "empty.pos").write_text("\n", encoding="utf-8")
    words = str(tmp_path / "words.seg")
    run = Run(output=tmp_path / "m")
    for key in ("train", "dev"):
        with pytest.raises(StandardError, match=r"words\.seg: the corpus has no tags in 'ctb'"):
            train(recipe(RECIPE, f"side.{key}={words}"), run)
    with pytest.raises(DuilianError, match=r"empty\.pos:1: the file is empty"):
        train(recipe(RECIPE, f"side.train={tmp_path / 'empty.pos'}"), run)
    with pytest.raises(ConfigError, match="the templates need the column 'pos'"):
        train(recipe(RECIPE, "features.templates=chunk"), run)
    train(recipe(RECIPE, f"side.train={words}", "model.level=char", "model.segment_only=true"), run)
    assert Tagger.load(run.output).encoding_.tags is None


def test_dev_sentences_without_tags_are_passed_over(recipe, tmp_path):
    (tmp_path / "some.pos").write_text("我们_? 去_?\n我们_PN 去_?\n", encoding="utf-8")
    assert train(recipe(RECIPE, f"side.dev={tmp_path / 'some.pos'}"), Run(output=tmp_path / "m")) == 100.0


def test_places_that_cannot_be_written_are_found_before_training(recipe, tmp_path):
    for place, why in ((tmp_path, "is a folder"), (tmp_path / "missing" / "m", "there is no folder")):
        with pytest.raises(ConfigError, match=why):
            train(recipe(), Run(output=place, on_iteration=lambda report: pytest.fail("it trained")))


OLD = [
    ("learn.rates=1", "r.toml: the recipe has no table [learn]", "it is now [learning]"),
    ("save.weights=1", "r.toml: the recipe has no table [save]", "it is now [saving]"),
    ("saving.least=1", "r.toml: [saving] has no key 'least'", "it is now [saving] min_weight"),
    ("model.templates=a", "r.toml: [model] has no key 'templates'", "it is now in [features]"),
    ("learning.threads=2", "r.toml: [learning] has no key 'threads'", "--threads"),
    ("model.standard=x", "r.toml: [model] has no key 'standard'", "set it in [[side]]"),
    ("model.features=x", "r.toml: [model] features is a table", "such as parts"),
]


@pytest.mark.parametrize(("setting", "message", "hint"), OLD)
def test_keys_of_older_recipes_say_what_became_of_them(recipe, setting, message, hint):
    with pytest.raises(ConfigError) as caught:
        recipe(RECIPE, setting)
    assert message in str(caught.value)
    assert hint in caught.value.hint

"""Recipes: what they accept, what they refuse and how they say so, what training leaves behind."""

from __future__ import annotations

import importlib.resources
from pathlib import Path

import pytest

from duilian import Tagger
from duilian.errors import ConfigError, DuilianError, ModelFileError, StandardError
from duilian.recipes import KINDS, CrfSettings, Kind, Recipe, Run, register, train

DEMO = Path(str(importlib.resources.files("duilian.demo")))
SHIPPED = sorted((Path(__file__).parent.parent / "recipes").glob("*.toml"))
RECIPE = """
[model]
kind = "crf"

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"
limit = 80

[learn]
iterations = 2
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Write a recipe and load it, with the demonstration corpora as data."""
    monkeypatch.delenv("DUILIAN_DATA", raising=False)

    def load(text: str = RECIPE, *overrides: str, data: Path | None = DEMO) -> Recipe:
        (tmp_path / "r.toml").write_text(text, encoding="utf-8")
        return Recipe.load(tmp_path / "r.toml", data, overrides)

    return load


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_recipes_are_sound(path, tmp_path):
    found = Recipe.load(path, tmp_path)
    marks = {kind: kind for kind in ("two-chain", "guided", "parser", "multitask")}
    marks |= {"mixed": "dynamic", "joint": "joint-parser"}
    named = [kind for mark, kind in marks.items() if mark in path.stem]
    usual = "coupled" if "-pd" in path.stem else "crf"
    assert found.kind == ("analyzer" if path.stem == "bundled" else named[0] if named else usual)
    with pytest.raises(ConfigError, match="there is no file") as caught:
        found.corpus(found.sides[0], "train")
    assert "--data" in caught.value.hint


def test_there_are_shipped_recipes():
    assert {"zx-pos", "pd-seg", "conll2000", "zx-pd", "zx-udc-pd"} <= {path.stem for path in SHIPPED}


def test_what_is_named_is_taken_and_the_rest_is_usual(recipe):
    found = recipe()
    assert found.model == {}
    assert found.learn.chosen() == {"iterations": 2}
    assert (found.save.precision, found.save.least) == ("float32", 0.0)
    corpus = found.corpus(found.sides[0], "train")
    assert corpus is not None
    assert len(corpus) == 80
    assert len(found.corpus(found.sides[0], "dev") or ()) == 40, "the limit is for train only"
    assert found.corpus(found.sides[0], "test") is None


WRONG = [
    ("learn.raet=1", "r.toml: [learn] has no key 'raet'", "did you mean 'rate'?"),
    ("learn.xyzzy=1", "r.toml: [learn] has no key 'xyzzy'", "choose one of: algorithm"),
    ("learn.batch=1.5", "r.toml: [learn] batch must be a whole number, got 1.5", ""),
    ("learn.batch=true", "r.toml: [learn] batch must be a whole number, got True", ""),
    ("learn.batch=0", "r.toml: [learn] batch must be at least 1, got 0", ""),
    ("learn.rate=-1", "r.toml: [learn] rate must be > 0, got -1", ""),
    ("learn.average=1", "r.toml: [learn] average must be true or false, got 1", ""),
    (
        "learn.algorithm=adam",
        "r.toml: [learn] algorithm must be 'adagrad', 'sgd', 'eg', 'pa', got 'adam'",
        "",
    ),
    ("model.kind=crff", "r.toml: [model] kind 'crff' does not exist", "there are: crf"),
    ("model.levle=char", "r.toml: [model] has no key 'levle'", "did you mean 'level'?"),
    ("side.dve=a.txt", "r.toml: [[side]] has no key 'dve'", "did you mean 'dev'?"),
    ("side.train=[1]", "r.toml: [[side]] train must be a string or a list of strings, got [1]", ""),
    ("side.limit=0", "r.toml: [[side]] limit must be at least 1, got 0", ""),
    ("side.cut=word", "r.toml: [[side]] cut must be 'line', 'sentence', got 'word'", ""),
    ("save.precision=int4", "r.toml: [save] precision must be 'float32', 'float16', 'int8', got 'int4'", ""),
    ("lern.rate=1", "r.toml: the recipe has no part [lern]", "did you mean 'learn'?"),
    ("learn.rate", "--set learn.rate: expected table.key=value", "for instance learn.rate=0.1"),
    ("rate=1", "--set rate=1: expected table.key=value", "for instance learn.rate=0.1"),
    ("side.2.dev=a", "--set side.2.dev=a: 2 must be a number from 1 to 1", ""),
    ("learn.iterations.x=1", "--set learn.iterations.x=1: learn.iterations is not a table", ""),
]


@pytest.mark.parametrize(("setting", "message", "hint"), WRONG, ids=lambda value: value[:20])
def test_mistakes_are_named(recipe, setting, message, hint):
    with pytest.raises(ConfigError) as caught:
        recipe(RECIPE, setting)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)
    assert bool(caught.value.hint) == bool(hint)


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
        RECIPE, "learn.rate=0.1", "side.dev=['a', 'b']", "side.1.standard=x-y", "save.precision='int8'"
    )
    assert found.learn.rate == 0.1
    assert (found.sides[0].dev, found.sides[0].standard) == (["a", "b"], "x-y")
    assert found.save.precision == "int8"


def test_several_files_are_one_corpus(recipe):
    found = recipe(RECIPE, "side.dev=['ctb-dev.txt', 'both-ctb.txt']")
    assert len(found.corpus(found.sides[0], "dev") or ()) == 65


def test_where_paths_start(recipe, tmp_path, monkeypatch):
    assert recipe(data=None).folder == tmp_path
    monkeypatch.setenv("DUILIAN_DATA", "elsewhere")
    assert recipe(data=None).folder == Path("elsewhere")
    assert recipe(data=DEMO).folder == DEMO


def test_two_sides_need_a_kind_that_takes_them(recipe, monkeypatch):
    text = RECIPE + '[[side]]\nstandard = "pku"\ntrain = "pku.txt"\n'
    with pytest.raises(ConfigError, match="has 2"):
        recipe(text)
    monkeypatch.setitem(KINDS, "pair", Kind("pair", CrfSettings, range(2, 3), lambda recipe, run: 12.5))
    found = recipe(text, "model.kind=pair", "side.2.limit=3")
    assert [side.limit for side in found.sides] == [80, 3]
    with pytest.raises(ConfigError, match="say which"):
        recipe(text, "model.kind=pair", "side.limit=3")
    assert train(found, Run(output=Path("never-written"))) == 12.5


def test_register_adds_a_kind(monkeypatch):
    monkeypatch.setattr("duilian.recipes.recipe.KINDS", {})
    from duilian.recipes import recipe

    register(Kind("new", CrfSettings, range(1, 2), lambda recipe, run: None))
    assert list(recipe.KINDS) == ["new"]


def _train(recipe: Recipe, path: Path, **options: object) -> bytes:
    train(recipe, Run(output=path, **options))  # type: ignore[arg-type]
    return path.read_bytes()


def test_threads_and_folders_do_not_show_in_the_model(recipe, tmp_path):
    (tmp_path / "mine.txt").write_text("w[0]\nt[-1]\n", encoding="utf-8")
    text = RECIPE.replace('kind = "crf"', 'kind = "crf"\ntemplates = "mine.txt"')
    one = _train(recipe(text), tmp_path / "one", threads=1)
    two = _train(recipe(text), tmp_path / "two", threads=3)
    assert one == two
    assert str(tmp_path).encode() not in one
    assert _train(recipe(text, "learn.seed=2"), tmp_path / "three") != one


def test_notes_tell_where_a_model_comes_from(recipe, tmp_path):
    plan = recipe(RECIPE, "learn.iterations=1")
    score = train(plan, Run(output=tmp_path / "m"))
    notes = Tagger.load(tmp_path / "m").notes_
    corpus = plan.corpus(plan.sides[0], "train")
    assert corpus is not None
    assert notes["recipe"] == RECIPE
    assert notes["overrides"] == ["learn.iterations=1"]
    assert notes["corpora"]["train"] == {"sentences": 80, "fingerprint": corpus.fingerprint()}
    assert notes["corpora"]["dev"]["sentences"] == 40
    assert (notes["dev_score"], notes["iterations"]) == (score, 1)


def test_stopped_and_resumed_is_the_same_model(recipe, tmp_path):
    class Stop(Exception):  # noqa: N818
        pass

    def stop(report):
        raise Stop

    plan = recipe(RECIPE, "learn.iterations=3")
    whole = _train(plan, tmp_path / "whole")
    run = Run(output=tmp_path / "m", on_iteration=stop)
    with pytest.raises(Stop):
        train(plan, run)
    assert run.checkpoint.exists()
    assert not run.output.exists()
    seen: list[int] = []
    resumed = _train(plan, run.output, resume=True, on_iteration=lambda report: seen.append(report.iteration))
    assert seen == [2, 3]
    assert resumed == whole
    assert not run.checkpoint.exists()


def test_a_checkpoint_of_another_run_is_refused(recipe, tmp_path):
    def stop(report):
        raise KeyboardInterrupt

    run = Run(output=tmp_path / "m", on_iteration=stop, resume=True)
    with pytest.raises(KeyboardInterrupt):
        train(recipe(), run)
    with pytest.raises(ModelFileError, match="not a checkpoint of this run"):
        train(recipe(RECIPE, "learn.l2=0.5"), run)


def test_warnings_about_the_dev_set(recipe, tmp_path):
    said: list[str] = []
    run = Run(output=tmp_path / "m", on_warning=said.append)
    train(recipe(), run)
    assert said == []
    train(recipe(RECIPE.replace("limit = 80\n", ""), "side.dev=ctb.txt"), run)
    train(recipe(RECIPE, "side.dev=ctb.txt"), run)
    assert "the dev set is the training corpus" in said[0]
    assert "80 of 260 dev sentences also occur" in said[1]


def test_smaller_files(recipe, tmp_path):
    plain = len(_train(recipe(), tmp_path / "a"))
    assert len(_train(recipe(RECIPE, "save.precision=int8"), tmp_path / "b")) < plain
    assert len(_train(recipe(RECIPE, "save.least=0.2"), tmp_path / "c")) < plain / 2


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
        train(recipe(RECIPE, "model.templates=chunk"), run)
    train(recipe(RECIPE, f"side.train={words}", "model.level=char", "model.segment_only=true"), run)
    assert Tagger.load(run.output).encoding_.tags is None


def test_dev_sentences_without_tags_are_passed_over(recipe, tmp_path):
    (tmp_path / "some.pos").write_text("我们_? 去_?\n我们_PN 去_?\n", encoding="utf-8")
    assert train(recipe(RECIPE, f"side.dev={tmp_path / 'some.pos'}"), Run(output=tmp_path / "m")) == 100.0


def test_places_that_cannot_be_written_are_found_before_training(recipe, tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "m"):
        with pytest.raises(ConfigError, match="cannot be written here"):
            train(recipe(), Run(output=place, on_iteration=lambda report: pytest.fail("it trained")))


GUIDED = """
[model]
kind = "guided"
source_iterations = 2

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[[side]]
standard = "pku"
train = "pku.txt"

[learn]
iterations = 3

[save]
least = 0.01
"""


def test_a_guided_tagger_from_a_recipe(recipe, tmp_path):
    from duilian.models import GuidedTagger, load

    score = train(recipe(GUIDED), Run(output=tmp_path / "g.model"))
    tagger = load(tmp_path / "g.model")
    assert isinstance(tagger, GuidedTagger)
    assert score is not None
    assert score > 80
    assert tagger.source_.standard == "pku"
    assert tagger.source_.iterations == 2
    with pytest.raises(ConfigError, match="needs 2"):
        recipe(GUIDED.replace('[[side]]\nstandard = "pku"\ntrain = "pku.txt"\n', ""))


COUPLED = """
[model]
kind = "coupled"
joint_count = 1
plain_iterations = 2

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[[side]]
standard = "pku"
train = "pku.txt"
dev = "pku-dev.txt"

[learn]
iterations = 2
"""
THIRD = '[[side]]\nstandard = "third"\ntrain = "both-ctb.txt"\n'


def _warnings(recipe: Recipe, path: Path) -> list[str]:
    """What a run warns of."""
    said: list[str] = []
    train(recipe, Run(output=path, on_warning=said.append))
    return said


def test_a_coupled_tagger_from_a_recipe(recipe, tmp_path):
    from duilian.models import CoupledTagger, load, reading_of

    stages: list[str] = []
    plan = recipe(
        COUPLED, "side.2.sample=100", "side.2.cut=sentence", "model.warm=[0.1, 1]", "learn.rate=0.1"
    )
    score = train(plan, Run(output=tmp_path / "c", on_stage=stages.append))
    tagger = load(tmp_path / "c")
    assert isinstance(tagger, CoupledTagger)
    assert (tagger.standards, tagger.samples, tagger.warm) == (("ctb", "pku"), [None, 100], [0.1, 1])
    assert (tagger.iterations, tagger.rate, tagger.batch) == (2, 0.1, CoupledTagger().batch)
    assert "plain tagger of pku" in stages
    notes = tagger.notes_
    assert notes["dev_score"] == score
    assert list(notes["sides"]) == ["ctb", "pku"]
    for standard, side in notes["sides"].items():
        corpus = plan.corpus(next(each for each in plan.sides if each.standard == standard), "train")
        assert corpus is not None
        assert side["corpora"]["train"]["fingerprint"] == corpus.fingerprint()
        assert 80 < side["dev_score"] <= 100
    assert score <= sum(side["dev_score"] for side in notes["sides"].values()) / 2
    assert reading_of(tagger.of("ctb")) == {}
    assert reading_of(tagger.of("pku")) == {"cut": "sentence"}


def test_three_sides_and_not_nine(recipe, tmp_path):
    from duilian.models import load

    plan = recipe(COUPLED + THIRD, "learn.iterations=1", "model.most=3", "side.1.limit=60", "side.2.limit=60")
    train(plan, Run(output=tmp_path / "c"))
    tagger = load(tmp_path / "c")
    assert tagger.of("third").predict_layers([["我们", "来"]])[0].tags[0] == "PN"
    assert tagger.notes_["sides"]["third"]["dev_score"] is None
    for count in (1, 9):
        sides = "".join(THIRD.replace("third", str(number)) for number in range(count))
        with pytest.raises(ConfigError, match=rf"has {count} \[\[side\]\].*needs 2 to 8"):
            recipe('[model]\nkind = "coupled"\n' + sides)


def test_threads_and_the_cache_do_not_show_in_a_coupled_model(recipe, tmp_path):
    (tmp_path / "map.txt").write_text("standards: ctb pku\ninclude: ctb-pku.tight\nNN  v\n", encoding="utf-8")
    plan = recipe(
        COUPLED, "model.pruning=offline", "model.folds=2", "model.mapping=map.txt", "side.1.limit=40",
        "side.2.limit=40", "learn.iterations=1",
    )  # fmt: skip
    (tmp_path / "other").mkdir()
    one = _train(plan, tmp_path / "one", threads=1)
    cache = tmp_path / ".duilian-cache"
    kept = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert len(kept) == 1
    assert _train(plan, tmp_path / "one", threads=2) == one
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == kept, "the second run is free"
    assert _train(plan, tmp_path / "other" / "two") == one
    assert str(tmp_path).encode() not in one


def test_sgd_finds_its_first_step_unless_told(recipe, tmp_path):
    from duilian.models import load

    small = ("side.1.limit=30", "side.2.limit=30", "learn.iterations=1", "learn.algorithm=sgd")
    for settings, rate in ((small, None), ((*small, "learn.rate=0.2"), 0.2)):
        train(recipe(COUPLED, *settings), Run(output=tmp_path / "c"))
        assert load(tmp_path / "c").rate == rate
    with pytest.raises(ConfigError, match="algorithm must be 'adagrad' or 'sgd', got 'eg'"):
        train(recipe(COUPLED, "learn.algorithm=eg"), Run(output=tmp_path / "c"))


def test_coupled_models_are_warned_of_leaks_between_sides(recipe, tmp_path):
    assert _warnings(recipe(COUPLED, "learn.iterations=1"), tmp_path / "c") == []
    small = ("side.1.limit=20", "side.2.limit=20", "learn.iterations=1")
    pku_words = [
        sentence["pku"].words for sentence in recipe(COUPLED).corpus(recipe(COUPLED).sides[1], "train")
    ]
    lines = ["".join(f"{word}_NN " for word in words) for words in pku_words[:3]]
    lines.append("".join(f"{sign}_NN " for sign in "".join(pku_words[3])))  # the same text, cut otherwise
    (tmp_path / "leak.pos").write_text("\n".join([*lines, "我们_PN 来_VV"]) + "\n", encoding="utf-8")
    leak = f"side.1.dev={tmp_path / 'leak.pos'}"
    said = {
        level: _warnings(recipe(COUPLED, *small, leak, f"model.level={level}"), tmp_path / "c")
        for level in ("word", "char")
    }
    message = "{} of 5 dev sentences of 'ctb' also occur in the training corpus of 'pku'"
    assert said == {"word": [message.format(3)], "char": [message.format(4)]}
    (same,) = _warnings(recipe(COUPLED, *small, "side.2.limit=999", "side.2.dev=pku.txt"), tmp_path / "c")
    assert same.startswith("the dev set of 'pku' is the training corpus")


def test_sides_without_a_dev_set_are_named(recipe, tmp_path):
    small = ("side.1.limit=20", "side.2.limit=20", "learn.iterations=1")
    one = COUPLED.replace('dev = "pku-dev.txt"\n', "")
    run = tmp_path / "c"
    assert _warnings(recipe(one, *small), run) == [
        "'pku' has no dev set: the best weights are chosen without it"
    ]
    none = one.replace('dev = "ctb-dev.txt"\n', "")
    assert _warnings(recipe(none, *small), run) == [
        "no side has a dev set: the weights of the last iteration are kept"
    ]


def test_coupled_recipes_that_cannot_work(recipe, tmp_path):
    run = Run(output=tmp_path / "c", on_iteration=lambda report: pytest.fail("it trained"))
    with pytest.raises(StandardError, match="two corpora declared as 'ctb' have no tag in common") as caught:
        train(recipe(COUPLED, "side.2.standard=ctb"), run)
    assert "another standard name" in caught.value.hint
    with pytest.raises(ConfigError, match="two sides have the same standard 'ctb'") as twice:
        train(
            recipe(COUPLED, "side.2.standard=ctb", "side.2.train=both-ctb.txt", "side.2.dev=ctb-dev.txt"), run
        )
    assert "train = [" in twice.value.hint
    wrong = {
        "standards: any any\nNN n\nXX n\n": r"map\.txt:3: the mapping names the tag 'XX'.*'ctb'",
        "standards: any any\nNN yy\n": r"map\.txt:2: the mapping names the tag 'yy'.*'pku'",
        "standards: ctb pku\nXX n\n": r"map\.txt:2: standard 'ctb' has no tag 'XX'",
    }
    for text, message in wrong.items():
        (tmp_path / "map.txt").write_text(text, encoding="utf-8")
        with pytest.raises(StandardError, match=message):
            train(recipe(COUPLED, "model.mapping=map.txt"), run)
    with pytest.raises(StandardError, match=r"there is no mapping table 'third-pku\.tight'"):
        train(recipe(COUPLED, "side.1.standard=third", "model.mapping=tight"), run)
    with pytest.raises(ConfigError, match="there is no mapping 'automatic-best'"):
        train(recipe(COUPLED, "model.mapping=automatic-best"), run)
    with pytest.raises(ConfigError, match="warm must be a list of numbers, got"):
        recipe(COUPLED, "model.warm=['a', 'b']")
    with pytest.raises(ConfigError, match="3 warm for 2 standards"):
        train(recipe(COUPLED, "model.warm=[1, 1, 1]"), run)


def test_settings_of_a_kind_are_parameters_with_the_same_defaults():
    import dataclasses
    import inspect

    from duilian.models import CoupledTagger, GuidedTagger
    from duilian.recipes import CoupledSettings, GuidedSettings

    for settings, model in ((CrfSettings, Tagger), (CoupledSettings, CoupledTagger)):
        parameters = inspect.signature(model).parameters
        for field in dataclasses.fields(settings):
            assert parameters[field.name].default == field.default, field.name
    own = {field.name for field in dataclasses.fields(GuidedSettings)}
    assert own - {"source_iterations"} <= set(GuidedTagger()._parameter_names())

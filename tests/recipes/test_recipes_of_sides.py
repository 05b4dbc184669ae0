"""Recipes with several sides: guided and coupled models."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo_recipes import both_sides, train_bytes
from duilian.errors import ConfigError, StandardError
from duilian.learning import AdaGrad
from duilian.recipes import Recipe, Run, train

GUIDED = both_sides("guided", "source_iterations = 2", iterations=3).replace('dev = "pku-dev.txt"\n', "")
GUIDED += "\n[saving]\nmin_weight = 0.01\n"


def test_a_guided_tagger_from_a_recipe(recipe, tmp_path):
    from duilian.models import GuidedTagger, load

    score = train(recipe(GUIDED), Run(output=tmp_path / "g.model"))
    tagger = load(tmp_path / "g.model")
    assert isinstance(tagger, GuidedTagger)
    assert score is not None
    assert score > 80
    assert tagger.source_.standard == "pku"
    assert tagger.source_.learning.iterations == 2
    with pytest.raises(ConfigError, match="needs 2"):
        recipe(GUIDED.replace('[[side]]\nstandard = "pku"\ntrain = "pku.txt"\n', ""))


COUPLED = both_sides("coupled") + "\n[features]\njoint_count = 1\n\n[start]\nbaseline_iterations = 2\n\n"
THIRD = '[[side]]\nstandard = "third"\ntrain = "both-ctb.txt"\n'


def _warnings(recipe: Recipe, path: Path) -> list[str]:
    """Return the warnings of a run."""
    said: list[str] = []
    train(recipe, Run(output=path, on_warning=said.append))
    return said


def test_a_coupled_tagger_from_a_recipe(recipe, tmp_path):
    from duilian.models import CoupledTagger, load, reading_of

    stages: list[str] = []
    plan = recipe(
        COUPLED, "side.2.sample=100", "side.2.cut=sentence", "start.shares=[0.1, 1]", "learning.rate=0.1"
    )
    parts: list[str] = []
    score = train(plan, Run(output=tmp_path / "c", on_stage=stages.append, on_part=parts.append))
    tagger = load(tmp_path / "c")
    assert isinstance(tagger, CoupledTagger)
    assert (tagger.standards, tagger.start.shares) == (("ctb", "pku"), (0.1, 1))
    assert tagger.learning == AdaGrad(
        iterations=2, rate=0.1, batch=CoupledTagger().learning.batch, sample=(None, 100)
    )
    assert "baseline tagger of pku" in stages
    assert parts[0].startswith("baseline tagger of ctb: 1 of 2 done, ")
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

    plan = recipe(
        COUPLED + THIRD,
        "learning.iterations=1",
        "pruning.max_candidates=3",
        "side.1.limit=60",
        "side.2.limit=60",
    )
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
        COUPLED, "pruning.kind=offline", "pruning.folds=2", "model.mapping=map.txt", "side.1.limit=40",
        "side.2.limit=40", "learning.iterations=1",
    )  # fmt: skip
    (tmp_path / "other").mkdir()
    one = train_bytes(plan, tmp_path / "one", threads=1)
    cache = tmp_path / ".duilian-cache"
    kept = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    assert len(kept) == 1
    assert train_bytes(plan, tmp_path / "one", threads=2) == one
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == kept, "the second run is free"
    assert train_bytes(plan, tmp_path / "other" / "two") == one
    assert str(tmp_path).encode() not in one


def test_sgd_finds_its_first_step_unless_told(recipe, tmp_path):
    from duilian.models import load

    small = ("side.1.limit=30", "side.2.limit=30", "learning.iterations=1", "learning.algorithm=sgd")
    for settings, rate in ((small, None), ((*small, "learning.rate=0.2"), 0.2)):
        train(recipe(COUPLED, *settings), Run(output=tmp_path / "c"))
        assert load(tmp_path / "c").learning.rate == rate
    with pytest.raises(ConfigError, match="learns by 'adagrad' or 'sgd', got 'eg'"):
        recipe(COUPLED, "learning.algorithm=eg")


def test_coupled_models_are_warned_of_leaks_between_sides(recipe, tmp_path):
    assert _warnings(recipe(COUPLED, "learning.iterations=1"), tmp_path / "c") == []
    small = ("side.1.limit=20", "side.2.limit=20", "learning.iterations=1")
    pku_words = [
        sentence["pku"].words for sentence in recipe(COUPLED).corpus(recipe(COUPLED).sides[1], "train")
    ]
    lines = ["".join(f"{word}_NN " for word in words) for words in pku_words[:3]]
    lines.append(
        "".join(f"{sign}_NN " for sign in "".join(pku_words[3]))
    )  # the same text, segmented differently
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
    small = ("side.1.limit=20", "side.2.limit=20", "learning.iterations=1")
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
    with pytest.raises(ConfigError, match=r"\[start\] shares must be a list of numbers, got"):
        recipe(COUPLED, "start.shares=['a', 'b']")
    with pytest.raises(ConfigError, match=r"r\.toml: \[model\] start.shares has 3 numbers for 2 standards"):
        recipe(COUPLED, "start.shares=[1, 1, 1]")


def test_sides_are_known_before_settings_that_name_them(recipe):
    """A guide, shares and joint features need the sides, or each other."""
    more = ("side.1.standard=x", "features.guide=x", "start.shares=[1, 0, 0]", "pruning.kind=offline")
    plan = recipe(COUPLED + THIRD, *more, "features.parts=joint", "pruning.bundle_gap=inf")
    assert plan.config.standards == ("x", "pku", "third")
    assert plan.config.pruning.bundle_gap is None
    with pytest.raises(ConfigError, match="the guide 'ctb' is not one of x, pku, third"):
        recipe(COUPLED + THIRD, *more, "features.guide=ctb")


OLD_KEYS = [
    ("model.most=3", "[pruning] max_candidates"),
    ("model.tagging_most=3", "[pruning] max_candidates_tagging"),
    ("model.mass=0.9", "[pruning] candidate_mass"),
    ("model.margin=3.0", "[pruning] bundle_gap"),
    ("model.folds=3", "[pruning] folds"),
    ("model.warm=[1, 1]", "[start] shares"),
    ("model.plain_iterations=3", "[start] baseline_iterations"),
    ("model.joint_count=3", "[features] joint_count"),
    ("model.guide=pku", "[features] guide"),
    ("model.keep=all", "[learning] keep"),
    ("model.features=joint", "[features] and its keys"),
    ("model.pruning=mixed", "[pruning] and its keys"),
    ("model.start=cold", "[start] and its keys"),
]


@pytest.mark.parametrize(("setting", "hint"), OLD_KEYS)
def test_keys_of_older_recipes_say_where_they_went(recipe, setting, hint):
    with pytest.raises(ConfigError, match=r"r\.toml: \[model\]") as caught:
        recipe(COUPLED, setting)
    assert hint in caught.value.hint

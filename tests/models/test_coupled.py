"""The coupled tagger on the demonstration corpora: learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.learning import IterationReport, Session
from duilian.modelfile import read_model
from duilian.models import CoupledTagger
from duilian.standards import Mapping
from models.coupled_corpora import CTB, DEV, FEW, PKU, SMALL, TINY, TRAIN, layers, quick, side, small


def test_learning_together_beats_learning_alone(result: demo.DemoResult) -> None:
    for standard in demo.STANDARDS:
        assert result.coupled[standard] > result.alone[standard] + 3.0


@pytest.mark.parametrize("parameters", [{}, {"learning__algorithm": "sgd"}, {"level": "char"}], ids=str)
def test_the_same_bytes_for_any_number_of_threads(parameters: dict[str, Any], tmp_path: Path) -> None:
    contents = []
    for threads in (1, 2):
        tagger = quick(**parameters).fit(TINY[0], dev=TINY[1], threads=threads)
        tagger.save(tmp_path / "m.duilian")
        contents.append((tmp_path / "m.duilian").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"learning__algorithm": "sgd"},
        {"pruning__kind": "offline", "pruning__folds": 2},
        {"learning__sample": (20, 30)},
    ],
    ids=str,
)
def test_a_resumed_run_gives_the_same_bytes(parameters: dict[str, Any], tmp_path: Path) -> None:
    def run(iterations: int, **kept: Any) -> tuple[bytes, dict[str, float | None]]:
        tagger = quick(**parameters | {"learning__iterations": iterations})
        tagger.fit(TINY[0], dev=TINY[1], session=Session(**kept)).save(tmp_path / "m.duilian")
        return (tmp_path / "m.duilian").read_bytes(), tagger.best_scores_

    checkpoint = tmp_path / "run.checkpoint"
    whole, whole_scores = run(5)
    run(2, checkpoint=checkpoint)
    assert len(read_model(checkpoint)[0]["bests"]) == 3  # of either side, and on average
    resumed, resumed_scores = run(5, checkpoint=checkpoint, resume=True)
    assert resumed_scores == whole_scores
    assert resumed == whole


def test_a_checkpoint_of_other_data_or_settings_is_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.checkpoint"
    twice = side("他/P 走/V", "书/P 看/V", "他/P 走/V")
    other = side("他/P 走/V", "书/P 看/V", "书/P 看/V")  # the same features and labels, in other places
    pairs = [("P", "r"), ("V", "v"), ("P", "n")]
    mapping = Mapping.from_pairs(pairs, ["P", "V"], ["n", "r", "v"])
    swapped = Mapping.from_pairs([*pairs[:2], ("V", "n")], ["P", "V"], ["n", "r", "v"])
    small(mapping=mapping).fit([twice, SMALL[1]], session=Session(checkpoint=checkpoint))
    for corpus, parameters in [
        (twice[:2], {}),
        (twice, {"learning__seed": 2}),
        (twice, {"mapping": "complete"}),
        (twice, {"mapping": swapped}),
        (other, {}),
    ]:
        tagger = small(**{"mapping": mapping} | parameters)
        with pytest.raises(ModelFileError, match="the checkpoint of another run"):
            tagger.fit([corpus, SMALL[1]], session=Session(checkpoint=checkpoint, resume=True))


def test_every_iteration_tells_what_pruning_kept() -> None:
    reports: list[IterationReport] = []
    stages: list[str] = []
    tagger = quick()
    tagger.fit(FEW, dev=DEV, session=Session(on_iteration=reports.append, on_stage=stages.append))
    assert [report.iteration for report in reports] == [0, 1, 2], "the start is judged, too"
    assert [report.loss is None for report in reports] == [True, False, False]
    assert stages
    for report in reports:
        found = report.details
        assert report.score == pytest.approx((found[CTB] + found[PKU]) / 2)
        for standard in demo.STANDARDS:
            assert found[standard] <= found[f"{standard} oracle"] <= 100.0
            assert 1.0 <= found[f"{standard} candidates"] <= tagger.pruning.max_candidates
    assert set(tagger.best_scores_) == {CTB, PKU, "average"}
    assert all(tagger.best_scores_[s] >= max(r.details[s] for r in reports) for s in demo.STANDARDS)


def test_a_start_that_is_never_bettered_stays_the_best() -> None:
    """Steps that are far too long spoil what the plain taggers knew."""
    settings: dict[str, Any] = {
        "start__shares": (1.0, 1.0),
        "learning__rate": 50.0,
        "learning__average": False,
    }
    reports: list[IterationReport] = []
    tagger = quick(**settings).fit(FEW, dev=DEV, session=Session(on_iteration=reports.append))
    assert reports[0].is_best
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        scores = [report.details[standard] for report in reports]
        assert scores[0] > max(scores[1:]) + 1.0
        assert tagger.best_scores_[standard] == scores[0]
        assert 100 * tagger.score(dev, standard=standard) == pytest.approx(scores[0], abs=0.3)
    for other in ({"start__kind": "cold"}, {"learning__keep": "average"}):
        reports.clear()
        quick(**other).fit(FEW, dev=DEV, session=Session(on_iteration=reports.append))
        assert [report.iteration for report in reports] == [1, 2], "there is no side's best to look for"


def test_each_side_is_answered_with_its_own_best_weights() -> None:
    """With many iterations the sides are best at different times."""
    tagger = quick(learning__iterations=4).fit(FEW, dev=DEV)
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        assert 100 * tagger.score(dev, standard=standard) == pytest.approx(
            tagger.best_scores_[standard], abs=0.3
        )
    average = quick(learning__iterations=4, learning__keep="average").fit(FEW, dev=DEV)
    means = [
        np.mean([100 * t.score(d, standard=s) for s, d in zip(demo.STANDARDS, DEV, strict=True)])
        for t in (average, tagger)
    ]
    assert means[0] == pytest.approx(average.best_scores_["average"], abs=0.3)
    assert means[0] <= means[1] + 0.3
    assert set(average.predictor_.natives) == {"average"}


def test_a_standard_may_lack_a_dev_set() -> None:
    tagger = quick().fit(FEW, dev=[None, DEV[1]])
    assert set(tagger.best_scores_) == {"average"}
    assert tagger.best_score_ == pytest.approx(100 * tagger.score(DEV[1], standard=PKU), abs=0.3)
    assert tagger.score(DEV[0], standard=CTB) > 0.7
    without = quick().fit(FEW)
    assert without.best_scores_ == {"average": None}
    assert without.score(DEV[0], standard=CTB) > 0.7


def test_three_standards_in_one_model(tmp_path: Path) -> None:
    def renamed(corpus: list[Layer]) -> list[Layer]:
        return [Layer(each.words, tuple(f"x{tag}" for tag in each.tags or ())) for each in corpus]

    train = [TRAIN[0][:60], TRAIN[1][:80], renamed(TRAIN[1][80:160])]
    dev = [*DEV, renamed(DEV[1])]
    names = (CTB, PKU, "third")
    tagger = quick(names, pruning__max_candidates=4).fit(train, dev=dev)
    assert set(tagger.best_scores_) == {*names, "average"}
    for name, corpus in zip(names, dev, strict=True):
        assert tagger.score(corpus, standard=name) > 0.75
    (found,) = tagger.analyse([DEV[1][0].words])
    assert set(found) == set(names)
    converted = tagger.convert(DEV[1], PKU, "third", unknown_tags=True)
    pairs = [
        (a, b)
        for layer, each in zip(DEV[1], converted, strict=True)
        for a, b in zip(layer.tags or (), each.tags or (), strict=True)
    ]
    assert np.mean([f"x{a}" == b for a, b in pairs]) > 0.85
    tagger.save(tmp_path / "m.duilian")
    assert CoupledTagger.load(tmp_path / "m.duilian").analyse(DEV[1]) == tagger.analyse(DEV[1])


def test_partial_annotation_teaches() -> None:
    """Tags taken away or blurred to sets, at both levels and with a mapping."""
    rng = np.random.default_rng(1)

    def blur(layer: Layer) -> Layer:
        known = [str(tag) for tag in layer.tags or ()]
        drawn = rng.random(len(known))
        return Layer(
            layer.words,
            tuple(None if p < 0.2 else frozenset({t, known[0]}) if p < 0.4 else t
                  for t, p in zip(known, drawn, strict=True)),
        )  # fmt: skip

    partial = [[blur(layer) for layer in corpus] for corpus in FEW]
    for kind in (
        {},
        {"level": "char"},
        {"mapping": "tight"},
        {"pruning__kind": "offline", "pruning__folds": 2},
    ):
        tagger = quick(**kind).fit(partial)
        assert tagger.score(DEV[0], standard=CTB) > (0.7 if kind.get("level") != "char" else 0.4)


def test_a_sentence_without_any_annotation_does_not_disturb() -> None:
    bare = Layer(("人", "看", "书"))
    for level in ("word", "char"):
        tagger = small(level=level).fit([[*SMALL[0], bare, Layer((), ())], SMALL[1]])
        assert tagger.predict_layers([["他", "走"]], "a")[0].tags == ("P", "V")


def test_features_can_be_left_out() -> None:
    parts = {}
    for features, pruning in (("all", "online"), ("separate", "online"), ("joint", "offline")):
        tagger = quick(features__parts=features, pruning__kind=pruning, pruning__folds=2).fit(FEW)
        parts[features] = tagger.model_.shape.parts
        assert tagger.score(DEV[0], standard=CTB) > 0.6
    assert parts == {"all": 1, "separate": 0, "joint": 1}


def test_a_gap_of_bundles_changes_little() -> None:
    exact, fast = (quick(pruning__bundle_gap=gap).fit(FEW) for gap in (None, 8.0))
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        assert fast.score(dev, standard=standard) == pytest.approx(
            exact.score(dev, standard=standard), abs=0.01
        )


def test_samples_are_drawn_per_side() -> None:
    reports: list[IterationReport] = []
    settings = {"start__kind": "cold", "learning__iterations": 1}
    for sample in ((1, 1), (7, None), None):
        tagger = quick(learning__sample=sample, **settings)
        tagger.fit(FEW, session=Session(on_iteration=reports.append))
    losses = [report.loss for report in reports]
    assert len(set(losses)) == 3
    more = quick(learning__sample=(150, 10), **settings).fit([FEW[0][:40], FEW[1]])  # some sentences again
    assert more.score(FEW[0][:40], standard=CTB) > 0.8


def test_templates_without_the_guide_are_refused_beside_one() -> None:
    with pytest.raises(ConfigError, match="no template uses its labels"):
        quick(features__guide=PKU, features__templates="pos-word").fit(FEW)


@pytest.mark.parametrize("pruning", ["online", "offline"])
def test_dev_sentences_with_both_layers_are_converted(pruning: Any) -> None:
    both = [
        Sentence({CTB: a, PKU: b})
        for a, b in zip(layers(f"both-{CTB}", CTB), layers(f"both-{PKU}", PKU), strict=True)
    ]
    tagger = quick(features__guide=PKU, pruning__kind=pruning, pruning__folds=2).fit(FEW, dev=[both, None])
    found = tagger.convert([each[PKU] for each in both], PKU, CTB, unknown_tags=True)
    right = [
        a == b
        for each, answer in zip(both, found, strict=True)
        for a, b in zip(each[CTB].tags or (), answer.tags or (), strict=True)
    ]
    assert 100 * np.mean(right) == pytest.approx(tagger.best_score_, abs=0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"standards": ("a",)}, "at least two different names"),
        ({"standards": ("a", "a")}, "at least two different names"),
        ({"standards": ("a", "b", "c")}, "2 corpora for 3 standards"),
        ({"learning__sample": (1,)}, "learning.sample has 1 numbers for 2 standards"),
        ({"learning__sample": 5}, "learning.sample needs one number per standard"),
        ({"learning__sample": (0, 5)}, "sample must be at least 1, got 0"),
        ({"learning__sample": (-3, 5)}, "sample must be at least 1, got -3"),
        ({"start__shares": (1.0, 0.0, 0.0)}, "start.shares has 3 numbers for 2 standards"),
        ({"features__parts": "some"}, "parts must be 'all' or 'separate' or 'joint', got 'some'"),
        ({"features__parts": "joint"}, "online pruning needs separate features"),
        ({"pruning__kind": "both"}, "kind must be 'online' or 'offline' or 'mixed'"),
        ({"start__kind": "hot"}, "kind must be 'warm' or 'cold'"),
        ({"decoding": "beam"}, "decoding must be"),
        ({"pruning__bundle_gap": -1.0}, "bundle_gap must be at least 0"),
        ({"learning__keep": "none"}, "keep must be"),
        ({"learning__algorithm": "eg"}, "learns by 'adagrad' or 'sgd', got 'eg'"),
        ({"pruning__max_candidates": 0}, "max_candidates must be at least 1"),
        ({"pruning__max_candidates_tagging": 0}, "max_candidates_tagging must be at least 1"),
        ({"pruning__candidate_mass": 0.0}, "candidate_mass must be greater than 0"),
        ({"pruning__candidate_mass": 1.5}, "candidate_mass must be at most 1"),
        ({"pruning__candidate_mass": float("nan")}, "candidate_mass must be"),
        ({"pruning__folds": 1}, "folds must be at least 2"),
        ({"features__guide": "c"}, "the guide 'c' is not one of a, b"),
        ({"level": "line"}, "level must be"),
        ({"learning__iterations": 0}, "iterations must be at least 1"),
        ({"start__baseline_iterations": 0}, "baseline_iterations must be at least 1"),
        ({"features__joint_count": -1}, "joint_count must be"),
        ({"learning__batch": 0}, "batch must be at least 1"),
        ({"learning__rate": 0.0}, "rate must be greater than 0"),
        ({"features__min_count": 0}, "min_count"),
        ({"level": "char", "features__scheme": "XYZ"}, "XYZ"),
        ({"features__templates": "nowhere"}, "nowhere"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused_in_one_sentence(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigError, StandardError), match=message) as found:
        quick(**{"standards": ("a", "b")} | parameters).fit(SMALL)
    assert "\n" not in found.value.message


def test_threads_are_at_least_one() -> None:
    with pytest.raises(ConfigError, match="threads must be a whole number, at least 1"):
        small().fit(SMALL, threads=0)


@pytest.mark.parametrize(
    ("corpora", "dev", "error", "message"),
    [
        ([SMALL[0]], None, ConfigError, "1 corpora for 2 standards"),
        (SMALL, [None], ConfigError, "1 dev sets for 2 standards"),
        ([SMALL[0], []], None, ConfigError, "no sentences of 'b'"),
        ([[Layer(("他", "走"))], SMALL[1]], None, StandardError, "no tags in 'a'"),
        ([[Sentence({"c": SMALL[0][0]})], SMALL[1]], None, ConfigError, "no layer 'a'"),
    ],
)
def test_wrong_corpora_are_refused(corpora: Any, dev: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        small().fit(corpora, dev=dev)

"""The CRF on the demonstration corpus: the tagger's equal, CRFsuite's match, at home in scikit-learn."""

from __future__ import annotations

import inspect
import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import Layer, Tagger, demo
from duilian.learning import AdaGrad, Sgd
from duilian.models.attribute_crf.attributes import Learned
from duilian.models.attribute_crf.model import CRF
from duilian.models.base.feature_settings import Features

Dicts = list[list[dict[str, Any]]]
Corpus = tuple[Dicts, list[list[str]]]
TEMPLATES = "w[0]\nw[-1]\nw[1]\nc[0,0]\nc[0,-1]\nsuffix[0,2]\nbias\nt[-1]"


def features(words: tuple[str, ...]) -> list[dict[str, Any]]:
    """What TEMPLATES say, as dicts."""
    padded = ("<s>", *words, "</s>")
    return [
        {
            "bias": True,
            "w": {"-1": padded[t], "0": word, "1": padded[t + 2]},
            "first": word[0],
            "last": word[-1],
            "suffix": [word[-2:]] if len(word) > 1 else [],
        }
        for t, word in enumerate(words)
    ]


def layers(name: str) -> list[Layer]:
    return [sentence["ctb"] for sentence in demo.load(name, "ctb")]


def as_dicts(given: list[Layer]) -> Corpus:
    return [features(layer.words) for layer in given], [
        [str(tag) for tag in layer.tags or ()] for layer in given
    ]


@pytest.fixture(scope="module")
def train() -> Corpus:
    return as_dicts(layers("ctb"))


@pytest.fixture(scope="module")
def dev() -> Corpus:
    return as_dicts(layers("ctb-dev"))


@pytest.fixture(scope="module")
def fitted(train: Corpus) -> CRF:
    return CRF(c2=0.1, max_iterations=10).fit(*train)


def test_marginals_sum_to_one(fitted: CRF, dev: Corpus) -> None:
    for sentence in fitted.predict_marginals(dev[0]):
        for unit in sentence:
            assert list(unit) == fitted.classes_
            assert sum(unit.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("algorithm", ["adagrad", "sgd"])
def test_it_is_the_tagger_with_the_same_features(
    algorithm: str, train: Corpus, dev: Corpus, tmp_path: Path
) -> None:
    templates = tmp_path / "same.txt"
    templates.write_text(TEMPLATES, encoding="utf-8")
    settings = {"batch": 1, "iterations": 8, "seed": 3}
    learning = AdaGrad(**settings) if algorithm == "adagrad" else Sgd(l2=0.1, **settings)
    tagger = Tagger("ctb", features=Features(templates=str(templates), full_from=1), learning=learning)
    tagger.fit(layers("ctb"))
    crf = CRF(algorithm, all_possible_states=True, c2=0.1, max_iterations=8, seed=3).fit(*train)
    gold = layers("ctb-dev")
    assert crf.num_attributes_ == len(tagger.state()[1]["check"])  # a feature has a check
    assert crf.score(*dev) == pytest.approx(tagger.score(gold), abs=0.003)
    for ours, theirs in zip(crf.predict_marginals(dev[0]), tagger.marginals(gold), strict=True):
        assert np.array([list(unit.values()) for unit in ours]) == pytest.approx(theirs, abs=0.01)


def test_unknown_labels_are_neither_learned_nor_scored(train: Corpus) -> None:
    sentences, gold = train[0][:60], train[1][:60]
    holes = [[None if t % 3 == 1 else label for t, label in enumerate(labels)] for labels in gold]
    crf = CRF().fit(sentences, holes)
    assert set(crf.classes_) == {label for labels in holes for label in labels} - {None}
    guess = crf.predict(sentences)
    known = [(g, h) for gs, hs in zip(guess, holes, strict=True) for g, h in zip(gs, hs, strict=True) if h]
    assert crf.score(sentences, holes) == pytest.approx(sum(g == h for g, h in known) / len(known))
    assert crf.score(sentences, holes) > 0.9


def test_a_penalty_shrinks_the_weights(train: Corpus) -> None:
    sizes = [
        float(np.square(CRF(c2=c2, max_iterations=5).fit(*train).learned_.weights).sum())
        for c2 in (0.01, 1, 10)
    ]
    assert sizes[0] > 1.5 * sizes[1] > 2 * sizes[2]
    assert CRF(c2=0.0, max_iterations=2).fit(*train).score(*train) > 0.9


def test_a_dev_set_keeps_the_best_iteration(
    train: Corpus,
    dev: Corpus,
    caplog: pytest.LogCaptureFixture,
) -> None:
    gold = [[None, *labels[1:]] for labels in dev[1]]
    with caplog.at_level(logging.INFO, logger="duilian"):
        crf = CRF(max_iterations=4, verbose=True).fit(*train, dev[0], gold)
    best = max(report.score or 0.0 for report in crf.training_log_)
    assert 100 * crf.score(dev[0], gold) == pytest.approx(best)
    assert len(caplog.messages) == len(crf.training_log_) == 4
    assert caplog.messages[0].startswith("iteration 1: loss ")
    assert "dev accuracy" in caplog.messages[0]


def test_threads_and_repetition_change_nothing(train: Corpus, fitted: CRF) -> None:
    again = CRF(c2=0.1, max_iterations=10).fit(*train, threads=2)
    assert np.array_equal(again.learned_.weights, fitted.learned_.weights)
    assert again.predict(train[0], threads=2) == fitted.predict(train[0])
    other = CRF(c2=0.1, max_iterations=10, seed=2).fit(*train)
    assert not np.array_equal(other.learned_.weights, fitted.learned_.weights)


def test_a_pickled_crf_answers_alike(fitted: CRF, dev: Corpus) -> None:
    fitted.predict(dev[0])  # so that it holds native things
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(dev[0]) == fitted.predict(dev[0])
    assert again.predict_marginals(dev[0]) == fitted.predict_marginals(dev[0])
    assert again.state_features_ == fitted.state_features_
    assert again.get_params() == fitted.get_params()
    assert pickle.loads(pickle.dumps(CRF(c2=3.0))).c2 == 3.0


def test_the_layout_is_found_again(fitted: CRF) -> None:
    learned = fitted.learned_
    again = Learned.from_arrays(learned.classes, learned.arrays())
    assert again.attributes == learned.attributes
    assert np.array_equal(learned.layout.first, learned.first)
    assert np.array_equal(learned.layout.label, learned.label)
    assert learned.layout.weights == len(learned.weights)


class TestScikitLearn:
    """Cloning, cross-validation and grid search, by scikit-learn itself."""

    @pytest.fixture(autouse=True)
    def _need_scikit_learn(self) -> None:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")

    @pytest.fixture(params=["CRF", "Tagger"])
    def case(self, request: pytest.FixtureRequest, train: Corpus) -> tuple[Any, Any, Any]:
        if request.param == "CRF":
            return CRF(max_iterations=2), train[0], train[1]
        return Tagger(learning=AdaGrad(iterations=2)), [layer.words for layer in layers("ctb")], train[1]

    def test_a_clone_has_the_parameters_and_nothing_learned(self, case: tuple[Any, Any, Any]) -> None:
        from sklearn.base import clone

        estimator = case[0].fit(*case[1:])
        cloned = clone(estimator)
        assert cloned.get_params() == estimator.get_params()
        assert not [name for name in vars(cloned) if name.endswith("_")]

    def test_cross_validation(self, case: tuple[Any, Any, Any]) -> None:
        from sklearn.model_selection import cross_val_score

        scores = cross_val_score(*case, cv=3, error_score="raise")
        assert len(scores) == 3
        assert min(scores) > 0.7

    def test_grid_search_finds_the_better_setting(self, case: tuple[Any, Any, Any]) -> None:
        from sklearn.model_selection import GridSearchCV

        name = "min_freq" if isinstance(case[0], CRF) else "features__min_count"
        search = GridSearchCV(case[0], {name: [1, 10**6]}, cv=2, error_score="raise").fit(*case[1:])
        assert list(search.best_params_.values()) == [1]
        assert search.best_estimator_.predict(case[1][:2])


class TestCrfsuite:
    """Against the original, on the demonstration corpus."""

    @pytest.fixture
    def original(self) -> Any:
        return pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed").CRF

    def test_every_parameter_of_the_original_is_taken_in_its_order(self, original: Any) -> None:
        theirs = list(inspect.signature(original).parameters)
        assert list(inspect.signature(CRF).parameters)[: len(theirs)] == theirs

    @pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap"])
    def test_it_is_as_accurate(self, original: Any, algorithm: str, train: Corpus, dev: Corpus) -> None:
        settings = {} if algorithm == "ap" else {"c2": 0.1}
        accuracy = original(algorithm=algorithm, **settings).fit(*train).score(*dev)
        assert CRF(algorithm=algorithm, **settings).fit(*train).score(*dev) > accuracy - 0.01

    def test_it_minimises_the_same(self, original: Any, train: Corpus, dev: Corpus) -> None:
        settings: dict[str, Any] = {"c2": 1.0, "all_possible_states": True, "all_possible_transitions": True}
        # The original has no start and stop weights; these attributes are the same to it.
        edged = [
            [
                [
                    {**unit, "at": [*["start"] * (t == 0), *["stop"] * (t == len(s) - 1)]}
                    for t, unit in enumerate(s)
                ]
                for s in side
            ]
            for side in (train[0], dev[0])
        ]
        ours = CRF(max_iterations=40, **settings).fit(train[0], train[1]).predict_marginals(dev[0])
        theirs = original(algorithm="lbfgs", **settings).fit(edged[0], train[1]).predict_marginals(edged[1])
        differences = [
            abs(a[label] - b[label])
            for x, z in zip(ours, theirs, strict=True)
            for a, b in zip(x, z, strict=True)
            for label in a
        ]
        assert np.mean(differences) < 0.002
        assert max(differences) < 0.1

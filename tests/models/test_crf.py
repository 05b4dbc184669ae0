"""The CRF over feature dicts: attributes as python-crfsuite names them, answers that equal enumeration."""

from __future__ import annotations

import inspect
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.errors import ConfigError, ModelFileError
from duilian.modelfile import read_model, write_model
from duilian.models.attribute_crf.attributes import Units, attributes
from duilian.models.attribute_crf.model import CRF, NotFittedError

SMALL_X = [
    [{"w": "a", "size": 2.0}, {"w": "b", "size": 0.5}, {"w": "a"}],
    [{"w": "b", "even": True}, {"w": "c", "even": False, "size": -1}],
]
SMALL_Y = [["X", "Y", "X"], ["Y", "Z"]]


@pytest.fixture(scope="module")
def small() -> CRF:
    return CRF(algorithm="ap", max_iterations=5).fit(SMALL_X, SMALL_Y)


def path_score(crf: CRF, sentence: list[dict[str, Any]], labels: tuple[str, ...]) -> float:
    """The score of a labelling, from the weights that the CRF shows."""
    state, between = crf.state_features_, crf.transition_features_
    total = crf.start_features_[labels[0]] + crf.stop_features_[labels[-1]]
    total += sum(between[pair] for pair in itertools.pairwise(labels))
    for unit, label in zip(sentence, labels, strict=True):
        total += sum(value * state.get((name, label), 0.0) for name, value in attributes(unit))
    return total


def enumerated(crf: CRF, sentence: list[dict[str, Any]]) -> tuple[tuple[str, ...], list[dict[str, float]]]:
    """The best labelling and the marginals, from all labellings."""
    scores = {
        path: path_score(crf, sentence, path)
        for path in itertools.product(crf.classes_, repeat=len(sentence))
    }
    log_z = math.log(sum(map(math.exp, scores.values())))
    marginals = [
        {
            label: sum(math.exp(s - log_z) for path, s in scores.items() if path[t] == label)
            for label in crf.classes_
        }
        for t in range(len(sentence))
    ]
    return max(scores, key=scores.__getitem__), marginals


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ({"w": "东"}, {"w:东": 1.0}),
        ({"w": b"ab", b"v": "c"}, {"w:ab": 1.0, "v:c": 1.0}),
        ({"is": True, "not": False}, {"is": 1.0, "not": 0.0}),
        ({"n": 3, "x": -0.5, "y": np.float32(2)}, {"n": 3.0, "x": -0.5, "y": 2.0}),
        ({"p": {"a": "b", "c": 2.0, "d": {"e": True}}}, {"p:a:b": 1.0, "p:c": 2.0, "p:d:e": 1.0}),
        ({"p": ["a", "b"], "q": {"c"}, "r": ("d",)}, {"p:a": 1.0, "p:b": 1.0, "q:c": 1.0, "r:d": 1.0}),
        (["a", "b"], {"a": 1.0, "b": 1.0}),
        ({"w": "", "": "x"}, {"w:": 1.0, ":x": 1.0}),
        ({}, {}),
        ([], {}),
    ],
)
def test_attributes_have_the_names_of_python_crfsuite(unit: Any, expected: dict[str, float]) -> None:
    assert dict(attributes(unit)) == expected


names = st.text("ab:东𠮷", max_size=3)
flat = names | st.booleans() | st.floats(-9, 9) | st.integers(-9, 9)
nested = st.recursive(
    flat,
    lambda inner: st.dictionaries(names, inner, max_size=3) | st.lists(names, max_size=3) | st.sets(names),
)


@given(st.dictionaries(names, nested, max_size=4) | st.lists(names, max_size=4))
def test_attributes_are_those_of_an_item_sequence(unit: Any) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    expected = pycrfsuite.ItemSequence([unit]).items()[0]  # the last value wins there
    assert dict(attributes(unit)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("abc", "a unit must be a dict or a list of attributes, got 'abc'"),
        (7, "a unit must be a dict or a list of attributes, got 7"),
        ([1], "the name of an attribute must be a string, got 1"),
        ({1: "a"}, "the name of an attribute must be a string, got 1"),
        ({"w": None}, "the feature 'w' must be a string or a finite number, got None"),
        ({"w": math.nan}, "the feature 'w' must be a string or a finite number, got nan"),
        ({"w": math.inf}, "the feature 'w' must be a string or a finite number, got inf"),
    ],
)
def test_a_bad_unit_is_named_with_its_place(unit: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CRF().fit([[["a"]], [["a"], unit]], [["X"], ["X", "Y"]])
    assert str(caught.value) == f"sentence 2, unit 2: {message}"


def test_best_labels_and_marginals_equal_enumeration(small: CRF) -> None:
    for sentence in [*SMALL_X, [{"w": "unknown"}], [{"w": "a", "size": 3}] * 4, [{}, {}]]:
        path, marginals = enumerated(small, sentence)
        assert small.predict_single(sentence) == list(path)
        for found, expected in zip(small.predict_marginals_single(sentence), marginals, strict=True):
            assert found == pytest.approx(expected, abs=1e-6)


def test_all_predictions_at_once_are_those_of_each(small: CRF) -> None:
    sentences = [*SMALL_X, [], [{"size": 1.5}]]
    assert small.predict(sentences) == [small.predict_single(each) for each in sentences]
    assert small.predict(sentences, threads=2) == small.predict(sentences)
    together = small.predict_marginals(sentences)
    assert small.predict_marginals(sentences, threads=2) == together
    assert together == [small.predict_marginals_single(each) for each in sentences]
    assert together[2] == []
    assert small.predict([]) == []
    assert small.predict_marginals([[]]) == [[]]


@given(st.floats(-4, 4), st.floats(-4, 4))
@settings(max_examples=30, deadline=None)
def test_a_strength_multiplies_the_weights(small: CRF, one: float, other: float) -> None:
    learned = small.learned_

    def scores(strength: float) -> np.ndarray:
        return learned.state_scores(Units.of([[{"size": strength, "w": "a"}]], learned.row.get))[0]

    base = scores(0.0)
    assert scores(2.0) - base == pytest.approx(2.0 * (scores(1.0) - base))
    assert scores(one) + scores(other) == pytest.approx(scores(one + other) + base, abs=1e-5)
    weights = [small.state_features_.get(("size", label), 0.0) for label in small.classes_]
    assert np.abs(weights).max() > 0.01
    assert scores(one) - base == pytest.approx(one * np.array(weights), abs=1e-5)


def test_an_attribute_said_twice_is_one_of_strength_two() -> None:
    y = [["X", "Y"], ["Y", "X"]]
    twice = CRF().fit([[["a", "a"], ["b"]], [["b"], ["a", "c"]]], y)
    strong = CRF().fit([[{"a": 2}, {"b": 1}], [{"b": 1}, {"a": 1, "c": 1}]], y)
    assert twice.state_features_ == strong.state_features_


def test_strengths_are_learned_from() -> None:
    sentences = [[{"x": value}] for value in (-2.0, -1.0, 1.0, 2.0)] * 5
    crf = CRF(c2=0.01).fit(sentences, [["low"], ["low"], ["high"], ["high"]] * 5)
    assert crf.predict([[{"x": -0.5}], [{"x": 0.5}]]) == [["low"], ["high"]]


def test_states_are_those_seen_or_all_possible() -> None:
    seen = CRF().fit(SMALL_X, SMALL_Y)
    pairs = {("w:a", "X"), ("w:b", "Y"), ("w:c", "Z"), ("even", "Y")}
    assert set(seen.state_features_) == pairs | {("size", label) for label in "XYZ"}
    full = CRF(all_possible_states=True).fit(SMALL_X, SMALL_Y)
    assert set(full.state_features_) == set(itertools.product(full.attributes_, full.classes_))
    assert seen.attributes_ == full.attributes_ == ["w:a", "size", "w:b", "even", "w:c"]


def test_rare_attributes_are_left_out() -> None:
    sentences = [[{"rare": 1.0, **SMALL_X[0][0]}, *SMALL_X[0][1:]], SMALL_X[1]]
    crf = CRF(min_freq=2).fit(sentences, SMALL_Y)
    assert crf.attributes_ == ["w:a", "size", "w:b"]
    kept = [[{k: v for k, v in u.items() if k == "size" or v in ("a", "b")} for u in s] for s in SMALL_X]
    assert crf.state_features_ == CRF().fit(kept, SMALL_Y).state_features_
    nothing = CRF(min_freq=9).fit(SMALL_X, SMALL_Y)
    assert nothing.attributes_ == []
    _, marginals = enumerated(nothing, SMALL_X[0])
    for found, expected in zip(nothing.predict_marginals_single(SMALL_X[0]), marginals, strict=True):
        assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow", "adagrad", "sgd", None])
def test_every_name_of_a_learner_learns(algorithm: str | None) -> None:
    crf = CRF(algorithm, c2=0.01, max_iterations=30).fit(SMALL_X, SMALL_Y)
    assert crf.predict(SMALL_X) == SMALL_Y


def test_what_our_learner_has_not_is_said() -> None:
    with pytest.warns(UserWarning, match=r"epsilon, c1: not supported, ignored") as caught:
        CRF(c1=0.1, epsilon=1e-3).fit(SMALL_X, SMALL_Y)
    assert caught[0].filename == __file__
    CRF(c1=0.0).fit(SMALL_X, SMALL_Y)  # a warning would be an error here


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithm": "newton"}, "algorithm must be one of lbfgs, l2sgd, .*got 'newton'"),
        ({"c2": -1.0}, "c2 must be at least 0, got -1.0"),
        ({"c2": math.nan}, "c2 must be at least 0, got nan"),
        ({"max_iterations": 0}, "iterations must be at least 1, got 0"),
    ],
)
def test_impossible_settings_are_refused_at_fit(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CRF(**settings).fit(SMALL_X, SMALL_Y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "there are no labels to learn from"),
        ([[["a"]]], [[None]], "there are no labels to learn from"),
        ([[["a"]]], [["X"], ["Y"]], "X has 1 sentence, y has 2"),
        ([[["a"]], [["a"]]], [["X"], ["Y", "X"]], "sentence 2 has 1 unit and 2 labels"),
        ([[["a"]]], [[1]], "a label must be a string, got 1"),
    ],
)
def test_what_does_not_fit_is_refused(X: Any, y: Any, message: str) -> None:  # noqa: N803
    with pytest.raises(ConfigError, match=message):
        CRF().fit(X, y)


def test_a_dev_set_needs_both_parts() -> None:
    with pytest.raises(ConfigError, match="X_dev and y_dev go together"):
        CRF().fit(SMALL_X, SMALL_Y, SMALL_X)
    with pytest.raises(ConfigError, match="the dev set has no label"):
        CRF().fit(SMALL_X, SMALL_Y, [], [])


def test_before_fit_there_is_nothing_to_ask() -> None:
    with pytest.raises(NotFittedError, match=r"has not been trained yet\n  hint: call fit"):
        CRF().predict([])
    assert not hasattr(CRF(), "classes_")
    assert not hasattr(CRF(), "state_features_")


def test_parameters_come_and_go_by_name() -> None:
    crf = CRF(c2=0.5)
    assert crf.set_params(c2=0.7, seed=4) is crf
    assert CRF(**crf.get_params()).get_params() == crf.get_params()
    assert (crf.get_params()["c2"], crf.get_params()["seed"]) == (0.7, 4)
    assert repr(crf) == "CRF(c2=0.7, seed=4)"
    assert list(crf.get_params()) == list(inspect.signature(CRF).parameters)
    assert "threads" not in crf.get_params()
    with pytest.raises(ConfigError, match="CRF has no parameter 'nonsense'"):
        crf.set_params(nonsense=1)


def test_a_saved_crf_answers_alike(small: CRF, tmp_path: Path) -> None:
    sentences = [[{**unit, "n\n": "\ud800𠮷"} for unit in sentence] for sentence in SMALL_X]
    crf = CRF(c2=0.2, model_filename=str(tmp_path / "a.model")).fit(sentences, SMALL_Y)
    again = CRF.load(tmp_path / "a.model")
    assert again.predict_marginals(sentences) == crf.predict_marginals(sentences)
    assert again.attributes_ == crf.attributes_
    assert "n\n:\ud800𠮷" in again.attributes_
    assert again.get_params() == crf.get_params() | {"model_filename": None}
    again.save(tmp_path / "b.model")
    assert (tmp_path / "b.model").read_bytes() == (tmp_path / "a.model").read_bytes()


BROKEN: dict[str, Any] = {
    "first": lambda a: a[::-1],
    "label": lambda a: a + 7,
    "weights": lambda a: a[1:],
    "names": lambda a: a[1:],
    "ends": lambda a: a[::-1],
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("how", ["changed", "missing", "of another type", "square"])
def test_a_file_whose_parts_do_not_fit_is_refused(small: CRF, tmp_path: Path, name: str, how: str) -> None:
    small.save(tmp_path / "whole")
    header, arrays = read_model(tmp_path / "whole")
    part = arrays.pop(name)
    if how != "missing":
        changes = {"changed": BROKEN[name], "of another type": np.float64, "square": lambda a: a[None]}
        arrays[name] = np.ascontiguousarray(changes[how](part))
    write_model(tmp_path / "broken", header, arrays)
    with pytest.raises(ModelFileError, match="the parts of the model do not fit together"):
        CRF.load(tmp_path / "broken")


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "other", {"kind": "crf"}, {})
    with pytest.raises(ModelFileError, match="is a model of kind 'crf', not 'crf-attributes'"):
        CRF.load(tmp_path / "other")

"""Settings of the coupled tagger: one declaration for constructor, recipe and file."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle

import pytest
import sklearn.base

from duilian.errors import ConfigError
from duilian.labels.units import units_of_layers
from duilian.learning import Sgd
from duilian.models import CoupledTagger
from duilian.models.coupled.config import CoupledConfig, CoupledPruning, Start
from duilian.models.coupled.effort import Effort
from duilian.models.coupled.predictor import CoupledPredictor
from duilian.standards import Mapping
from models.coupled_corpora import DEV, SMALL, TINY, quick, small


def test_the_constructor_has_the_fields_of_the_config() -> None:
    parameters = inspect.signature(CoupledTagger).parameters
    fields = {field.name: field.default for field in dataclasses.fields(CoupledConfig)}
    assert {name: each.default for name, each in parameters.items()} == fields
    assert CoupledTagger().config == CoupledConfig()


def test_settings_in_groups_can_be_searched() -> None:
    clone = sklearn.base.clone
    tagger = CoupledTagger(["x", "y"], pruning=CoupledPruning(max_candidates=4))
    copy = clone(tagger).set_params(pruning__bundle_gap=None, learning__algorithm="sgd", start__kind="cold")
    assert copy.pruning == CoupledPruning(max_candidates=4, bundle_gap=None)
    assert copy.learning == Sgd(batch=8, iterations=8)
    assert copy.get_params()["start__kind"] == "cold"
    assert tagger.start == Start(), "the original keeps its settings"
    with pytest.raises(ConfigError, match="most"):
        copy.set_params(pruning__most=3)


def test_settings_survive_a_file() -> None:
    config = CoupledConfig().updated(
        {
            "standards": ["a", "b", "c"],
            "level": "char",
            "features": {"parts": "joint", "guide": "b", "scheme": "BI"},
            "pruning": {"kind": "offline", "bundle_gap": float("inf")},
            "start": {"shares": [1, 0.5, 0]},
            "learning": {"algorithm": "sgd", "sample": [None, 3, 4], "keep": "average"},
        }
    )
    assert config.pruning.bundle_gap is None
    assert CoupledConfig().updated(json.loads(json.dumps(config.to_dict()))) == config


def test_a_mapping_is_for_two() -> None:
    mapping = Mapping.from_pairs([("P", "r")])
    assert CoupledConfig(mapping=mapping).mapping is mapping
    with pytest.raises(ConfigError, match="a single mapping needs exactly two standards, got 3"):
        CoupledConfig(standards=("a", "b", "c"), mapping=mapping)
    with pytest.raises(ConfigError, match="mapping must be a string or a Mapping"):
        CoupledConfig().updated({"mapping": 3})


def test_training_leaves_the_parameters_alone() -> None:
    tagger = small(mapping=Mapping.from_pairs([("P", "r"), ("V", "v"), ("N", "n")]))
    before = tagger.get_params()
    tagger.fit(SMALL, dev=SMALL)
    assert tagger.get_params() == before
    assert tagger.model_.config.mapping == "complete", "what it allows is among the arrays"


def test_a_batch_that_is_not_named_suits_the_sample() -> None:
    sample = (4, 4)
    usual, named = (small(learning__batch=batch, learning__sample=sample).fit(SMALL) for batch in (None, 1))
    for name, array in usual.state()[1].items():
        assert array.tobytes() == named.state()[1][name].tobytes(), name


def test_a_predictor_with_more_candidates() -> None:
    tagger = quick(pruning__kind="mixed", pruning__max_candidates=4, level="char").fit(TINY[0])
    wide, narrow = tagger.predictor_.wide, tagger.predictor_
    assert wide.model.config.pruning.candidate_mass == 1.0
    assert wide.model.weights["average"] is tagger.model_.weights["average"], "shared, not copied"
    packed = tagger.predictor_.packer.pack_batch(units_of_layers(DEV[0][:5], tagger.encodings_[0]))
    sizes = [
        len(each.best_for("ctb").predict_constrained(packed, [], True, 1)[0].candidates(0).tags)
        for each in (wide, narrow)
    ]
    assert sizes[0] > sizes[1]


def test_the_window_of_coarse_pruning_is_the_predictors() -> None:
    tagger = quick(pruning__kind="mixed", level="char").fit(TINY[0])
    exact = CoupledPredictor(tagger.model_, effort=Effort(0.0))
    assert tagger.predictor_.effort == Effort(7.0)
    assert exact.tags_of_words(DEV[0][:5], "ctb", threads=2) == exact.tags_of_words(DEV[0][:5], "ctb")
    quicker = CoupledTagger.from_state(*tagger.state(), effort=Effort(5.0))
    assert pickle.loads(pickle.dumps(quicker)).predictor_.effort == Effort(5.0)

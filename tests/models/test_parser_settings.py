"""Settings of the parsers: declared once, the same in constructor, config and file."""

from __future__ import annotations

import dataclasses
import inspect
import itertools

import numpy as np
import pytest

from duilian.errors import ConfigError
from duilian.learning import AdaGrad, Perceptron, Session
from duilian.models import JointParser, Parser
from duilian.models.parser.treebank import jackknifed_tags, retagged
from models.small_parsers import SMALL
from tree.ambiguous import treebank

PARSERS = pytest.mark.parametrize("kind", [Parser, JointParser])


@PARSERS
def test_the_constructor_has_the_fields_of_the_config(kind: type[Parser]) -> None:
    signature = inspect.signature(kind).parameters.values()
    fields = dataclasses.fields(kind.config_type)
    assert [(each.name, each.default) for each in signature] == [(each.name, each.default) for each in fields]
    assert len(fields) == 8


@PARSERS
def test_clones_and_groups(kind: type[Parser]) -> None:
    clone = pytest.importorskip("sklearn.base").clone
    parser = kind("ctb", order=3).set_params(pruning__threshold=0.5, learning__seed=7)
    copy = clone(parser)
    assert copy.get_params() == parser.get_params()
    copy.set_params(trees__bits=10)
    assert (parser.trees.bits, copy.trees.bits, copy.pruning.threshold) == (24, 10, 0.5)


@PARSERS
def test_settings_survive_a_file(kind: type[Parser]) -> None:
    config = kind("ctb", order=1).set_params(relations__bits=9, learning__iterations=2).config
    assert kind.config_type().updated(config.to_dict()) == config
    assert kind.with_config(config).config == config


def test_parsers_learn_by_the_perceptron() -> None:
    with pytest.raises(ConfigError, match="kind 'parser' learns by 'perceptron', got 'adagrad'"):
        Parser(learning=AdaGrad()).fit(treebank(5, 1))


def test_a_batch_that_is_not_named_is_the_usual_one() -> None:
    trees = treebank(9, 1)
    one, two = (
        Parser(**SMALL | {"learning": Perceptron(iterations=2, batch=batch)}).fit(trees)
        for batch in (None, 2)
    )
    assert np.array_equal(one.model_.weights, two.model_.weights)


def test_predicted_tags_are_those_of_taggers_that_did_not_see_the_sentences() -> None:
    train, dev, stages = treebank(30, 1), treebank(10, 2), []
    session = Session(on_stage=stages.append)
    found = Parser("ctb", tag_folds=3, **SMALL).fit(train, dev=dev, session=session)
    tagged, tagged_dev = jackknifed_tags(train, 3, "ctb", Session()), retagged(dev, train, "ctb", 1)
    wanted = Parser("ctb", **SMALL).fit(tagged, dev=tagged_dev)
    assert np.array_equal(found.model_.weights, wanted.model_.weights)
    assert found.best_score_ == wanted.best_score_
    assert stages == ["tagging in 3 folds"]
    thirds = [retagged(train[a:b], train[:a] + train[b:], "ctb", 1) for a, b in ((0, 10), (10, 20), (20, 30))]
    assert tagged == list(itertools.chain.from_iterable(thirds))

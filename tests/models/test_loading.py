"""Models of every kind from files: the table of kinds has each, under its own name."""

from __future__ import annotations

import pytest

import duilian
from duilian import models
from duilian.models.neural_parser.model import NeuralParser
from duilian.models.parser.model import Parser
from duilian.models.registry import KINDS, PARSERS, estimator_of
from duilian.recipes import KINDS as RECIPE_KINDS


def test_every_kind_of_a_recipe_can_be_loaded() -> None:
    assert set(KINDS) - set(RECIPE_KINDS) == {"neural-parser"}  # which a tool trains


@pytest.mark.parametrize("kind", KINDS)
def test_the_class_of_a_kind_says_so(kind: str) -> None:
    found = estimator_of(kind)
    assert found.kind == kind
    assert (kind in PARSERS) == issubclass(found, Parser | NeuralParser)


@pytest.mark.parametrize("package", [duilian, models])
def test_every_public_name_is_there(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing  # type: ignore[attr-defined]

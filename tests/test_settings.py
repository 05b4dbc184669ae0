"""Settings: what they refuse, how they change, and that constructor, recipe and file agree."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any, Literal

import pytest

from duilian.errors import ConfigError
from duilian.learning import AdaGrad, PassiveAggressive, Sgd
from duilian.models.crf.config import CrfConfig
from duilian.models.registry import KINDS, estimator_of
from duilian.recipes import KINDS as RECIPE_KINDS
from duilian.settings import SettingError, Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inner(Settings):
    count: int = setting(3, "A count.", at_least=1, at_most=9)
    share: float | None = setting(None, "A share.", above=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outer(Settings):
    name: str = setting("x", "A name.")
    mode: Literal["a", "b"] = setting("a", "A mode.")
    parts: tuple[int | None, ...] | None = setting(None, "Parts.", at_least=1)
    inner: Inner = setting(Inner(), "A group.")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": 1}, "name must be a string, got 1"),
        ({"mode": "c"}, "mode must be 'a' or 'b', got 'c'"),
        ({"mode": ["a"]}, "mode must be 'a' or 'b'"),
        ({"parts": [1, "x"]}, "parts must be a list of whole numbers"),
        ({"parts": [1, 0]}, "parts must be at least 1, got 0"),
        ({"inner": {"count": True}}, "inner.count must be a whole number, got True"),
        ({"inner": {"count": 10}}, "inner.count must be at most 9, got 10"),
        ({"inner": {"share": 0}}, "inner.share must be greater than 0, got 0"),
        ({"inner": {"share": float("nan")}}, "inner.share must be a finite number, got nan"),
        ({"inner": {"cuont": 1}}, "inner.cuont is not a setting"),
        ({"inner": 3}, "inner must be a Inner"),
        ({"alternative_key": "x"}, "alternative_key is not a setting"),
    ],
)
def test_wrong_values_are_refused_with_their_path(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        Outer().updated(values)
    assert message in str(caught.value)


def test_a_typo_gets_a_hint() -> None:
    with pytest.raises(SettingError) as caught:
        Outer().updated({"inner": {"cuont": 1}})
    assert caught.value.hint == "did you mean 'count'?"


def test_values_survive_json() -> None:
    changed = Outer().updated({"parts": [1, None], "inner": {"share": 0.5}})
    assert changed.parts == (1, None)
    assert Outer().updated(json.loads(json.dumps(changed.to_dict()))) == changed


def test_an_alternative_keeps_what_it_shares() -> None:
    chosen = AdaGrad(rate=0.15, iterations=7, seed=3).updated({"algorithm": "sgd", "l2": 0.5})
    assert chosen == Sgd(iterations=7, seed=3, l2=0.5)
    assert chosen.rate is None
    again = PassiveAggressive().updated(chosen.to_dict())
    assert again == chosen
    with pytest.raises(SettingError, match="algorithm must be one of"):
        AdaGrad().updated({"algorithm": "adam"})


def test_a_config_refuses_what_its_kind_cannot_do() -> None:
    with pytest.raises(ConfigError, match="segment_only needs"):
        CrfConfig(segment_only=True)


def config_of(kind: str) -> type[Settings]:
    """The settings of a kind; there is no recipe for a neural parser, which is trained elsewhere."""
    if kind in RECIPE_KINDS:
        return RECIPE_KINDS[kind].config
    found: type[Settings] = estimator_of(kind).config_type
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_estimator_config_and_recipe_agree(kind: str) -> None:
    """One declaration: the constructor has the config's names and defaults, at most eight."""
    estimator = estimator_of(kind)
    assert estimator.kind == kind
    config = config_of(kind)
    if kind == "analyzer":  # its parts have settings of their own
        return
    assert config is estimator.config_type
    parameters = dict(inspect.signature(estimator).parameters)
    fields = {field.name: field.default for field in dataclasses.fields(config)}
    assert {name: each.default for name, each in parameters.items()} == fields
    assert len(parameters) <= 8
    assert estimator().config == config()


@pytest.mark.parametrize("kind", KINDS)
def test_every_setting_has_help_and_survives_the_header(kind: str) -> None:
    config = config_of(kind)()
    for settings in (config, *(group for _, group in config.groups())):
        for field in dataclasses.fields(settings):
            assert str(field.metadata["help"]).endswith("."), field.name
            assert field.name != "threads"
    assert type(config)().updated(json.loads(json.dumps(config.to_dict()))) == config

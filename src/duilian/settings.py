"""Settings: frozen dataclasses that refuse bad values.

A setting is declared once: type, default, range and a line of help. Everything else is derived from that
declaration: the check, the parameters of an estimator (`pruning__max_candidates`), the keys of a recipe, the
header of a model file, and the tables in docs/settings.md.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

from duilian.errors import ConfigError, did_you_mean

_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
_RANGES: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
    ("at_least", "at least", operator.ge),
    ("above", "greater than", operator.gt),
    ("at_most", "at most", operator.le),
)
MAX_NUMBER = 2**31 - 1  # of any whole number
_PLURALS = {str: "strings", int: "whole numbers", float: "numbers"}

RENAMED = {
    "learn": "it is now [learning]",
    "save": "it is now [saving]",
    "most": "it is now [pruning] max_candidates",
    "tagging_most": "it is now [pruning] max_candidates_tagging",
    "mass": "it is now [pruning] candidate_mass",
    "margin": "it is now [pruning] bundle_gap, [trees] head_cost or [search] kind_gap, by kind",
    "relation_margin": "it is now [relations] relation_cost",
    "hearing": "it is now [search] path_gap",
    "beam": "it is now [search] beam",
    "words": "it is now [features] word_templates",
    "keep": "it is now [learning] keep",
    "warm": "it is now [start] shares",
    "plain_iterations": "it is now [start] baseline_iterations",
    "joint_count": "it is now [features] joint_count",
    "folds": "it is now [pruning] folds (coupled), tag_folds (parser), [tagging] folds (joint-parser)",
    **{f"parser_{key}": f"it is now [parser] {key}" for key in ("order", "bits", "iterations", "threshold")},
    "parser_relation_bits": "it is now [parser] relation_bits",
    "parser_pruning_bits": "it is now [parser] pruning_bits",
    "parser_folds": "it is now [parser] tag_folds",
    "parser_least": "it is now [parser] min_weight",
    "segmenter_iterations": "it is now [segmenter] iterations",
    "segmenter_least": "it is now [segmenter] min_weight",
    "guide": "it is now [features] guide",
    "least": "it is now [saving] min_weight",
    "listens": "it is now learns_from_other",
    "samples": "it is now [[side]] sample",
    "rate": "algorithm = 'pa' has no rate; its largest step is [learning] aggressiveness",
    "bits": "it is now [trees] bits",
    "relation_bits": "it is now [relations] bits",
    "guess_iterations": "it is now [relations] guess_iterations",
    "pruning_bits": "it is now [pruning] bits",
    "pruning_iterations": "it is now [pruning] iterations",
    "threshold": "it is now [pruning] threshold",
    "longest": "it is now [trees] max_length",
    "tag_bits": "it is now [tagging] bits",
    "tag_threshold": "it is now [tagging] threshold",
    "likelihoods": "it is now [tagging] likelihoods",
    "tagger_iterations": "it is now [tagging] iterations",
    "threads": "threads belong to the run: duilian train --threads",
    "templates": "it is now in [features], or in [tagging] for a joint-parser",
    **dict.fromkeys(
        ("scheme", "join_letters", "join_digits", "script", "min_count", "full_from"),
        "it is now in [features]",
    ),
    **dict.fromkeys(("english", "letters", "min_word_count"), "it is now in [features]"),
}
"""Settings that were renamed or moved, with their new place; groups are in brackets."""


def setting(
    default: Any,
    help: str,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    is_finite: bool = True,
    is_optional: bool = False,
) -> Any:
    """A field of a settings class.

    Numbers are checked against the range and must be finite unless `is_finite` is False. Files omit an
    optional field that has its default.
    """
    limits = {"at_least": at_least, "above": above, "at_most": at_most, "is_finite": is_finite}
    return dataclasses.field(default=default, metadata={"help": help, "is_optional": is_optional} | limits)


class SettingError(ConfigError):
    """A setting with a wrong name or value; `path` leads to it through the groups."""

    def __init__(self, path: tuple[str, ...], message: str, hint: str = "") -> None:
        super().__init__(f"{'.'.join(path)} {message}", hint)
        self.path, self.what = path, message

    def inside(self, group: str) -> SettingError:
        """The same error, seen from the group around it."""
        return type(self)((group, *self.path), self.what, self.hint)


class UnknownSettingError(SettingError):
    """A name that is not a setting."""

    @classmethod
    def of(cls, name: str, known: Iterable[str]) -> UnknownSettingError:
        """The error, with a hint: the setting's new name, or the most similar one."""
        return cls((name,), "is not a setting", RENAMED.get(name) or did_you_mean(name, known))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """The base of all settings. A group of settings is a field whose type is another settings class."""

    alternative_key: ClassVar[str] = ""
    """The key that names one of several settings classes, such as `algorithm` for ways to learn."""

    def __new__(cls, *_: Any, **values: Any) -> Self:
        """Refuse unknown names before the constructor does, with a hint."""
        for name in values.keys() - cls.__dataclass_fields__.keys():
            raise UnknownSettingError.of(name, cls.__dataclass_fields__)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, field.name, value)
            if value is field.default:  # true of most; resolving types would slow down every start
                continue
            wanted = self.type_of(field.name)
            if not fits(value, wanted):
                raise SettingError((field.name,), f"must be {spell(wanted)}, got {value!r}")
            _check_range(field, value)

    @classmethod
    @functools.cache
    def type_of(cls, name: str) -> Any:
        """The type of a setting, from its annotation."""
        owner = next(each for each in cls.__mro__ if name in inspect.get_annotations(each))
        return eval(inspect.get_annotations(owner)[name], vars(sys.modules[owner.__module__]))

    @classmethod
    def alternatives(cls) -> Mapping[str, type[Settings]]:
        """The classes that `alternative_key` chooses from, by name; none for most."""
        return {}

    def get(self, name: str, default: Any = None) -> Any:
        """A setting that not all classes of settings have."""
        return getattr(self, name, default)

    def groups(self) -> Iterator[tuple[str, Settings]]:
        """The groups of settings in these, by name."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Settings):
                yield field.name, value

    def to_dict(self) -> dict[str, Any]:
        """Plain values with nested groups, as a model file stores them."""
        name = next((name for name, known in self.alternatives().items() if known is type(self)), None)
        found: dict[str, Any] = {} if name is None else {self.alternative_key: name}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.metadata["is_optional"] and value == field.default:
                continue
            if isinstance(value, Settings):
                value = value.to_dict()
            found[field.name] = list(value) if isinstance(value, tuple) else value
        return found

    def updated(self, values: Mapping[str, Any]) -> Self:
        """These settings with some values changed; a group takes a mapping of its own changes."""
        own = dict(values)
        base = self._alternative(own.pop(self.alternative_key)) if self.alternative_key in own else self
        names = [field.name for field in dataclasses.fields(base)]
        for name, value in own.items():
            if name not in names:
                raise UnknownSettingError.of(name, names)
            group = getattr(base, name)
            if isinstance(group, Settings) and isinstance(value, Mapping):
                try:
                    own[name] = group.updated(value)
                except SettingError as error:
                    raise error.inside(name) from None
        return dataclasses.replace(base, **own)

    def _alternative(self, name: Any) -> Self:
        """Settings of another class; settings that both classes have keep their values."""
        known = self.alternatives().get(name)
        if known is None:
            choices = ", ".join(map(repr, self.alternatives()))
            raise SettingError((self.alternative_key,), f"must be one of {choices}, got {name!r}")
        if known is type(self):
            return self
        shared = {field.name for field in dataclasses.fields(known)} & self.shared()
        return typing.cast(Self, known(**{key: getattr(self, key) for key in shared}))

    def shared(self) -> set[str]:
        """The settings that another alternative takes over."""
        return {field.name for field in dataclasses.fields(self)}


def _check_range(field: dataclasses.Field[Any], value: Any) -> None:
    for number in value if isinstance(value, tuple) else (value,):
        if not isinstance(number, int | float) or isinstance(number, bool):
            continue
        if math.isnan(number) or (math.isinf(number) and field.metadata["is_finite"]):
            raise SettingError((field.name,), f"must be a finite number, got {number!r}")
        for key, words, is_fine in _RANGES:
            limit = field.metadata.get(key)
            if limit is None and key == "at_most" and isinstance(number, int):
                limit = MAX_NUMBER
            if limit is not None and not is_fine(number, limit):
                raise SettingError((field.name,), f"must be {words} {limit}, got {number!r}")


def _members(wanted: Any) -> tuple[Any, ...]:
    is_union = isinstance(wanted, types.UnionType) or typing.get_origin(wanted) is typing.Union
    return typing.get_args(wanted) if is_union else (wanted,)


def fits(value: Any, wanted: Any) -> bool:
    """Whether a value is of a type, as annotations spell it."""
    return any(_fits_one(value, member) for member in _members(wanted))


def _fits_one(value: Any, wanted: Any) -> bool:
    origin = typing.get_origin(wanted)
    if origin is typing.Literal:
        return isinstance(value, str | int) and value in typing.get_args(wanted)
    if origin in (list, tuple):
        member = typing.get_args(wanted)[0]
        return isinstance(value, list | tuple) and all(fits(each, member) for each in value)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))


def spell(wanted: Any) -> str:
    """A type in words."""
    return " or ".join(_spell_one(each) for each in _members(wanted) if each is not type(None))


def _spell_one(wanted: Any) -> str:
    if typing.get_origin(wanted) is typing.Literal:
        return " or ".join(map(repr, typing.get_args(wanted)))
    if typing.get_origin(wanted) in (list, tuple):
        members = [each for each in _members(typing.get_args(wanted)[0]) if each is not type(None)]
        return f"a list of {_PLURALS.get(members[0], 'values')}"
    return _NAMES.get(wanted, f"a {wanted.__name__}")

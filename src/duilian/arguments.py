"""Checks the arguments of public calls against their annotations; an error names the wrong argument."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import numbers
import os
import reprlib
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from duilian.errors import ArgumentError

P = ParamSpec("P")
R = TypeVar("R")

_KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a string"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    tuple: (tuple, "a list"),
    Path: (os.PathLike, "a path"),
    os.PathLike: (os.PathLike, "a path"),
    collections.abc.Iterable: (collections.abc.Iterable, "a list"),
    collections.abc.Sequence: (collections.abc.Iterable, "a list"),
    collections.abc.Mapping: (collections.abc.Mapping, "a mapping"),
    collections.abc.Callable: (collections.abc.Callable, "a function"),  # type: ignore[dict-item]
}

_LISTS: dict[Any, tuple[type, str]] = {
    str: (str, "a list of strings"),
    int: (numbers.Integral, "a list of whole numbers"),
    float: (numbers.Real, "a list of numbers"),
}
MAX_THREADS = 256
_COUNTS = ("threads", "k", "batch", "words")  # parameters with these names must be at least 1
_EXAMPLES = {
    "Ask": "write ask=duilian.Ask(standards=['pku'])",
    "Lexicon": "write Lexicon([...]) or Lexicon.read(path)",
    "Session": "write session=duilian.Session(threads=2)",
}


class _Kind(NamedTuple):
    """What an annotation allows, and how to say it."""

    types: tuple[type, ...]
    values: tuple[Any, ...]  # of a Literal
    has_bool: bool
    words: str
    members: tuple[type, ...] = ()  # of a list of strings or numbers
    is_count: bool = False
    most: int | None = None  # of a count
    sure: frozenset[type] = frozenset()  # types whose values are all valid

    def has(self, value: Any) -> bool:
        if isinstance(value, bool):
            return self.has_bool
        if self.is_count and isinstance(value, numbers.Real):
            return isinstance(value, numbers.Integral) and 1 <= int(value) <= (self.most or int(value))
        if self.members and isinstance(value, collections.abc.Collection):
            return all(isinstance(each, self.members) for each in value)
        return isinstance(value, self.types) or (isinstance(value, str) and value in self.values)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of each call, and strings and numbers in lists that are annotated as sequences.

    Generators are checked when they are called, not when they begin to run.
    """
    names = list(inspect.signature(function).parameters)
    kinds: Mapping[str, _Kind] | None = None  # found at the first call, when all names are known

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal kinds
        if kinds is None:
            kinds = _kinds_of(call)
        for name, value in zip(names, args, strict=False):
            if name in kinds and type(value) not in kinds[name].sure:
                _check(name, value, kinds[name])
        for name, value in kwargs.items():
            if name in kinds and type(value) not in kinds[name].sure:
                _check(name, value, kinds[name])
        return function(*args, **kwargs)

    return call


def check_fields(record: Any) -> None:
    """Check the fields of a dataclass, which calls this from `__post_init__`."""
    for name, kind in _kinds_of_fields(type(record)):  # type: ignore[arg-type]
        value = getattr(record, name)
        if type(value) not in kind.sure:
            _check(name, value, kind)


@functools.cache
def _kinds_of_fields(owner: type) -> list[tuple[str, _Kind]]:
    kinds = _kinds_of(owner)
    return [(each.name, kinds[each.name]) for each in dataclasses.fields(owner) if each.name in kinds]


def _check(name: str, value: Any, kind: _Kind) -> None:
    if not kind.has(value):
        shown = " ".join(reprlib.repr(value).split())
        raise ArgumentError(f"{name} must be {kind.words}, got {shown}", _hint(value, kind))


def _hint(value: Any, kind: _Kind) -> str:
    if isinstance(value, bytes) and str in kind.types:
        return "decode it: data.decode()"
    if isinstance(value, list | tuple) and os.PathLike in kind.types:
        return "name one file at a time"
    if collections.abc.Iterable in kind.types and value is not None:
        return "put it into a list"
    return next((_EXAMPLES[each.__name__] for each in kind.types if each.__name__ in _EXAMPLES), "")


@functools.cache
def _kinds_of(owner: Any) -> Mapping[str, _Kind]:
    """What the annotations of a function or a dataclass allow; those that cannot be checked are omitted."""
    space = vars(sys.modules[owner.__module__])
    found = {}
    for name, annotation in inspect.get_annotations(inspect.unwrap(owner)).items():
        kind = _kind(annotation, space) if name != "return" else None
        if kind is not None and name in _COUNTS:
            most = MAX_THREADS if name == "threads" else None
            limits = "at least 1" if most is None else f"at least 1 and at most {most}"
            words = kind.words.replace("a whole number", f"a whole number, {limits},")
            kind = kind._replace(words=words.removesuffix(","), is_count=True, most=most)
        if kind is not None:
            is_loose = kind.members or kind.is_count
            sure = frozenset((*kind.types, *((bool,) if kind.has_bool else ())))
            found[name] = kind._replace(sure=frozenset() if is_loose else sure - {object})
    return found


def _kind(annotation: Any, space: Mapping[str, Any]) -> _Kind | None:
    try:
        members = list(_members(eval(annotation, dict(space)) if isinstance(annotation, str) else annotation))
    except NameError:  # imported for type checkers only
        return None
    allowed: list[type] = []
    values: list[Any] = []
    words: list[str] = []
    inner: type | None = None
    for member in members:
        origin = typing.get_origin(member) or member
        if origin is typing.Literal:
            values += typing.get_args(member)
            words += map(repr, typing.get_args(member))
        elif origin in _KINDS:
            allowed.append(_KINDS[origin][0])  # type: ignore[arg-type]
            words.append(_KINDS[origin][1])
            if origin is collections.abc.Sequence and typing.get_args(member)[0] in _LISTS:
                inner, words[-1] = _LISTS[typing.get_args(member)[0]]
        elif not _tells(origin):
            return None
        elif origin not in (bool, type(None)):
            allowed.append(origin)
            words.append(f"{'an' if origin.__name__[0] in 'AEIO' else 'a'} {origin.__name__}")
        elif origin is bool:
            words.append("True or False")
        else:
            allowed.append(origin)
    known = " or ".join(dict.fromkeys(words)) + (" or None" if type(None) in members else "")
    has_bool = bool in members or object in members
    return _Kind(tuple(allowed), tuple(values), has_bool, known, () if inner is None else (inner,))


def _tells(origin: Any) -> bool:
    """Whether values can be checked against it."""
    is_vague = getattr(origin, "_is_protocol", False) and not getattr(origin, "_is_runtime_protocol", False)
    return isinstance(origin, type) and origin is not Any and not is_vague


def _members(annotation: Any) -> Iterator[Any]:
    is_union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    yield from typing.get_args(annotation) if is_union else (annotation,)

"""The notes of a model file on its origin; like the rest of the file, they are not trusted.

Notes may have any keys; those that Duilian writes and reads have the types below.
"""

from __future__ import annotations

from typing import Any

from duilian.errors import ConfigError

Shape = Any
"""A type; a tuple of alternatives; a list of one shape; a dict of shapes by key, `ANY` for all other keys."""

ANY = "*"
_SCORE = (int, float, type(None))
_CORPORA = {ANY: {"sentences": int, "fingerprint": str}}
_READING = {"format": str, "column": str, "columns": (str, [str]), "cut": str, ANY: object}
_SIDE = {"dev_score": _SCORE, "corpora": _CORPORA, "reading": _READING, ANY: object}
_PART = {"dev_score": _SCORE, ANY: object}
NOTES = _SIDE | {
    "recipe": str,
    "overrides": [str],
    "card": {ANY: (str, [str])},
    "sides": {ANY: _SIDE},
    "parser": _PART | {"file": str, "fingerprint": str},
    "segmenter": _PART,
}


def check_notes(notes: Any) -> None:
    """Raise ConfigError if notes have wrong types."""
    check_shape(notes, NOTES, "notes")


def check_shape(value: Any, shape: Shape, name: str) -> None:
    """Raise ConfigError if a JSON value does not have this shape; messages call it `name`."""
    if isinstance(shape, tuple):
        if not any(_fits(value, each) for each in shape):
            raise ConfigError(f"{name} is {value!r:.50}, which is not a valid value")
    elif isinstance(shape, list):
        _check_type(value, list, name)
        for each in value:
            check_shape(each, shape[0], name)
    elif isinstance(shape, dict):
        _check_type(value, dict, name)
        for key, each in value.items():
            if key not in shape and ANY not in shape:
                raise ConfigError(f"{name} has an unknown key {key!r:.50}")
            check_shape(each, shape.get(key, shape.get(ANY)), f"{name}.{key:.50}")
        if ANY not in shape and (missing := shape.keys() - value.keys()):
            raise ConfigError(f"{name} lacks {min(missing)!r}")
    else:
        _check_type(value, shape, name)


def _fits(value: Any, shape: Shape) -> bool:
    try:
        check_shape(value, shape, "")
    except ConfigError:
        return False
    return True


def _check_type(value: Any, wanted: type, name: str) -> None:
    if wanted is not object and type(value) is not wanted:
        raise ConfigError(f"{name} must be of type {wanted.__name__}, got {value!r:.50}")

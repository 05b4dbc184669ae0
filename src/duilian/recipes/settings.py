"""TOML tables as frozen settings: every key and type is checked, and a mistake names its nearest neighbour.

A settings class is a dataclass; its fields are the keys a table may have, its annotations their types.
"""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from duilian.errors import ConfigError

T = TypeVar("T")

_NAMES = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_MEMBERS = {str: "strings", float: "numbers"}


@dataclasses.dataclass(frozen=True)
class Table:
    """One table of a file, with what messages call it: `recipe.toml: [learn]`."""

    file: str
    name: str
    values: Mapping[str, Any]

    def wrong(self, what: str, hint: str = "") -> ConfigError:
        """An error that says where it is."""
        return ConfigError(f"{self.file}: {self.name} {what}", hint)

    def without(self, *keys: str) -> Table:
        """The same table with fewer keys."""
        kept = {key: value for key, value in self.values.items() if key not in keys}
        return dataclasses.replace(self, values=kept)

    def settings(self, cls: type[T]) -> dict[str, Any]:
        """The values as arguments of a settings class, all checked against its annotations."""
        wanted = typing.get_type_hints(cls)
        fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
        for key, value in self.values.items():
            if key not in fields:
                raise self.wrong(f"has no key {key!r}", nearest(key, fields))
            if not _fits(value, wanted[key]):
                raise self.wrong(f"{key} must be {_spell(wanted[key])}, got {value!r}")
        missing = [name for name, field in fields.items() if name not in self.values and _is_needed(field)]
        if missing:
            raise self.wrong(f"needs the key {missing[0]!r}")
        return dict(self.values)


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for a name that is not known: the most similar one, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(names)}"


def read_toml(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Text and content of a TOML file."""
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {str(error)[:1].lower()}{str(error)[1:]}") from None


def override(content: dict[str, Any], setting: str) -> None:
    """Change one value: `learn.rate=0.1`, `side.dev=a.txt` (if there is one side), `side.2.limit=100`."""
    place, sign, text = setting.partition("=")
    keys = [key.strip() for key in place.split(".")]
    if not sign or len(keys) < 2 or not all(keys):
        raise ConfigError(f"--set {setting}: expected table.key=value", "for instance learn.rate=0.1")
    table: Any = content
    for key in keys[:-1]:
        table = _step(table, key, setting)
    if isinstance(table, list):
        if len(table) != 1:
            raise ConfigError(f"--set {setting}: there are {len(table)}; say which, as in side.1.dev=…")
        (table,) = table
    if not isinstance(table, dict):
        raise ConfigError(f"--set {setting}: {place.rpartition('.')[0]} is not a table")
    table[keys[-1]] = _value(text.strip())


def _step(table: Any, key: str, setting: str) -> Any:
    if isinstance(table, list):
        if not key.isdecimal() or not 1 <= int(key) <= len(table):
            raise ConfigError(f"--set {setting}: {key} must be a number from 1 to {len(table)}")
        return table[int(key) - 1]
    if not isinstance(table, dict):
        raise ConfigError(f"--set {setting}: {key!r} would be inside a value")
    return table.setdefault(key, {})


def _value(text: str) -> Any:
    """A TOML value; what is none is a string, so that names need no quotes on the command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _alternatives(wanted: Any) -> list[Any]:
    if isinstance(wanted, types.UnionType) or typing.get_origin(wanted) is typing.Union:
        return [other for other in typing.get_args(wanted) if other is not type(None)]
    return [wanted]


def _fits(value: Any, wanted: Any) -> bool:
    return any(_fits_one(value, other) for other in _alternatives(wanted))


def _fits_one(value: Any, wanted: Any) -> bool:
    origin = typing.get_origin(wanted)
    if origin is typing.Literal:
        return value in typing.get_args(wanted)
    if origin is list:
        (member,) = typing.get_args(wanted)
        return isinstance(value, list) and bool(value) and all(_fits_one(each, member) for each in value)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))


def _spell(wanted: Any) -> str:
    return " or ".join(map(_spell_one, _alternatives(wanted)))


def _spell_one(wanted: Any) -> str:
    if typing.get_origin(wanted) is typing.Literal:
        return ", ".join(map(repr, typing.get_args(wanted)))
    if typing.get_origin(wanted) is list:
        return f"a list of {_MEMBERS[typing.get_args(wanted)[0]]}"
    return _NAMES[wanted]

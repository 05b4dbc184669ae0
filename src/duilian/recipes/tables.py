"""The tables of a recipe: read from TOML, changed by `--set`, and named in errors."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duilian.errors import ArgumentError, ConfigError, MissingFileError

MAX_SIZE = 2**20  # bytes of a recipe
FORMER_KEYS = {"features": "parts", "pruning": "kind", "start": "kind", "segmenter": "standard"}
"""Groups that were single keys in older recipes, and where their values belong now."""


@dataclasses.dataclass(frozen=True)
class Table:
    """One table of a file, with its name in messages: `recipe.toml: [learning]`.

    All tables of a file share a list of `mistakes`, so that users see all of them at once.
    """

    file: str
    name: str
    values: Mapping[str, Any]
    mistakes: list[ConfigError] = dataclasses.field(default_factory=list)

    def note(self, what: str, hint: str = "") -> None:
        """Add a mistake."""
        self.mistakes.append(self.wrong(what, hint))

    def raise_mistakes(self) -> None:
        """Raise the mistakes so far, if there are any, as one error."""
        if len(self.mistakes) == 1:
            raise self.mistakes[0]
        if self.mistakes:
            start = f"{self.file}: "
            lines = [
                each.message.removeprefix(start) + (f" ({each.hint})" if each.hint else "")
                for each in self.mistakes
            ]
            raise ConfigError("\n  ".join([f"{start}{len(lines)} mistakes", *lines]))

    def table(self, key: str) -> Table:
        """The table of this name inside; empty if it is missing or not a table, which is a mistake."""
        values = self.values.get(key, {})
        if not isinstance(values, dict):
            self.note(f"{key} must be a table: [{key}]")
            values = {}
        return Table(self.file, f"[{key}]", values, self.mistakes)

    def wrong(self, what: str, hint: str = "") -> ConfigError:
        """An error that says where it is."""
        return ConfigError(f"{self.file}: {self.name} {what}", hint)

    def without(self, *keys: str) -> Table:
        """The same table with fewer keys."""
        kept = {key: value for key, value in self.values.items() if key not in keys}
        return dataclasses.replace(self, values=kept)

    def inside(self, group: str) -> Table:
        """The table of a group inside this one."""
        return dataclasses.replace(self, name=f"{self.name[:-1]}.{group}]") if group else self


def read_toml(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Read a TOML file; return its text and content."""
    try:
        with open(path, "rb") as file:
            raw = file.read(MAX_SIZE + 1)
    except FileNotFoundError:
        raise MissingFileError(str(path)) from None
    if len(raw) > MAX_SIZE:
        raise ConfigError(f"{path}: over {MAX_SIZE:,} bytes, too long for a recipe")
    try:
        text = raw.decode("utf-8").replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        message = f"{path}: not valid TOML: {str(error)[:1].lower()}{str(error)[1:]}"
        raise ConfigError(message, "write [[side]] for each corpus" if "'side'" in message else "") from None


def override(content: dict[str, Any], setting: str) -> None:
    """Change one value: `learning.rate=0.1`, `side.dev=a.txt` (if there is one side), `side.2.limit=100`."""
    if not isinstance(setting, str):
        raise ArgumentError(f"overrides must be strings, such as 'learning.rate=0.1', got {setting!r}")
    place, sign, text = setting.partition("=")
    keys = [key.strip() for key in place.split(".")]
    if not sign or len(keys) < 2 or not all(keys):
        raise ConfigError(f"--set {setting}: expected table.key=value", "for instance learning.rate=0.1")
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
    """Parse a TOML value; anything else is a string, so that names need no quotes on the command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text

"""The tables of a recipe: read from TOML, changed by `--set`, and named in errors."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duilian.errors import ConfigError

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
"""Keys of older recipes, and what became of them."""

FORMER_KEYS = {"features": "parts", "pruning": "kind", "start": "kind", "segmenter": "standard"}
"""Groups that were single keys in older recipes: where their values belong now."""


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

    def inside(self, group: str) -> Table:
        """The table of a group inside this one."""
        return dataclasses.replace(self, name=f"{self.name[:-1]}.{group}]") if group else self


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
    """Change one value: `learning.rate=0.1`, `side.dev=a.txt` (if there is one side), `side.2.limit=100`."""
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
    """A TOML value; what is none is a string, so that names need no quotes on the command line."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text

"""The contents of a recipe file as checked settings; all mistakes are noted before any is raised."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from duilian.errors import ConfigError, did_you_mean
from duilian.features.templates import presets
from duilian.recipes.parts import KINDS, Kind, Side
from duilian.recipes.tables import FORMER_KEYS, Table
from duilian.recipes.train_files import TrainFile
from duilian.settings import RENAMED, SettingError, Settings, UnknownSettingError

PARTS = ("model", "side", "saving", "card")
BY_SIDES = ("standard", "standards", "source_standard")

S = TypeVar("S", bound=Settings)


def updated(settings: S, table: Table) -> S:
    """Settings with the values of a table; wrong ones are noted and left out."""
    values = dict(table.values)
    while True:
        try:
            return settings.updated(values)
        except SettingError as error:
            _note(error, table)
            values.pop(error.path[0])
        except ConfigError as error:  # values that conflict, perhaps because some were left out
            if not table.mistakes:
                table.note(error.message, error.hint)
            return settings


def _note(error: SettingError, table: Table) -> None:
    *groups, key = error.path
    place = table.inside(".".join(groups))
    if isinstance(error, UnknownSettingError):
        place.note(f"has no key {key!r}", error.hint)
    else:
        place.note(f"{key} {error.what}", error.hint)


def card_of(table: Table) -> dict[str, str | list[str]]:
    """The author's words about a model: strings and lists of strings by title."""
    for key, value in table.values.items():
        lines = value if isinstance(value, list) else [value]
        if not all(isinstance(line, str) for line in lines):
            table.note(f"{key} must be a string or a list of strings")
    return dict(table.values)


def kind_of(table: Table) -> Kind:
    """The kind of model; without one, nothing else can be checked."""
    name = table.values.get("kind")
    if name is None:
        table.note("needs the key 'kind'", f"choose one of: {', '.join(KINDS)}")
    elif not isinstance(name, str) or name not in KINDS:
        table.note(f"kind {name!r} does not exist", did_you_mean(str(name), KINDS))
    table.raise_mistakes()
    return KINDS[str(name)]


def config_of(top: Table, kind: Kind, sides: tuple[Side, ...]) -> Settings:
    """The settings of the model: the keys of `[model]`, a table for each group, and what the sides say."""
    config = kind.config() if top.mistakes else kind.with_sides(kind.config(), sides)
    groups = _tables(config)
    _check_names(top, kind, groups)
    model = top.table("model").without("kind", *BY_SIDES, *groups)
    changed = {group: _group(settings, top, group) for group, settings in config.groups()}
    return updated(config, dataclasses.replace(model, values={**model.values, **changed}))


def _tables(config: Settings) -> list[str]:
    """The tables of a config: its groups, and groups inside them."""
    return [name for group, own in config.groups() for name in (group, *dict(own.groups()))]


def _group(settings: S, top: Table, name: str) -> S:
    """A group with the values of its table; groups inside it have tables of their own."""
    inner = {each: updated(own, top.table(each)) for each, own in settings.groups()}
    return updated(settings.updated(inner), top.table(name))


def _check_names(top: Table, kind: Kind, groups: Sequence[str]) -> None:
    """Note tables that do not exist, and keys of `[model]` that belong elsewhere."""
    for key in top.values:
        if key not in (*PARTS, *groups):
            known = [f"[{each}]" for each in (*PARTS, *groups)]
            is_elsewhere = any(key in _tables(other.config()) for other in KINDS.values())
            hint = f"a recipe of kind {kind.name!r} has {', '.join(known)}" if is_elsewhere else ""
            hint = RENAMED.get(key) or hint or did_you_mean(key, (*PARTS, *groups))
            top.note(f"has no table [{key}]", hint)
    model = top.table("model")
    for key in model.values:
        if key in groups:
            former = f", such as {FORMER_KEYS[key]}" if key in FORMER_KEYS else ""
            model.note(f"{key} is a table", f"write [{key}] and its keys{former}")
        if key in BY_SIDES:
            model.note(f"has no key {key!r}", "set it in [[side]]")


def with_paths(config: Settings, folder: Path, data: Path) -> Settings:
    """Settings with paths of files: beside the recipe, but word lists and parsers are in the data folder."""
    for group, settings in config.groups():
        trained = settings.get("file")  # of a parser
        if trained is not None:
            home = folder if trained.startswith("./") else data
            config = config.updated({group: {"file": str(home / trained)}})
        templates = settings.get("templates")
        if templates is not None and templates not in presets():
            config = config.updated({group: {"templates": str(folder / templates)}})
        rules = settings.get("rules")
        if isinstance(rules, str):
            config = config.updated({group: {"rules": str(folder / rules)}})
        dictionary = settings.get("dictionary")
        if dictionary is not None and dictionary.file is not None:
            config = config.updated({group: {"dictionary": {"file": str(data / dictionary.file)}}})
        mixing = settings.get("mixing")
        if mixing is not None and mixing.file is not None:
            config = config.updated({group: {"mixing": {"file": str(data / mixing.file)}}})
    mapping = config.get("mapping")
    if isinstance(mapping, str) and mapping.endswith(".txt"):
        config = config.updated({"mapping": str(folder / mapping)})
    start = config.get("start")
    teaching = start.get("self_training") if isinstance(start, Settings) else None
    if teaching is not None and (teaching.mapping or "").endswith(".txt"):
        path = str(folder / teaching.mapping)
        config = config.updated({"start": {"self_training": {"mapping": path}}})
    return config


def sides_of(top: Table, kind: Kind) -> tuple[Side, ...]:
    tables = top.values.get("side", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        top.note("side must be a list of tables: [[side]]")
        return ()
    if len(tables) not in kind.sides:
        least, most = kind.sides[0], kind.sides[-1]
        wanted = str(least) if least == most else f"{least} to {most}"
        top.note(f"has {len(tables)} [[side]]; a model of kind {kind.name!r} needs {wanted}")
    return tuple(_side(Table(top.file, "[[side]]", values, top.mistakes)) for values in tables)


def _side(table: Table) -> Side:
    for key in ("standard", "train"):
        if key not in table.values:
            table.note(f"needs the key {key!r}")
    if isinstance(named := table.values.get("train"), list):
        found = tuple(_train_file(each, table) for each in named)
        table = dataclasses.replace(table, values={**table.values, "train": found})
    return updated(Side(), table)


def _train_file(named: Any, table: Table) -> Any:
    if not isinstance(named, dict):
        return named
    own = dataclasses.replace(table, name=f"{table.name} train", values=named)
    if "file" not in named:
        own.note("needs the key 'file'")
    return updated(TrainFile(), own)

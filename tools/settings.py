"""Writes docs/settings.md: every setting of every kind of model, from the declarations themselves.

    python tools/settings.py > docs/settings.md

A test compares the page with what this prints.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator

from duilian.errors import ConfigError
from duilian.learning import Learning
from duilian.models.registry import KINDS as MODEL_KINDS
from duilian.recipes import KINDS, Saving, Side
from duilian.settings import Settings, spell

HEAD = """# Settings

Made by `python tools/settings.py` from the declarations in the code. A setting is a parameter of the
estimator (`CoupledTagger(pruning=CoupledPruning(max_candidates=4))`, or
`set_params(pruning__max_candidates=4)`) and a key of a recipe: the settings of a kind stand in `[model]`,
each group in a table of its own (`[pruning]`), so that `--set pruning.max_candidates=4` changes
one. *none* is the absence of a value: a recipe leaves the key out. The groups are classes of
`duilian.models`, the learning rules of `duilian.learning`.
"""
BY_SIDES = ("standard", "standards", "source_standard")


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## Every recipe", "", *titled("[[side]]", Side()), *titled("[saving]", Saving())]
    lines += ["## Learning rules", "", "`[learning] algorithm` chooses one; each kind has its usual one.", ""]
    for name, rule in Learning.alternatives().items():
        about = str(rule.__doc__).partition("\n\n")[0]
        lines += [f"### {name}", "", about, "", *rows(rule()), ""]
    for name in MODEL_KINDS:
        lines += section(name, KINDS[name].config())
    return "\n".join(lines).rstrip() + "\n"


def section(name: str, config: Settings) -> Iterator[str]:
    """A kind: its own settings, then its groups."""
    yield from [f"## {name}", "", *rows(config), ""]
    for group, settings in config.groups():
        if isinstance(settings, Learning):
            changed = [
                f"{field.name} {value(getattr(settings, field.name))}"
                for field in dataclasses.fields(settings)
                if getattr(settings, field.name) != field.default
            ]
            usual = next(key for key, rule in Learning.alternatives().items() if rule is type(settings))
            others = [
                f"`{name}`" for name in Learning.alternatives() if name != usual and can_learn(config, name)
            ]
            also = f" It also learns by {', '.join(others)}." if others else ""
            yield from [f"`[{group}]`: `{usual}`{''.join(f', {each}' for each in changed)}.{also}", ""]
        elif not dataclasses.fields(settings):  # it stands for others
            key, names = settings.alternative_key, type(settings).alternatives()
            kinds = ", ".join(f"`{name}`" for name in names)
            about = f"`{key}` is one of {kinds}; the other settings are those of that kind,"
            yield from [f"### `[{group}]`", "", f"{about} each group in a table `[{group}.GROUP]`.", ""]
        else:
            yield from titled(f"[{group}]", settings, f"`{type(settings).__name__}` in Python.")
            for inner, own in settings.groups():
                place = (
                    f"`{type(own).__name__}` in Python, the setting `{inner}` of `{type(settings).__name__}`."
                )
                yield from titled(f"[{inner}]", own, place)


def can_learn(config: Settings, algorithm: str) -> bool:
    """Whether a kind of model learns by a rule."""
    try:
        config.updated({"learning": {"algorithm": algorithm}})
    except ConfigError:
        return False
    return True


def titled(title: str, settings: Settings, about: str = "") -> Iterator[str]:
    """A table under the name that recipes use."""
    yield from [f"### `{title}`", "", *([about, ""] if about else []), *rows(settings), ""]


def rows(settings: Settings) -> Iterator[str]:
    """One row a setting; groups have tables of their own, and sides name the standards."""
    hidden = BY_SIDES if hasattr(settings, "learning") else ()
    yield from ["| setting | | value | default |", "| --- | --- | --- | --- |"]
    for field in dataclasses.fields(settings):
        own = getattr(settings, field.name)
        if not isinstance(own, Settings) and field.name not in hidden:
            kind = spell(settings.type_of(field.name))
            yield f"| `{field.name}` | {field.metadata['help']} | {kind}{limits(field)} | {value(own)} |"


def limits(field: dataclasses.Field[object]) -> str:
    """The range of a number."""
    words = {"at_least": "at least", "above": "greater than", "at_most": "at most"}
    own = {key: field.metadata[key] for key in words if field.metadata[key] is not None}
    found = [f"{words[key]} {limit}" for key, limit in own.items()]
    return "".join(f", {each}" for each in found)


def value(own: object) -> str:
    """A value as a recipe spells it."""
    if own is None:
        return "none"
    if isinstance(own, tuple):
        return f"`[{', '.join(map(repr, own))}]`"
    return f"`{str(own).lower() if isinstance(own, bool) else own}`" if own != "" else "required"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page())

"""Writes a recipe as TOML. Every cell of a study keeps one, so anyone can train the same model by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any


def recipe_text(content: Mapping[str, Any]) -> str:
    """TOML, with tables in the order of the content.

    >>> print(recipe_text({"model": {"kind": "crf"}, "side": [{"train": ["a", "b"], "limit": 5}]}))
    [model]
    kind = "crf"
    <BLANKLINE>
    [[side]]
    train = ["a", "b"]
    limit = 5
    <BLANKLINE>
    """
    return "\n".join(_tables(content)).lstrip("\n") + "\n"


def _tables(content: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            inner = {key: each for key, each in value.items() if isinstance(each, Mapping)}
            yield from _table(f"[{prefix}{name}]", {k: v for k, v in value.items() if k not in inner})
            yield from _tables(inner, f"{prefix}{name}.")
        else:
            for each in value:
                yield from _table(f"[[{prefix}{name}]]", each)


def _table(title: str, values: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n{title}"
    for key, value in values.items():
        yield f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value, ensure_ascii=False)

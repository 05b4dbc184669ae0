"""The tables of docs/standards.md have the numbers of the package."""

from __future__ import annotations

import re
from pathlib import Path

from duilian.standards import Mapping, Standard, standard_names
from duilian.standards.standard import table_names

PAGE = (Path(__file__).parents[2] / "docs" / "standards.md").read_text(encoding="utf-8")


def rows(pattern: str) -> list[tuple[str, ...]]:
    return re.findall(pattern, PAGE, re.MULTILINE)


def test_the_table_of_standards() -> None:
    listed = rows(r"^\| `(\w+)` \| (.+) \| (\d+) \| `(\w+)` \|$")
    assert {name for name, *_ in listed} == set(standard_names())
    for name, title, size, column in listed:
        standard = Standard.load(name)
        assert (title, int(size), column) == (standard.title, len(standard.tags or ()), standard.column)


def test_the_table_of_mappings() -> None:
    listed = rows(r"^\| `(\w+-\w+)` \| (\d+) \| (\d+) \| (\d+) \|$")
    assert {f"{name}.{kind}" for name, *_ in listed for kind in ("tight", "relaxed")} == {
        name for name in table_names() if not name.endswith(".strict")
    }
    for name, tight, relaxed, complete in listed:
        mapping = Mapping.from_table(f"{name}.tight")
        assert mapping.size == int(tight)
        assert Mapping.from_table(f"{name}.relaxed").size == int(relaxed)
        assert Mapping.complete(mapping.tags_a, mapping.tags_b).size == int(complete)

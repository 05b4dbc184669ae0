"""docs/standards.md is true: its examples run, its tables have the numbers of the package."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from duilian.standards import Mapping, Standard, standard_names
from duilian.standards.standard import table_names

PAGE = (Path(__file__).parents[2] / "docs" / "standards.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def rows(pattern: str) -> list[tuple[str, ...]]:
    return re.findall(pattern, PAGE, re.MULTILINE)


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (declaration,), (table,) = blocks("toml"), blocks("text")
    (tmp_path / "house.toml").write_text(declaration, encoding="utf-8")
    (tmp_path / "house-pku.txt").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest("".join(blocks("python")), {}, "standards.md", None, 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.attempted >= 10
    assert result.failed == 0, "".join(said)


def test_the_table_of_standards() -> None:
    listed = rows(r"^\| `(\w+)` \| (.+) \| (\d+) \| `(\w+)` \|$")
    assert {name for name, *_ in listed} == set(standard_names())
    for name, title, size, column in listed:
        standard = Standard.load(name)
        assert (title, int(size), column) == (standard.title, len(standard.tags or ()), standard.column)


def test_the_table_of_mappings() -> None:
    listed = rows(r"^\| `(\w+-\w+)` \| (\d+) \| (\d+) \| (\d+) \|$")
    assert {f"{name}.{kind}" for name, *_ in listed for kind in ("tight", "relaxed")} == set(table_names())
    for name, tight, relaxed, complete in listed:
        mapping = Mapping.from_table(f"{name}.tight")
        assert mapping.size == int(tight)
        assert Mapping.from_table(f"{name}.relaxed").size == int(relaxed)
        assert Mapping.complete(mapping.tags_a, mapping.tags_b).size == int(complete)

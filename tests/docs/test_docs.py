"""The documentation's examples run, and its claims about the repository hold."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGES = sorted([TOP / "README.md", *(TOP / "docs").glob("*.md")])
DOCTESTED = [page for page in PAGES if page.name != "standards.md"]  # it has its own test


@pytest.mark.parametrize("page", DOCTESTED, ids=lambda page: page.name)
def test_examples_give_what_they_say(page: Path) -> None:
    options = doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(page), module_relative=False, optionflags=options).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_map_of_the_house_is_true() -> None:
    text = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {
        path.name
        for path in (TOP / "src" / "duilian").iterdir()
        if path.is_dir() and (path / "__init__.py").exists()
    }
    assert {room for room in rooms if f"`{room}/`" not in text} == set()
    native = {path.name for path in (TOP / "native" / "src").iterdir()}
    assert {room for room in native if f"`{room}/`" not in text} == set()
    for mentioned in re.findall(
        r"`((?:src|native|tests|docs|benchmarks|tools)/[\w./-]*\w(?:\.\w+)?)/?`", text
    ):
        assert (TOP / mentioned).exists(), mentioned

"""The documentation's examples run, and its claims about the repository hold."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
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


def test_the_readme_shows_what_the_demo_prints() -> None:
    command = [sys.executable, "-m", "duilian.cli", "demo"]
    shown = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    readme = [line.rstrip() for line in (TOP / "README.md").read_text(encoding="utf-8").splitlines()]
    assert [line.rstrip() for line in shown.splitlines() if line.rstrip() not in readme] == []


def test_the_readme_shows_what_the_bundled_model_says() -> None:
    text = (TOP / "README.md").read_text(encoding="utf-8")
    found = re.search(
        r"duilian analyze (\S+)\n```\n\nOn a terminal it ends with\n\n```text\n(.*?)```", text, re.DOTALL
    )
    assert found is not None
    command = [sys.executable, "-m", "duilian.cli", "analyze", "--to", "pretty", found[1]]
    shown = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert shown == found[2]

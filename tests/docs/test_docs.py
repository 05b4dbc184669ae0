"""What the documentation says about the repository holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.code_blocks import TOP, pages

LINK = re.compile(r"\]\(([^()\s]+)\)")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(TOP)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        path, _, anchor = target.partition("#")
        if re.match(r"\w+:", target):
            assert re.fullmatch(r"(https://[\w-]+(\.[\w-]+)+(/\S*)?|mailto:\S+@\S+)", target), target
            continue
        found = page.parent / path if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def prose(page: Path) -> str:
    """A page without its code blocks."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^ *(`{3,}).*?^ *\1", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Names of a page's headings in links, as forges and the site make them."""
    headings = re.findall(r"^#+ +(.*?) *$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


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


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(TOP)))
def test_files_that_are_mentioned_exist(page: Path) -> None:
    folders = "src|native|tests|docs|benchmarks|tools|recipes|examples"
    for mentioned in re.findall(rf"`((?:{folders})/[\w./-]*\w(?:\.\w+)?)/?`", prose(page)):
        assert (TOP / mentioned).exists(), mentioned

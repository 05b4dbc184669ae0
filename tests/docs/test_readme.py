"""The README is one page, its picture is fresh, and its figures are those of the pages that explain them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import load_script

TOP = Path(__file__).parents[2]
README, CHINESE = TOP / "README.md", TOP / "README.zh.md"
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def figures(page: Path) -> set[str]:
    """All decimal fractions in the tables of a page."""
    return set(FIGURE.findall("\n".join(re.findall(r"^\|.*", text(page), re.MULTILINE))))


def test_it_is_one_page() -> None:
    assert len(text(README).split()) <= 700
    assert len(text(CHINESE)) <= len(text(README))


@pytest.mark.parametrize("mark", ["run", "test"])
def test_ci_finds_its_commands(mark: str) -> None:
    assert len(re.findall(rf"^<!-- {mark} -->\n```sh\n.+\n```$", text(README), re.MULTILINE)) == 1


def test_its_figures_are_explained() -> None:
    pages = [TOP / "docs" / "model-card.md", *(TOP / "docs" / "results").glob("*.md")]
    known = [found for page in pages for found in FIGURE.findall(text(page))]

    def is_known(figure: str) -> bool:
        places = len(figure.partition(".")[2])
        return any(f"{float(each):.{places}f}" == figure for each in known)

    assert len(figures(README)) > 10
    assert [each for each in figures(README) if not is_known(each)] == []


def test_the_chinese_one_says_the_same() -> None:
    assert figures(CHINESE) == figures(README)
    targets = [
        set(re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text(page)))
        for page in (README, CHINESE)
    ]
    assert {path for pair in targets[1] - targets[0] for path in pair if path and "/zh/" not in path} == {
        "README.md"
    }


def test_its_picture_is_up_to_date() -> None:
    tool = load_script("tools/pictures.py")
    for name, drawing in tool.pictures().items():
        assert text(tool.FOLDER / name) == drawing, "run: python tools/pictures.py"
        assert f"docs/pictures/{name}" in text(README)

"""Pages that are made from the code are what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import load_script

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("tool", "page"), [("settings", "settings.md"), ("abilities", "models.md"), ("tags", "tags.md")]
)
def test_the_page_is_up_to_date(tool: str, page: str) -> None:
    found = load_script(f"tools/{tool}.py")
    text = (TOP / "docs" / page).read_text(encoding="utf-8")
    assert text == found.page(), f"run: python tools/{tool}.py > docs/{page}"

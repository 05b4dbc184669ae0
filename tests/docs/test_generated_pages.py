"""Pages that are made from the code are what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("tool", "page"), [("settings", "settings.md"), ("abilities", "models.md"), ("tags", "tags.md")]
)
def test_the_page_is_up_to_date(tool: str, page: str) -> None:
    spec = importlib.util.spec_from_file_location(f"{tool}_page", TOP / "tools" / f"{tool}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    text = (TOP / "docs" / page).read_text(encoding="utf-8")
    assert text == found.page(), f"run: python tools/{tool}.py > docs/{page}"

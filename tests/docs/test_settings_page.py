"""docs/settings.md is what the declarations say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOP = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("settings_page", TOP / "tools" / "settings.py")
assert SPEC is not None
assert SPEC.loader is not None
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


def test_the_page_is_up_to_date() -> None:
    page = (TOP / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == TOOL.page(), "run: python tools/settings.py > docs/settings.md"

"""Draw the README's sentence, analysed by the bundled model, for light and dark pages.

    python tools/pictures.py

A test compares docs/pictures/ with this output.
"""

from __future__ import annotations

import re
from pathlib import Path

import duilian
from duilian.views import picture

TOP = Path(__file__).parents[1]
FOLDER = TOP / "docs" / "pictures"


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    found = re.search(
        r"duilian analyze (\S+)$", (TOP / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert found is not None
    doc = duilian.load()(found[1])
    return {f"couplet-{theme}.svg": picture([doc], theme) for theme in ("light", "dark")}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, drawing in pictures().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")

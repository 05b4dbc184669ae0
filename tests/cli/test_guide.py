"""The commands of the tutorials print what the pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import duilian

DOCS = Path(__file__).parent.parent.parent / "docs"
MARK = "::: "


def _shown(text: str) -> list[str]:
    """Return lines without what varies between runs or processors: figures and widths."""
    return [
        re.sub(r" +", " ", re.sub(r"[\d,]*\d[\d.]*", "#", line)).rstrip()
        for line in text.rstrip().splitlines()
    ]


def _sizes(text: str) -> list[int]:
    """Return the sizes of model files: processors round differently, but not by much."""
    return [int(size.replace(",", "")) for size in re.findall(r"([\d,]+) bytes", text)]


@pytest.mark.parametrize(
    ("page", "names", "least"),
    [("guide.md", ["pos.toml", "both.toml", "two.toml"], 11), ("first-steps.md", ["small.toml"], 5)],
)
def test_the_commands_print_what_the_page_says(tmp_path, page, names, least):
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"```console\n(.*?)```", text, re.DOTALL))
    recipes = re.findall(r"Save this as `(\S+)`:\n\n```toml\n(.*?)```", text, re.DOTALL)
    assert [name for name, _ in recipes] == names
    for name, text in recipes:
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [line[2:] for line in blocks.splitlines() if line.startswith("$ ")]
    assert len(commands) >= least
    script = [
        f"python() {{ '{sys.executable}' \"$@\"; }}",
        'duilian() { python -m duilian.cli "$@"; }',
        "exec 2>&1",
        *(f"echo '{MARK}'; {command}" for command in commands),
    ]
    source = str(Path(duilian.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
    environment.pop("DUILIAN_DATA", None)
    run = subprocess.run(
        ["bash", "-c", "\n".join(script)], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    printed = run.stdout.decode().split(f"{MARK}\n")[1:]
    expected = re.split(r"^\$ .*\n", blocks, flags=re.MULTILINE)[1:]
    for command, is_so, should_be in zip(commands, printed, expected, strict=True):
        assert _shown(is_so) == _shown(should_be), command
        assert _sizes(is_so) == pytest.approx(_sizes(should_be), rel=0.01), command

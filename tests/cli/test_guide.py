"""The tutorial: its commands run and print what it says, and its table has every key of a recipe."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import duilian
from duilian.recipes import KINDS, Learn, Save, Side

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "guide.md").read_text(encoding="utf-8")
MARK = "::: "


def _shown(text: str) -> list[str]:
    """Lines without what differs from run to run or from processor to processor: figures, widths."""
    return [
        re.sub(r" +", " ", re.sub(r"[\d,]*\d[\d.]*", "#", line)).rstrip()
        for line in text.rstrip().splitlines()
    ]


def test_the_commands_print_what_the_guide_says(tmp_path):
    blocks = "".join(re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL))
    recipes = re.findall(r"Save this as `(\S+)`:\n\n```toml\n(.*?)```", GUIDE, re.DOTALL)
    assert [name for name, _ in recipes] == ["pos.toml", "both.toml", "two.toml"]
    for name, text in recipes:
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [line[2:] for line in blocks.splitlines() if line.startswith("$ ")]
    assert len(commands) > 10
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


def test_the_table_has_every_key():
    table = GUIDE[GUIDE.index("## All keys") :]
    for settings in (*(kind.settings for kind in KINDS.values()), Side, Learn, Save):
        for field in dataclasses.fields(settings):
            assert f"`{field.name}`" in table, field.name

"""docs/commands.md matches the program, and help texts wrap at any width."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path

import pytest

from cli.running import run_here
from scripts import load_script

TOP = Path(__file__).parents[2]
TOOL = load_script("tools/commands.py")


def test_the_page_is_up_to_date() -> None:
    page = (TOP / "docs" / "commands.md").read_text(encoding="utf-8")
    assert page == TOOL.page(), "run: python tools/commands.py > docs/commands.md"


def test_every_parameter_has_a_help_text_and_every_command_an_example() -> None:
    found = list(TOOL.commands(TOOL.make_app(), "duilian"))
    assert len(found) > 10
    for command in found:
        assert command.function.__doc__, command.name
        assert command.name in command.epilog + command.function.__doc__, command.name
        for parameter in TOOL.parameters(command.function):
            assert parameter.info.help, (command.name, parameter.name)


@pytest.mark.parametrize("width", [80, 120])
def test_help_wraps_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in TOOL.commands(TOOL.make_app(), "duilian"):
        status, out, _ = run_here(monkeypatch, *command.name.split()[1:], "--help")
        assert status == 0
        shown = [line.strip() for line in out.partition("╭")[0].splitlines()]
        for paragraph in inspect.cleandoc(command.function.__doc__ or "").split("\n\n"):
            words = " ".join(paragraph.split())
            first = next(k for k, line in enumerate(shown) if line and words.startswith(line))
            lines = shown[first : shown.index("", first)]
            assert " ".join(lines) == words
            for line, after in itertools.pairwise(lines):
                assert len(f"{line} {after.split()[0]}") > width - 4, (command.name, line)

"""docs/commands.md is what the program says of itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOP = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("commands", TOP / "tools" / "commands.py")
assert SPEC is not None
assert SPEC.loader is not None
TOOL = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TOOL)


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

"""Writes docs/commands.md: every command with its arguments and options, from the program itself.

    python tools/commands.py > docs/commands.md

A test compares the page with what this prints. It looks at the functions behind the commands, so that it says
the same with every version of typer.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from duilian.cli import make_app

HEAD = """# Commands

Made by `python tools/commands.py` from the program; `duilian COMMAND --help` says the same. Every command
reads files or standard input and writes standard output or `-o`. Exit status: 0 done, 1 something that you
can mend (one sentence on standard error), 2 wrong usage, 130 stopped by Ctrl-C, 141 nobody reads the output
any more (`| head`).
"""
TYPES = {int: "N", float: "X"}


class Command(NamedTuple):
    """A command with its full name."""

    name: str
    function: Callable[..., object]
    epilog: str


class Parameter(NamedTuple):
    """An argument or option of a command."""

    name: str
    type: Any
    info: ParameterInfo
    default: object  # inspect.Parameter.empty: required

    @property
    def is_required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def is_list(self) -> bool:
        return any(get_origin(each) is list for each in (self.type, *get_args(self.type)))

    @property
    def label(self) -> str:
        """How usage calls an argument, or the options with what they take."""
        if isinstance(self.info, ArgumentInfo):
            name = self.info.metavar or self.name.upper()
            return f"{name}..." if self.is_list and not name.endswith("...") else name
        # typer.Option("--output", "-o") inside Annotated keeps the first name where a default would be.
        first = [self.info.default] if isinstance(self.info.default, str) else []
        names = ", ".join([*first, *(self.info.param_decls or ())] or [f"--{self.name.replace('_', '-')}"])
        if bool in (self.type, *get_args(self.type)):
            return names
        plain = [each for each in (self.type, *get_args(self.type)) if each in TYPES]
        return f"{names} {self.info.metavar or (TYPES[plain[0]] if plain else 'TEXT')}"


def commands(group: typer.Typer, name: str) -> Iterator[Command]:
    """Every command of a group and of the groups in it."""
    for each in group.registered_commands:
        assert each.callback is not None
        yield Command(f"{name} {each.name or each.callback.__name__}", each.callback, each.epilog or "")
    for part in group.registered_groups:
        assert part.typer_instance is not None
        yield from commands(part.typer_instance, f"{name} {part.name}")


def parameters(function: Callable[..., object]) -> list[Parameter]:
    """What a command takes, in the order of its help text."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        type_, *extras = get_args(hints[name])
        info = next(each for each in extras if isinstance(each, ParameterInfo))
        found.append(Parameter(name, type_, info, parameter.default))
    return sorted(found, key=lambda each: isinstance(each.info, OptionInfo))


def page() -> str:
    """The whole page."""
    app = make_app()
    found = sorted(commands(app, "duilian"))
    lines = [HEAD, "| command | |", "| --- | --- |"]
    lines += [
        f"| [`{each.name}`](#{each.name.replace(' ', '-')}) | {first_sentence(each)} |" for each in found
    ]
    root = app.registered_callback
    assert root is not None
    assert root.callback is not None
    lines += ["", "Options that stand before any command:", "", *table(parameters(root.callback))]
    for each in found:
        lines += ["", *section(each)]
    return "\n".join(lines) + "\n"


def section(command: Command) -> Iterator[str]:
    """One command: usage, what it does, its parameters, an example."""
    taken = parameters(command.function)
    arguments = [each for each in taken if isinstance(each.info, ArgumentInfo)]
    usage = [each.label if each.is_required or "[" in each.label else f"[{each.label}]" for each in arguments]
    yield from [f"## {command.name}", "", "```text", " ".join([command.name, "[OPTIONS]", *usage]), "```", ""]
    about, _, example = inspect.cleandoc(command.function.__doc__ or "").partition("\n\nExample: ")
    yield from [about, "", *table(taken)]
    examples = [line.strip() for line in (example or command.epilog).splitlines()]
    yield from ["", "```sh", *[line for line in examples if line and line != "Example:"], "```"]


def table(taken: list[Parameter]) -> Iterator[str]:
    """Arguments and options in rows."""
    if taken:
        yield from ["| | | default |", "| --- | --- | --- |"]
    for each in taken:
        yield f"| `{cell(each.label)}` | {cell(each.info.help or '')} | {default(each)} |"


def default(each: Parameter) -> str:
    """The value of what is not given, if it says something."""
    if each.is_required:
        return "required"
    return "" if each.default in (None, False, "") else f"`{each.default}`"


def first_sentence(command: Command) -> str:
    """What the command does, in one line."""
    return cell(inspect.cleandoc(command.function.__doc__ or "").split("\n\n")[0])


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page())

"""Code blocks of a page: found, run in order in one folder, or at least checked against the program.

A page is README*.md or a page below docs/. docs/project/writing.md has the rules for writers.
"""

from __future__ import annotations

import ast
import atexit
import doctest
import functools
import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer

import duilian
from duilian.cli import make_app

TOP = Path(__file__).parents[2]
FENCE = re.compile(r"^ *(`{3,})([^`\s]*)[^`]*$")
NO_RUN = re.compile(
    r"<!-- (?:no-run: .+|run|test) -->"
)  # run, test: commands of the README that .ci/run runs
NEEDS = re.compile(r"<!-- needs: (\w+(?:, \w+)*) -->")  # packages that the tests do without
FILE = re.compile(r"<!-- file: (\S+) -->|(?:Save this as|保存为) ?`([^`]+)`[:：]$")
MARK = "::: "
SERVER = Path(__file__).with_name("command_server.py")
RUNS = ("python", "sh", "console")


class Block(NamedTuple):
    """A fenced block, the line of its fence and the last line before it."""

    line: int
    language: str
    text: str
    before: str

    @property
    def is_run(self) -> bool:
        return self.language in RUNS and not NO_RUN.fullmatch(self.before) and not self.missing

    @property
    def missing(self) -> list[str]:
        """Packages that it needs and that are not installed."""
        found = NEEDS.fullmatch(self.before)
        names = found[1].split(", ") if found else []
        return [name for name in names if importlib.util.find_spec(name) is None]

    @property
    def file(self) -> str | None:
        found = FILE.search(self.before)
        return (found[1] or found[2]) if found and self.language not in RUNS else None

    @property
    def commands(self) -> list[str]:
        """Commands of a shell block, each with its continued lines."""
        text = re.sub(r"\\\n(?:> )?", "", self.text)
        lines = [line.strip() for line in text.splitlines()]
        if self.language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        return [line for line in lines if line and not line.startswith("#")]


def pages() -> list[Path]:
    """README in all languages and everything below docs/."""
    return sorted([*TOP.glob("README*.md"), *(TOP / "docs").rglob("*.md")])


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page in their order."""
    lines, before, k = page.splitlines(), "", 0
    while k < len(lines):
        if found := FENCE.match(lines[k]):
            fence, language = found.groups()
            end = next(n for n in range(k + 1, len(lines)) if lines[n].strip() == fence)
            text = textwrap.dedent("\n".join(lines[k + 1 : end]) + "\n")
            yield Block(k + 1, language, text, before)
            k = end
        before = lines[k].strip() or before
        k += 1


def run(page: Path, folder: Path) -> None:
    """Run the blocks of a page; AssertionError says which one is wrong."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        run_block(block, f"{page.relative_to(TOP)}:{block.line}", folder, names)


def run_block(block: Block, place: str, folder: Path, names: dict[str, object]) -> None:
    """Write a block to its file, run it, or check the names in it."""
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    elif not block.is_run:
        check(block, place)
    elif block.language == "python":
        run_python(block, place, names)
    else:
        run_shell(block, place, folder)


def run_python(block: Block, place: str, names: dict[str, object]) -> None:
    """Examples with `>>>` print what the page shows; other code runs."""
    if ">>>" not in block.text:
        exec(compile(block.text, place, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, {}, place, place, block.line)
    test.globs = names
    said: list[str] = []
    options = doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=options).run(test, out=said.append, clear_globs=False)
    assert result.failed == 0, "".join(said)


def run_shell(block: Block, place: str, folder: Path) -> None:
    """Commands of `sh` succeed; those of `console` print what the block says."""
    is_console = block.language == "console"
    script = [
        f"python() {{ '{sys.executable}' \"$@\"; }}",
        f"duilian() {{ python -S -I '{SERVER}' '{server()}' \"$@\"; }}",
        *(["exec 2>&1"] if is_console else ["set -eo pipefail"]),
        *(f"echo '{MARK}'; {command}" for command in block.commands),
    ]
    run = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if not is_console:
        assert run.returncode == 0, f"{place}: {run.stderr}"
        return
    text = re.sub(r"\\\n(?:> )?", "", block.text)
    printed = run.stdout.split(f"{MARK}\n")[1:]
    expected = re.split(r"^\$ .*\n", text, flags=re.MULTILINE)[1:]
    for command, is_so, should_be in zip(block.commands, printed, expected, strict=True):
        assert shown(is_so) == shown(should_be), f"{place}: {command}\n{is_so}"
        for found, said in zip(sizes(is_so), sizes(should_be), strict=True):
            assert abs(found - said) <= 0.01 * said, f"{place}: {command}\n{is_so}"


def environment() -> dict[str, str]:
    """The variables for commands: this checkout, and a terminal of fixed width."""
    own = {
        "PYTHONPATH": str(Path(duilian.__file__).parents[1]),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
    }
    return {**{key: value for key, value in os.environ.items() if key != "DUILIAN_DATA"}, **own}


@functools.cache
def server() -> str:
    """The socket of a server for `duilian` commands, which ends with this process."""
    path = str(Path(tempfile.mkdtemp()) / "commands")
    running = subprocess.Popen([sys.executable, SERVER, path], stdout=subprocess.PIPE, env=environment())
    atexit.register(running.kill)
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    return path


def shown(text: str) -> list[str]:
    """Lines without what varies between runs or processors: figures and widths."""
    return [
        re.sub(r" +", " ", re.sub(r"[\d,]*\d[\d.]*", "#", line)).rstrip()
        for line in text.rstrip().splitlines()
    ]


def sizes(text: str) -> list[int]:
    """Sizes of model files: processors round differently, but not by much."""
    return [int(size.replace(",", "")) for size in re.findall(r"([\d,]+) bytes", text)]


def check(block: Block, place: str) -> None:
    """A block that is not run names only things that exist."""
    if block.language == "python" and not block.missing:
        check_python(block.text, place)
    elif block.language in RUNS:
        for command in block.commands:
            check_command(command, place)


def check_python(text: str, place: str) -> None:
    """It parses, and every name of ours in it exists."""
    for node in ast.walk(ast.parse(re.sub(r"^(?:>>>|\.\.\.) ?", "", text, flags=re.MULTILINE), place)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "duilian":
            found, names = importlib.import_module(str(node.module)), [each.name for each in node.names]
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("dl", "duilian"):
            found, names = duilian, [node.attr]
        else:
            continue
        for name in names:
            assert hasattr(found, name), f"{place}: {found.__name__} has no {name}"


def inline_commands(page: str) -> list[str]:
    """Commands in the running text."""
    prose = re.sub(r"^ *(`{3,}).*?^ *\1", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`(duilian [^`]+)`", prose)


def check_command(line: str, place: str) -> None:
    """Every `duilian` command of a line exists and has these options."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = list(lexer)
    for k, word in enumerate(words):
        if Path(word).name == "duilian" and (k == 0 or not words[k - 1].strip("|;&()")):
            end = (n for n in range(k, len(words)) if not words[n].strip("|;&<>()…"))
            check_options(words[k + 1 : next(end, len(words))], f"{place}: {line}")


@functools.cache
def program() -> Any:
    return typer.main.get_command(make_app())


def check_options(words: list[str], place: str) -> None:
    command = program()
    for word in words:
        commands = getattr(command, "commands", None)
        if word.startswith("-") and word != "-":
            known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
            known |= {"--help", "--install-completion", "--show-completion"}
            assert word.partition("=")[0] in known, f"{place}: no option {word}"
        elif commands is not None and not word.isupper():
            assert word in commands, f"{place}: no command {word}"
            command = commands[word]

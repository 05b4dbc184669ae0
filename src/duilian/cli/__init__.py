"""The `duilian` command: options in, exit status out; the library does the work.

Exit status: 0 success, 1 an error that the user can fix (one sentence on standard error), 2 wrong usage,
130 interrupted by Ctrl-C, 141 output closed by its reader, as in `| head`. A bug keeps its traceback;
`--debug` shows the traceback of every error.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Annotated

import typer

from duilian.cli.option_groups import with_options_of_groups
from duilian.cli.outputs import keeping_inputs
from duilian.errors import DuilianError

INTERRUPTED, BROKEN_PIPE = 130, 141  # 128 + signal number
COMPLETION = "_DUILIAN_COMPLETE"  # set by a shell that asks how to complete a line
COMMANDS = (
    "corpus",
    "analyze",
    "demo",
    "train",
    "tag",
    "segment",
    "parse",
    "convert",
    "evaluate",
    "compare",
    "report",
    "experiment",
    "serve",
    "explain",
    "inspect",
    "select",
    "run",
)


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Build the program with these commands, each a module of this package."""
    app = typer.Typer(
        name="duilian",
        help="Chinese segmentation, tagging and parsing, in several annotation standards.",
        no_args_is_help=True,
        add_completion=len(names) == len(COMMANDS) or COMPLETION in os.environ,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        module = importlib.import_module(f"duilian.cli.{name}")
        if name == "corpus":
            app.add_typer(module.app, name=name)
        else:
            command = with_options_of_groups(module.command)
            command = command if name == "train" else keeping_inputs(command)
            app.command(name, help=_help_text(module.command), epilog=module.EXAMPLE)(command)
    app.callback()(_global_options)
    return app


def _help_text(command: Callable[..., None]) -> str:
    """Return the docstring with each paragraph on one line, so that terminals of any width wrap it."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", cleandoc(command.__doc__ or ""))


def _show_version(wanted: bool) -> None:
    if wanted:
        from duilian.version import __version__  # slow: it looks up the installed package

        typer.echo(f"duilian {__version__}")
        raise typer.Exit


def _global_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Declare the options that precede any command; `main` handles them."""


def main() -> int:
    """Run this process's command line and return its exit status."""
    _open_closed_streams()
    _stop_when_terminated()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a C locale could not print Chinese
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    arguments = sys.argv[1:]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    show_traceback = "--debug" in options
    arguments = [word for word in options if word != "--debug"] + arguments[len(options) :]
    logger = logging.getLogger("duilian")
    logger.handlers = [each for each in logger.handlers if not isinstance(each, _Warnings)] + [_Warnings()]
    names = _needed_commands(_words_to_complete() or arguments)
    return exit_status(lambda: make_app(names)(arguments, prog_name="duilian"), show_traceback=show_traceback)


def _needed_commands(arguments: Sequence[str]) -> Sequence[str]:
    """Return only the requested command, because importing one starts faster; all if it is unclear."""
    if arguments[:1] == ["--version"]:
        return COMMANDS[-1:]  # any will do: the option ends the program before a command runs
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def _words_to_complete() -> list[str]:
    """Return the finished words of the line that a shell wants to complete, if any."""
    if COMPLETION not in os.environ:
        return []
    if "COMP_WORDS" in os.environ:  # bash
        words = os.environ["COMP_WORDS"].split()
        return words[1 : int(os.environ.get("COMP_CWORD", len(words)))]
    return os.environ.get("_TYPER_COMPLETE_ARGS", "").split(" ")[1:-1]  # zsh, fish, PowerShell


class _Warnings(logging.Handler):
    """Prints the warnings of the library, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message not in self._said:
            self._said.add(message)
            print(f"duilian: {record.levelname.lower()}: {message}", file=sys.stderr)


def _open_closed_streams() -> None:
    """Make closed input empty, and writing to closed output an error."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            access = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8"))


def _stop_when_terminated() -> None:
    """Let SIGTERM, as `timeout` and batch systems send it, keep what is finished, as Ctrl-C does."""
    own = os.getpid()

    def stop(*_: object) -> None:
        if os.getpid() == own:
            raise KeyboardInterrupt
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a child that was forked has nothing to keep
        os.kill(os.getpid(), signal.SIGTERM)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def exit_status(command: Callable[[], object], *, show_traceback: bool = False) -> int:
    """Run a command and return its exit status; print one sentence to standard error if it fails."""
    try:
        command()
        sys.stdout.flush()
    except SystemExit as end:  # typer ends this way: 0, 2 for wrong usage, 130 for Ctrl-C
        if isinstance(end.__context__, BrokenPipeError):
            return _quiet_pipe()
        if isinstance(stop := getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            return _interrupted(stop)
        return _flush_output(end.code if isinstance(end.code, int) else int(end.code is not None))
    except KeyboardInterrupt as stop:
        return _interrupted(stop)
    except BrokenPipeError:
        return _quiet_pipe()
    except (DuilianError, OSError) as error:
        if show_traceback:
            raise
        print(f"duilian: {_error_sentence(error)}", file=sys.stderr)
        return _flush_output(1)
    return 0


def _interrupted(stop: KeyboardInterrupt) -> int:
    """Say that the run was stopped, and what it has finished: see `open_writer`."""
    print("; ".join(["duilian: stopped", *getattr(stop, "__notes__", ())]), file=sys.stderr)
    return INTERRUPTED


def _flush_output(status: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet_pipe()
    except OSError as error:
        if not status:
            print(f"duilian: {_error_sentence(error)}", file=sys.stderr)
        _discard_output()
        return 1
    return status


def _quiet_pipe() -> int:
    _discard_output()
    return BROKEN_PIPE


def _discard_output() -> None:
    # Keeps the interpreter from complaining when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _error_sentence(error: DuilianError | OSError) -> str:
    if isinstance(error, DuilianError):
        return str(error)
    reason = (error.strerror or str(error)).lower()
    folders = "\n  hint: name its files; `duilian run` analyses whole folders"
    hint = folders if isinstance(error, IsADirectoryError) else ""
    return f"{error.filename or '<stdout>'}: {reason}{hint}"

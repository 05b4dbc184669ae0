"""The command `duilian`: options in, exit status out; the work is done in the library.

Exit status: 0 done, 1 something the user can mend (one sentence on standard error), 2 wrong usage,
130 stopped by Ctrl-C, 141 nobody reads the output any more, as in `| head` (what a shell says of any
program). A bug keeps its traceback; `--debug` shows one for everything.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from duilian import __version__
from duilian.errors import DuilianError

STOPPED, NO_READER = 130, 141  # 128 and the number of the signal
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
    "explain",
    "inspect",
    "select",
)


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands; a module of this package each."""
    app = typer.Typer(
        name="duilian",
        help="One Chinese analyser learned from corpora that disagree.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in names:
        module = importlib.import_module(f"duilian.cli.{name}")
        if name == "corpus":
            app.add_typer(module.app, name=name)
        else:
            app.command(name, epilog=module.EXAMPLE)(module.command)
    app.callback()(_global_options)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"duilian {__version__}")
        raise typer.Exit


def _global_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that stand before any command; `main` has dealt with them."""


def main() -> int:
    """Run the command line of this process and return its exit status."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # corpora are not written in the alphabet of a C locale
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    arguments = sys.argv[1:]
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    show_traceback = "--debug" in options
    arguments = [word for word in options if word != "--debug"] + arguments[len(options) :]
    logging.getLogger("duilian").addHandler(
        logging.StreamHandler() if show_traceback else logging.NullHandler()
    )
    # Only the command that is asked for is imported, and its usual answer comes that much sooner.
    names = arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS
    return run(lambda: make_app(names)(arguments, prog_name="duilian"), show_traceback=show_traceback)


def _open_closed_streams() -> None:
    """Input that is closed is empty; output that is closed is an error as soon as there is some."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            way = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            setattr(sys, name, os.fdopen(os.open(os.devnull, way), mode, encoding="utf-8"))


def run(command: Callable[[], object], *, show_traceback: bool = False) -> int:
    """The exit status of a command, with a sentence on standard error if it went wrong."""
    try:
        command()
        sys.stdout.flush()
    except SystemExit as end:  # how typer ends: 0, 2 for wrong usage, 130 for Ctrl-C
        if isinstance(end.__context__, BrokenPipeError):
            return _quiet_pipe()
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            return _stopped()
        return _flushed(end.code if isinstance(end.code, int) else int(end.code is not None))
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        return _quiet_pipe()
    except (DuilianError, OSError) as error:
        if show_traceback:
            raise
        print(f"duilian: {_sentence(error)}", file=sys.stderr)
        return _flushed(1)
    return 0


def _stopped() -> int:
    print("duilian: stopped", file=sys.stderr)
    return STOPPED


def _flushed(status: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet_pipe()
    except OSError as error:
        if not status:
            print(f"duilian: {_sentence(error)}", file=sys.stderr)
        _drop_output()
        return 1
    return status


def _quiet_pipe() -> int:
    _drop_output()
    return NO_READER


def _drop_output() -> None:
    # The interpreter must not complain when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _sentence(error: DuilianError | OSError) -> str:
    if isinstance(error, DuilianError):
        return str(error)
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename or '<stdout>'}: {reason}"

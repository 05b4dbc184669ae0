"""Run the command line in this process."""

from __future__ import annotations

import io
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from duilian import cli, demo

DEMO = Path(demo.__file__).parent
Call = Callable[..., tuple[int, str, str]]


def run_here(monkeypatch: pytest.MonkeyPatch, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Return exit status, standard output and standard error of `duilian ARGUMENTS`; no tracebacks."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["duilian", *arguments])
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        status = cli.main()
    for stream in streams.values():
        stream.flush()
    out, err = (streams[name].buffer.getvalue().decode() for name in ("stdout", "stderr"))
    assert "Traceback" not in out + err
    return status, out, err


def in_demo_folder(
    monkeypatch: pytest.MonkeyPatch, folder: Path, models: Path, recipes: dict[str, str]
) -> Call:
    """Return a function that runs commands in a folder with the demo corpora, recipes and models."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    for path in [*DEMO.glob("*.txt"), *models.iterdir()]:
        shutil.copy(path, folder)
    for name, text in recipes.items():
        (folder / name).write_text(text, encoding="utf-8")
    return lambda *arguments, stdin=b"": run_here(monkeypatch, *arguments, stdin=stdin)


def accept_control_c() -> None:
    """For `preexec_fn`: background jobs of a shell ignore Ctrl-C, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

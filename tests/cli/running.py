"""The command line in this process: what it prints, and how it ends."""

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
    """Exit status, standard output and standard error of `duilian ARGUMENTS`; never a traceback."""
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
    """Commands run in a folder with the demonstration corpora, these recipes and the models."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    for path in [*DEMO.glob("*.txt"), *models.iterdir()]:
        shutil.copy(path, folder)
    for name, text in recipes.items():
        (folder / name).write_text(text, encoding="utf-8")
    return lambda *arguments, stdin=b"": run_here(monkeypatch, *arguments, stdin=stdin)


def hear_control_c() -> None:
    """For `preexec_fn`: a job in the background of a shell ignores Ctrl-C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

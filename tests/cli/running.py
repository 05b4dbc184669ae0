"""The command line in this process: what it prints, and how it ends."""

from __future__ import annotations

import io
import sys

import pytest

from duilian import cli


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

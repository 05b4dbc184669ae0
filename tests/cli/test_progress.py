"""The progress counter, shown only on a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from duilian.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_watched_passes_by_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_STEP", 1)
    monkeypatch.setenv("TERM", "xterm")
    items = ["a", "bcd", "ef"]
    for total, stream in ((6, Terminal()), (None, Terminal()), (6, io.StringIO())):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress.watch(items, "texts", total=total, size=len)) == items
        assert ("3 texts" in stream.getvalue()) == stream.isatty()
        assert ("100 %" in stream.getvalue()) == (stream.isatty() and total is not None)

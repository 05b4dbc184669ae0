"""A file is complete or does not exist, and the next run removes the leftovers of killed runs."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from duilian import atomic_files
from duilian.atomic_files import replacing
from duilian.corpus.output_files import open_writer
from duilian.modelfile import read_model, write_model

WRITER = """
import sys, time
from duilian.atomic_files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def _start(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def _write_and_raise(error: BaseException, path: Path, part: Path | None = None) -> None:
    with replacing(path, part=part) as file:
        file.write(b"new")
        raise error


def test_what_a_killed_run_has_left_is_removed_and_a_living_one_is_not_disturbed(tmp_path: Path) -> None:
    killed, living = _start(tmp_path / "a"), _start(tmp_path / "b")
    try:
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 2
        with replacing(tmp_path / "c") as file:
            file.write(b"whole")
        assert (tmp_path / "c").read_bytes() == b"whole"
        assert len(list(tmp_path.glob(".duilian-*.tmp"))) == 1  # that of the living one
        assert not (tmp_path / "a").exists()
    finally:
        for process in (killed, living):
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    with pytest.raises(RuntimeError):
        _write_and_raise(RuntimeError(), tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_stopped_run_keeps_a_part_if_told(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _write_and_raise(KeyboardInterrupt(), tmp_path / "a", part=tmp_path / "a.part")
    assert (tmp_path / "a.part").read_bytes() == b"new"
    assert not (tmp_path / "a").exists()


def test_a_file_that_another_process_has_cleared_away_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = iter(("cleared", "taken"))

    def lock(file: BinaryIO) -> bool:
        what = next(locks, "free")
        if what != "free":
            Path(file.name).unlink()
        return what != "taken"

    monkeypatch.setattr(atomic_files, "lock_file", lock)
    with replacing(tmp_path / "a") as file:
        file.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_full_disk_is_said_of_the_file_that_is_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        _write_and_raise(OSError(errno.ENOSPC, "No space left on device"), tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "none" / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "none" / "a")


POINTS = ("before fsync", "after fsync", "before replace", "after replace")


def _killed_at(point: str, write: Callable[[], None]) -> int:
    """Write in a child process that is killed at a point of writing; return how it ended."""
    when, name = point.split()
    child = os.fork()
    if child == 0:
        real = getattr(os, name)

        def hooked(*arguments: Any) -> None:
            if when == "after":
                real(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)

        try:
            setattr(os, name, hooked)
            write()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads, in newer Pythons
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_leaves_the_old_file_or_the_new(tmp_path: Path, point: str) -> None:
    model, text = tmp_path / "a.model", tmp_path / "a.txt"

    def write(value: int) -> None:
        write_model(model, {"value": value}, {"x": np.full(1000, value)})

    def write_text(value: int) -> None:
        with open_writer(text) as put:
            put(f"{value}\n")

    write(0)
    write_text(0)
    new = int(point == "after replace")
    assert os.WTERMSIG(_killed_at(point, lambda: write(1))) == signal.SIGKILL
    header, arrays = read_model(model)
    assert header["value"] == new
    assert (arrays["x"] == new).all()
    assert os.WTERMSIG(_killed_at(point, lambda: write_text(1))) == signal.SIGKILL
    assert text.read_text() == f"{new}\n"
    write(2)
    assert read_model(model)[0]["value"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.model", "a.txt"]

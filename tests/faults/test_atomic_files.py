"""A file is complete or not there, and what killed runs leave is removed by the next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from duilian.atomic_files import replacing

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

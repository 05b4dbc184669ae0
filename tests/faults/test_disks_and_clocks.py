"""Disks that are full, broken or read-only, quotas, too little memory, clocks that jump: nothing is lost."""

from __future__ import annotations

import datetime
import errno
import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kills import OLD, Job, in_child, prepare

JOBS = ["crf-word-sgd", "convert", "analyze"]
NOBODY = 65534

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with all that jobs need, which anybody can read."""
    found = Path(tempfile.mkdtemp())
    found.chmod(0o755)
    prepare(found)
    yield found
    shutil.rmtree(found)


@pytest.fixture(scope="module")
def wanted(folder: Path) -> dict[str, bytes]:
    """What the jobs write undisturbed."""
    return {name: _written(Job(name, folder)) for name in JOBS}


def _written(job: Job) -> bytes:
    assert in_child(job)[0] == 0
    found = job.output.read_bytes()
    _clear(job)
    return found


def _clear(job: Job) -> None:
    for path in job.folder.glob(f"{job.output.name}*"):
        path.unlink()


def _fails_and_changes_nothing(job: Job, prelude: Any) -> None:
    before = {path.name for path in job.folder.iterdir()} | {job.output.name}
    job.output.write_bytes(OLD)

    def work() -> None:
        prelude()
        job()

    assert in_child(work)[0] == 1  # an error, not a signal
    assert job.output.read_bytes() == OLD
    left = {path.name for path in job.folder.iterdir()} - before
    assert not {name for name in left if not name.startswith(job.output.name)}
    _clear(job)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_file_that_may_not_grow(folder: Path, wanted: dict[str, bytes], name: str, share: float) -> None:
    size = int(share * len(wanted[name]))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    _fails_and_changes_nothing(Job(name, folder), limit)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses(folder: Path, wanted: dict[str, bytes], name: str, call: str, code: int) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    _fails_and_changes_nothing(Job(name, folder), lambda: setattr(os, call, refuse))


@pytest.mark.parametrize("name", JOBS)
def test_a_folder_that_is_read_only(folder: Path, wanted: dict[str, bytes], name: str) -> None:
    folder.chmod(0o555)
    try:
        _fails_and_changes_nothing(Job(name, folder), lambda: os.geteuid() or os.setuid(NOBODY))
    finally:
        folder.chmod(0o755)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux says how large a process is")
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("room", [0, 1 << 20, 8 << 20, 64 << 20])
def test_memory_that_runs_out(folder: Path, wanted: dict[str, bytes], name: str, room: int) -> None:
    job = Job(name, folder)
    job.output.write_bytes(OLD)

    def work() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + room
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        job()

    status = in_child(work)[0]
    assert status in (0, 1)  # no signal
    assert job.output.read_bytes() == (wanted[name] if status == 0 else OLD)
    _clear(job)


@pytest.mark.parametrize("name", JOBS)
def test_a_clock_that_jumps(folder: Path, wanted: dict[str, bytes], name: str) -> None:
    jumps = iter(range(10**9, 0, -86_400))  # a day backwards at each look, from 2001

    class Jumping(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Jumping:
            return cls.fromtimestamp(next(jumps), tz)

    def jump() -> None:
        time.time = lambda: float(next(jumps))
        time.time_ns = lambda: next(jumps) * 10**9
        datetime.datetime = Jumping  # type: ignore[misc]

    job = Job(name, folder)
    for path in folder.iterdir():
        os.utime(path, (4e9, 4e9))  # and files from the year 2096

    def work() -> None:
        jump()
        job()

    assert in_child(work)[0] == 0
    assert job.output.read_bytes() == wanted[name]
    _clear(job)

"""A model is written completely or not at all, whatever goes wrong in between."""

from __future__ import annotations

import errno
import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from duilian import atomic_files
from duilian.errors import ModelFileError
from duilian.modelfile import (
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_EXPANSION,
    MAX_HEADER,
    MAX_VALUES,
    read_model,
    write_model,
)

Arrays = dict[str, npt.NDArray[Any]]

ARRAYS: Arrays = {"a": np.arange(40.0), "b": np.arange(7), "c": np.array([True, False])}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(tmp_path / "m", {"old": True}, ARRAYS)
    return tmp_path / "m"


def assert_untouched(model: Path) -> None:
    header, arrays = read_model(model)
    assert header == {"old": True}
    assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def deep(levels: int) -> list[Any]:
    return [deep(levels - 1)] if levels else []


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"a": object()}, {}),
        ({"a": np.int64(1)}, {}),
        ({"a": float("nan")}, {}),
        ({"a": {1: "changed to '1'"}}, {}),
        ({"a": "\ud800"}, {}),
        ({"a": deep(MAX_DEPTH)}, {}),
        ({"a": "x" * MAX_HEADER}, {}),
        ({"a": [0] * MAX_VALUES}, {}),
        ({}, {"x": np.array(["text"])}),
        ({}, {"x": np.array([object()])}),
        ({}, {"x": np.zeros(2, "f4,i4")}),
        ({}, {"x": np.zeros(2, complex)}),
        ({}, {"x": np.zeros(2, "M8[s]")}),
        ({}, {"x": np.zeros((1,) * 5)}),
        ({}, {1: np.zeros(1)}),
    ],
)
def test_what_a_model_cannot_hold(model: Path, header: dict[str, Any], arrays: Arrays) -> None:
    with pytest.raises((TypeError, ValueError)):
        write_model(model, header, arrays)
    assert_untouched(model)


def test_the_limits_are_those_of_the_documentation() -> None:
    rows = (Path(__file__).parents[2] / "docs/modelfile.md").read_text(encoding="utf-8").splitlines()
    for row in (
        f"| header | {MAX_HEADER >> 20} MB, {MAX_VALUES:,} values, nested {MAX_DEPTH} deep |",
        f"| dimensions of an array | {MAX_DIMENSIONS} |",
        f"| bytes of an array for each byte of its code | {MAX_EXPANSION} |",
    ):
        assert row in rows


def test_a_model_holds_what_the_limits_say(tmp_path: Path) -> None:
    around = len('{"arrays":{},"header":{"a":""}}')
    deepest = deep(MAX_DEPTH - 2)  # in a list, in the header, in the document
    fullest = [0] * (MAX_VALUES - 4)  # the document has 3 braces, a bracket and a comma
    for most in (deepest, "x" * (MAX_HEADER - around), fullest):
        write_model(tmp_path / "m", {"a": most}, {})
        assert read_model(tmp_path / "m")[0] == {"a": most}
    for more in (deep(MAX_DEPTH - 1), "x" * (MAX_HEADER - around + 1), [*fullest, 0]):
        with pytest.raises(ValueError, match="at most"):
            write_model(tmp_path / "m", {"a": more}, {})


def test_the_name_of_an_array_is_a_string(model: Path) -> None:
    with pytest.raises(TypeError, match="the name of an array must be a string, got 1"):
        write_model(model, {}, {1: np.zeros(1)})  # type: ignore[dict-item]


def test_nothing_but_a_regular_file_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in tmp_path, tmp_path / "pipe":
        with pytest.raises(ModelFileError, match="regular"):
            write_model(path, {}, {})
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


class FailingFile:
    """A file whose n-th write fails."""

    def __init__(self, file: Any, error: BaseException, left: int) -> None:
        self.file, self.error, self.left = file, error, left

    def write(self, piece: Any) -> int:
        self.left -= 1
        if self.left < 0:
            self.file.write(bytes(piece)[: len(piece) // 2])
            raise self.error
        return int(self.file.write(piece))

    def __enter__(self) -> FailingFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


ERRORS = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]


@pytest.mark.parametrize("error", ERRORS, ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("writes", range(9))
def test_a_write_that_fails(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, writes: int
) -> None:
    def failing_open(path: Path, mode: str) -> FailingFile:
        return FailingFile(open(path, mode), error, writes)

    with monkeypatch.context() as patch:
        patch.setattr(atomic_files, "open", failing_open, raising=False)
        with pytest.raises(type(error)):
            write_model(model, {"new": True}, ARRAYS)
    assert_untouched(model)


@pytest.mark.parametrize("error", ERRORS, ids=["full disk", "Ctrl-C"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_last_step_that_fails(
    model: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, step: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(type(error)):
            write_model(model, {"new": True}, ARRAYS)
    assert_untouched(model)


def test_synced_before_renamed_and_the_folder_after(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
        fsync(descriptor)

    def watched_replace(source: Path, target: Path) -> None:
        assert Path(source).parent == model.parent
        read_model(source)  # complete already
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write_model(model, {}, ARRAYS)
    assert steps == ["sync file", "rename", "sync folder"]


def test_permissions_and_links_stay(model: Path) -> None:
    plain_file = model.with_name("plain")
    plain_file.touch()
    assert model.stat().st_mode == plain_file.stat().st_mode
    model.chmod(0o600)
    link = model.with_name("link")
    link.symlink_to(model.name)
    write_model(link, {"new": True}, {})
    assert link.is_symlink()
    assert read_model(model)[0] == {"new": True}
    assert stat.S_IMODE(model.stat().st_mode) == 0o600


WRITER = """
import sys
import numpy as np
from duilian.modelfile import write_model
i = 0
while True:
    write_model(sys.argv[1], {"i": i}, {"w": np.full(200_000, i, np.int64)})
    if not i:
        print("ready", flush=True)
    i += 1
"""


def kill_a_writer(path: Path, seconds: float) -> None:
    """Some time after it has started writing in a loop."""
    source = str(Path(atomic_files.__file__).parent.parent)
    command = [sys.executable, "-c", WRITER, str(path)]
    environment = {**os.environ, "PYTHONPATH": source}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(seconds)
        writer.kill()


def test_a_writer_killed_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(20):
        kill_a_writer(tmp_path / "m", chance.uniform(0, 0.03))
        header, arrays = read_model(tmp_path / "m")
        assert np.array_equal(arrays["w"], np.full(200_000, header["i"]))

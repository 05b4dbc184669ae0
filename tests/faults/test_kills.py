"""A killed run loses nothing: the short form of fuzz/kills.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kills import Attack, Job, prepare

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that jobs need."""
    found = tmp_path_factory.mktemp("kills")
    prepare(found)
    return found


@pytest.mark.parametrize("name", ["crf-word-sgd", "convert", "analyze"])
def test_a_kill_leaves_the_old_file_or_the_new_one(folder: Path, name: str) -> None:
    attack = Attack(Job(name, folder))
    points = range(attack.points)
    for at in sorted({*points[:2], *points[-4:]}):
        attack.kill(at=at, has_old=at % 2 == 0)
    attack.kill(after=attack.seconds / 2, has_old=True)
    assert attack.problems == []
    assert attack.kills >= 4


def test_a_half_written_file_would_be_seen(folder: Path) -> None:
    class Careless(Job):
        def __call__(self) -> None:
            with self.output.open("wb") as file:
                file.write(b"half")
                file.flush()
                os.fsync(file.fileno())
                file.write(b" and half")

    attack = Attack(Careless("careless", folder))
    attack.kill(at=0, has_old=True)
    assert attack.problems == ["careless: killed at point 0: the output is neither the old nor the new file"]

"""A killed run loses nothing: the short form of fuzz/kills.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kills import Attack, Job, in_child, prepare

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all that jobs need."""
    found = tmp_path_factory.mktemp("kills")
    prepare(found)
    return found


@pytest.mark.parametrize("name", ["crf-word-sgd", "convert", "analyze"])
def test_a_kill_leaves_the_old_file_or_the_new_one(folder: Path, name: str) -> None:
    attack = Attack(Job(name, folder))
    points = range(attack.points)
    for at in sorted({*points[:4], *points[-4:]}):
        attack.kill(at=at, has_old=at % 2 == 0)
    attack.kill(after=attack.seconds / 2, has_old=True)
    assert attack.problems == []
    assert attack.kills >= 4


def test_a_lost_file_would_be_seen(folder: Path) -> None:
    class Careless(Job):
        def __call__(self) -> None:
            self.output.write_bytes(b"half")
            in_child(lambda: None)
            (folder / "stray").touch()
            import os

            os.fsync(0)
            self.output.write_bytes(b"whole")

    attack = Attack(Careless("careless", folder))
    attack.kill(at=0, has_old=True)
    assert "neither the old nor the new" in attack.problems[0]

"""Kill -9 at random moments, and before and after every fsync, rename and removal of a file.

    TMPDIR=/dev/shm python fuzz/kills.py --random 300 --seed 1

Every kind of training, `convert`, `analyze -o` and a study. After a kill the output is what it was before, or
complete; the same command again, resumed where it can be, gives the very bytes of an undisturbed run, and
nothing else is left. A folder in memory, as above, saves the time of a thousand fsyncs: killed processes
lose nothing that they have written, synced or not.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import duilian as dl
from duilian.cli import main as command
from duilian.recipes import Recipe, Run, train
from hostile_models import ALL, lay_out_all

COMMANDS = {
    "convert": ["convert", "converter.model", "pku.txt", "--from", "pku", "--to", "ctb"],
    "analyze": ["analyze", "raw.txt", "-m", "analyzer.model", "--to", "slash"],
}
OLD = b"what was there before"
POINTS = ("fsync", "replace", "unlink")  # functions of os
Work = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Job:
    """A piece of work with one output, in a folder with all that it needs."""

    name: str
    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / f"{self.name}.out"

    def __call__(self) -> None:
        os.chdir(self.folder)
        if self.name in COMMANDS:
            sys.argv = ["duilian", *COMMANDS[self.name], "-o", self.output.name]
            assert command() == 0
            return
        run = Run(output=self.output, force=True)
        recipe = Recipe.load(self.folder / f"{self.name}.toml", self.folder)
        train(recipe, dataclasses.replace(run, resume=run.is_begun))

    def read(self) -> bytes | None:
        """The output; None if there is none."""
        return self.output.read_bytes() if self.output.exists() else None


class StudyJob(Job):
    """An experiment, whose output is a folder; it begins without one."""

    def __call__(self) -> None:
        dl.experiment("demo", self.output, quick=True)

    def read(self) -> bytes | None:
        """The tables, and all that they were made from but times."""
        if not (self.output / "results.csv").exists():
            return None
        files = sorted([self.output / "results.csv", *self.output.glob("cells/*/*.answer.jsonl")])
        return b"".join(path.name.encode() + path.read_bytes() for path in files)


STUDY = "experiment"


@contextlib.contextmanager
def killing(at: int) -> Iterator[collections.Counter[str]]:
    """Count the points passed, before and after each; end the process at one of them (never at -1)."""
    passed: collections.Counter[str] = collections.Counter()

    def step(name: str) -> None:
        if passed.total() == at:
            os.kill(os.getpid(), signal.SIGKILL)
        passed[name] += 1

    def watched(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            step(name)
            found = real(*arguments, **options)
            step(name)
            return found

        return call

    kept = {name: getattr(os, name) for name in POINTS}
    for name, real in kept.items():
        setattr(os, name, watched(name, real))
    try:
        yield passed
    finally:
        for name, real in kept.items():
            setattr(os, name, real)


def in_child(work: Work, *, kill_at: int = -1, kill_after: float | None = None) -> tuple[int, int]:
    """Run in a process of its own: its status (negative: the signal that ended it), and the points passed."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with (
                killing(kill_at) as passed,
                contextlib.redirect_stdout(None),
                contextlib.suppress(SystemExit),
            ):
                work()
            os.write(theirs, str(passed.total()).encode())
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(theirs)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)  # it is ours until we have waited for it
    _, status = os.waitpid(child, 0)
    with os.fdopen(ours, "rb") as pipe:
        count = pipe.read()
    return os.waitstatus_to_exitcode(status), int(count or 0)


class Attack:
    """Kills of one job against what it gives undisturbed."""

    def __init__(self, job: Job) -> None:
        self.job = job
        began = time.monotonic()
        status, self.points = in_child(job)
        self.seconds = time.monotonic() - began
        assert status == 0, f"{job.name} does not even run undisturbed"
        self.wanted = job.read()
        self.files = self._files()
        self._clear()
        self.kills, self.problems = 0, list[str]()

    def _files(self) -> set[str]:
        return {str(path) for path in self.job.folder.rglob("*")}

    def _clear(self) -> None:
        for path in self.job.folder.glob(f"{self.job.output.name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def kill(self, *, has_old: bool, at: int = -1, after: float | None = None) -> None:
        """Kill once, look, and run again to the end."""
        where = (
            f"{self.job.name}: killed at point {at}" if after is None else f"{self.job.name}: {after:.3f} s"
        )
        has_old = has_old and not isinstance(self.job, StudyJob)
        if has_old:
            self.job.output.write_bytes(OLD)
        before = OLD if has_old else None
        status, _ = in_child(self.job, kill_at=at, kill_after=after)
        self.kills += status == -signal.SIGKILL
        if self.job.read() not in (before, self.wanted):
            self.problems.append(f"{where}: the output is neither the old nor the new file")
        if status not in (0, -signal.SIGKILL):
            self.problems.append(f"{where}: status {status}")
        status, _ = in_child(self.job)
        if status != 0 or self.job.read() != self.wanted:
            self.problems.append(f"{where}: the second run, status {status}, gives another file")
        if left := self._files() - self.files:
            self.problems.append(f"{where}: {sorted(left)} is left")
        self._clear()

    def at_points(self) -> None:
        """Kill before and after each of the points."""
        for at in range(self.points):
            self.kill(at=at, has_old=at % 2 == 0)

    def at_random(self, times: int, rng: random.Random) -> None:
        """Kill at moments of an undisturbed run."""
        for k in range(times):
            self.kill(after=rng.uniform(0, self.seconds), has_old=k % 2 == 0)


def prepare(folder: Path) -> None:
    """All that jobs need: recipes, corpora, small models, raw text."""
    lay_out_all(folder)
    for name, recipe in ALL.items():
        (folder / f"{name}.toml").write_text(recipe, encoding="utf-8")
    for name, kind in (("converter", "coupled-word-online"), ("analyzer", "crf-char")):
        train(Recipe.load(folder / f"{kind}.toml", folder), Run(output=folder / f"{name}.model"))
    (folder / "raw.txt").write_text("我们明天去北京。\n" * 200, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*ALL, *COMMANDS, STUDY]
    parser.add_argument("--random", type=int, default=300, help="Kills at random moments, in all.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=names, help="Names of small models, or jobs.")
    options = parser.parse_args()
    kills, problems = collections.Counter[str](), list[str]()
    folder = Path(tempfile.mkdtemp())
    try:
        prepare(folder)
        for name in options.only:
            attack = Attack((StudyJob if name == STUDY else Job)(name, folder))
            attack.at_points()
            kills["at points"] += attack.kills
            before = attack.kills
            attack.at_random(-(-options.random // len(options.only)), random.Random(f"{options.seed} {name}"))
            kills["at random"] += attack.kills - before
            problems += attack.problems
            print(
                f"{name}: {attack.kills} kills, {len(attack.problems)} problems",
                *attack.problems,
                sep="\n  ",
                flush=True,
            )
    finally:
        shutil.rmtree(folder)
    print(dict(kills), f"{len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()

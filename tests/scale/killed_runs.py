"""Kill `duilian run` at random moments and let it go on: `python tests/scale/killed_runs.py 50 FOLDER`."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mixed_documents import documents

COMMAND = (sys.executable, "-m", "duilian", "run")
OPTIONS = ("--standard", "pku", "--no-trees", "--to", "jsonl")


def write_input(folder: Path, parts: int, lines: int) -> None:
    """Parts of text, a document a line."""
    folder.mkdir(parents=True)
    for part in range(parts):
        texts = (" ".join((text or "").split("\n")) for text in documents(lines, seed=part))
        (folder / f"{part:03}.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")


def start(source: Path, output: Path) -> subprocess.Popen[bytes]:
    """Begin a run, or go on with it."""
    command = [*COMMAND, str(source), str(output), *OPTIONS]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def hash_of(output: Path) -> str:
    """The names and bytes of all parts."""
    found = hashlib.sha256()
    for path in sorted(output.rglob("*.jsonl")):
        if path.name[0] not in "_.":
            found.update(str(path.relative_to(output)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def kill_and_resume(source: Path, output: Path, kills: int, longest: float) -> int:
    """Kill a run this many times, each after at most `longest` seconds; return how often it still ran."""
    draw, hits = random.Random(kills), 0
    for _ in range(kills):
        process = start(source, output)
        time.sleep(draw.uniform(0.3, 1) * longest)
        hits += process.poll() is None
        process.kill()
        process.communicate()
    return hits


def finish(source: Path, output: Path) -> None:
    """Let a run come to its end."""
    process = start(source, output)
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()


def main() -> None:
    kills = int(sys.argv[1])
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as name:
        folder = Path(name)
        write_input(folder / "in", parts=60, lines=1000)
        began = time.monotonic()
        finish(folder / "in", folder / "whole")
        longest = (time.monotonic() - began) / 4
        hits = kill_and_resume(folder / "in", folder / "killed", kills, longest)
        finish(folder / "in", folder / "killed")
        is_same = hash_of(folder / "whole") == hash_of(folder / "killed")
        print(
            f"{hits} of {kills} kills hit a running process; same output hash: {'yes' if is_same else 'NO'}"
        )
        sys.exit(not is_same)


if __name__ == "__main__":
    main()

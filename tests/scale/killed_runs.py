"""Kill `duilian run` at random moments and resume it: `python tests/scale/killed_runs.py 50 [SEED]`."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mixed_documents import documents

from duilian.scale.manifest import MANIFEST

COMMAND = (sys.executable, "-m", "duilian", "run")
OPTIONS = ("--standard", "pku", "--no-trees", "--to", "jsonl")


def write_input(folder: Path, parts: int, lines: int) -> None:
    """Parts of text, a document a line."""
    folder.mkdir(parents=True)
    for part in range(parts):
        texts = (" ".join((text or "").split("\n")) for text in documents(lines, seed=part))
        (folder / f"{part:03}.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")


def start(source: Path, output: Path) -> subprocess.Popen[bytes]:
    """Begin a run, or resume it."""
    command = [*COMMAND, str(source), str(output), *OPTIONS]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def hash_of(output: Path) -> str:
    """The names and bytes of all parts."""
    found = hashlib.sha256()
    for path in sorted(output.rglob("*.jsonl")):
        if path.name[0] not in "_.":
            found.update(str(path.relative_to(output)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def kill_and_resume(source: Path, output: Path, kills: int, seed: int = 0) -> int:
    """Kill a run this many times, each at a random moment of its first three parts; return how often it still
    ran. The next one goes on."""
    draw, hits = random.Random(seed), 0
    for _ in range(kills):
        target = _finished(output) + draw.randint(1, 2)
        process = start(source, output)
        while process.poll() is None and _finished(output) < target:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.03))
        hits += process.poll() is None
        process.kill()
        process.communicate()
    return hits


def _finished(output: Path) -> int:
    """How many lines the manifest has."""
    manifest = output / MANIFEST
    return manifest.read_bytes().count(b"\n") if manifest.exists() else 0


def finish(source: Path, output: Path) -> None:
    """Finish a run."""
    process = start(source, output)
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()


def main() -> None:
    kills, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_input(folder / "in", parts=4 * kills, lines=50)
        finish(folder / "in", folder / "whole")
        hits = kill_and_resume(folder / "in", folder / "killed", kills, seed)
        left = 4 * kills + 1 - _finished(folder / "killed")
        finish(folder / "in", folder / "killed")
        is_same = hash_of(folder / "whole") == hash_of(folder / "killed")
        said = "the same output hash" if is_same else "ANOTHER OUTPUT HASH"
        print(f"{hits} of {kills} kills hit a running process, {left} parts were left: {said}")
        sys.exit(not is_same)


if __name__ == "__main__":
    main()

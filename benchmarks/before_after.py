"""CPU time of two versions of the package, taking turns: nothing should get slower by more than 3 %.

    python benchmarks/before_after.py --data DIR \\
        --before PYTHON --before-tree DIR --after PYTHON --after-tree DIR

PYTHON is the interpreter of a virtual environment with that version installed, DIR its checkout (for recipes
and the bundled model). Every run is a process of its own, one thread; the order is before, after, after,
before and so on. Jobs that train or tag words need the corpora of --data. Comparing a version with itself
shows the noise of the machine: on a busy one, CPU times of a job differ by 20 %, and 3 % cannot be detected.

--instructions counts instructions instead (with valgrind), on fewer lines: exact to 1 % even on a busy
machine. It does not see cache misses, so CPU time on a quiet machine has the last word.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure import facts

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

LIMIT = 1.03
LONGEST = 200  # characters of a line: a longer one is not a sentence to parse
CALLS = 3000
FEW = 100  # lines, to count instructions
COUNTER = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
NOTHING: Mapping[str, str] = {}

# Scripts say themselves how much CPU time they took: all but the start. They get the texts as a file.
START = """
import os, time, duilian
lines = open("lines.txt", encoding="utf-8").read().split("\\n")
zh = duilian.load()
def spent(work, times=1):
    if "DUILIAN_IDLE" in os.environ:
        return
    work()
    start = time.process_time()
    for _ in range(times):
        work()
    print(time.process_time() - start)
"""
CALL = (
    START
    + f"""
texts = ([line[:20] for line in lines if len(line) >= 20] * 2)[:{CALLS}]
spent(lambda: [zh(text) for text in texts])
"""
)
PIPE = START + "spent(lambda: sum(1 for doc in zh.pipe(lines)))"
TAGS = START + "tags = duilian.Analyzer(zh.model)\nspent(lambda: sum(1 for doc in tags.pipe(lines)))"
SEGMENT = START + "spent(lambda: sum(map(len, zh.segment(lines))), 20)"
FAST = SEGMENT.replace("zh.segment(lines)", "zh.segment(lines, fast=True)")
NBEST = START + "spent(lambda: [zh.nbest(line, 5) for line in lines[:300]])"
LOAD = """
import time, duilian
duilian.load()
start = time.process_time()
for _ in range(3):
    duilian.load()
print((time.process_time() - start) / 3)
"""


@dataclasses.dataclass(frozen=True)
class Job:
    """A command line of `duilian`, or a script; `after` is the command for the newer version, if it differs.

    In a command {tree} is the checkout, {model} its bundled model, {word} a tagger of words, {m} what stands
    before a model, {data} the corpora, {fresh} an empty folder, and {side} 0 for before, 1 for after.
    """

    before: str
    after: str = ""
    is_script: bool = False
    quick: str = ""  # what --quick adds to the command
    tiny: str = ""  # what --instructions adds to it
    is_counted: bool = True  # whether --instructions has this job
    scale: float = 1.0  # from seconds to the unit
    unit: str = "s"

    @property
    def needs_data(self) -> bool:
        """Whether the job needs corpora."""
        return "{data}" in self.before or "{word}" in self.before

    def line(self, side: int) -> str:
        """The command for this side."""
        return self.after if side and self.after else self.before


JOBS = {
    "import": Job("import duilian", is_script=True, scale=1000, unit="ms"),
    "load": Job(LOAD, is_script=True, scale=1000, unit="ms"),
    "zh(text)": Job(CALL, is_script=True, scale=1e6 / CALLS, unit="µs/call"),
    "zh.pipe": Job(PIPE, is_script=True),
    "zh.pipe, no trees": Job(TAGS, is_script=True),
    "zh.segment, fast": Job(SEGMENT, FAST, is_script=True),
    "zh.nbest": Job(NBEST, is_script=True),
    "analyze --to conllu": Job("analyze lines.txt --to conllu -o out"),
    "analyze --to json": Job("analyze lines.txt --to json -o out"),
    "words, fast": Job("analyze many.txt --to words -o out", "segment --fast many.txt -o out"),
    "tag, text": Job("tag {m} {model} lines.txt --standard pku -o out"),
    "tag, words": Job("tag {m} {word} words.txt -o out"),
    "segment": Job("segment {m} {model} lines.txt --standard pku -o out"),
    "parse": Job("parse {model} ud.conllu -o out"),
    "convert": Job("convert {model} pku.jsonl --from pku --to ud -o out"),
    "select": Job("select {word} words.txt -o out"),
    "train zx-pos": Job(
        "train {tree}/recipes/zx-pos.toml --data {data} -o {fresh}/out.model",
        tiny="--set learning.iterations=1 --set side.limit=500",
    ),
    "train zx-pd": Job(
        "train {tree}/recipes/zx-pd.toml --data {data} -o {fresh}/out.model",
        quick="--set learning.iterations=1 --set start.baseline_iterations=2 --set side.2.limit=6000",
        is_counted=False,  # the dev sets alone would take ten minutes
    ),
    "train udc-parser2": Job(
        "train {tree}/recipes/udc-parser2.toml --data {data} -o {fresh}/out.model",
        quick="--set learning.iterations=1 --set side.limit=1000",
        tiny="--set learning.iterations=1 --set side.limit=50",
    ),
}
WORD_MODEL = Job(
    "train {tree}/recipes/zx-pos.toml --data {data} -o word{side}.model --set learning.iterations=3"
)
OLD_KEYS = {"learning.iterations": "learn.iterations", "start.baseline_iterations": "model.plain_iterations"}
"""Keys of recipes as versions without a table [learning] spell them."""
MADE = {
    "words.txt": "analyze many.txt --standard ud --to words -o words.txt",
    "ud.conllu": "tag {m} {model} lines.txt --standard ud --to conllu -o ud.conllu",
    "pku.jsonl": "tag {m} {model} lines.txt --standard pku --to jsonl -o pku.jsonl",
}
"""Files that the version before makes, for both to read."""


class Bench:
    """A folder to work in, and the two versions: interpreters and checkouts."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self._folder, self._size = folder, "full"
        self._pythons = [options.before, options.after]
        self._trees = [options.before_tree.resolve(), options.after_tree.resolve()]
        self._data = None if options.data is None else options.data.resolve()
        self._write_lines(FEW if options.instructions else None)
        for command in MADE.values():
            self.seconds(0, Job(command))
        if self._data is not None:
            for side in (0, 1):
                self.seconds(side, WORD_MODEL)
        self._size = "tiny" if options.instructions else "quick" if options.quick else "full"
        self.measure = self.instructions if options.instructions else self.seconds

    def _write_lines(self, count: int | None) -> None:
        from golden.lines import lines

        short = [f"{line[:LONGEST]}\n" for line in lines()[:count]]
        for name, rows in (("lines.txt", short), ("many.txt", short * 5)):
            (self._folder / name).write_text("".join(rows), encoding="utf-8", newline="")

    def seconds(self, side: int, job: Job) -> float:
        """CPU time of one run."""
        said, _, used = self._run(side, job)
        return float(said.split()[-1]) if said and job.is_script else used

    def instructions(self, side: int, job: Job) -> float:
        """Instructions of one run, in millions; of a script those that it does not need to start."""
        found = self._count(side, job, {})
        is_partly_counted = job.is_script and "spent(" in job.line(side)
        return found - (self._count(side, job, {"DUILIAN_IDLE": "1"}) if is_partly_counted else 0.0)

    def _count(self, side: int, job: Job, environment: dict[str, str]) -> float:
        _, told, _ = self._run(side, job, COUNTER, {"PYTHONHASHSEED": "0"} | environment)
        found = re.search(r"I\s+refs:\s+([\d,]+)", told)
        if found is None:
            sys.exit(f"valgrind did not count:\n{told}")
        return int(found[1].replace(",", "")) / 1e6

    def _run(
        self, side: int, job: Job, counter: tuple[str, ...] = (), environment: Mapping[str, str] = NOTHING
    ) -> tuple[str, str, float]:
        """What a run prints on its two streams, and its CPU time."""
        with contextlib.ExitStack() as stack:
            # A folder of its own, because training keeps a cache beside the model that it writes.
            fresh = stack.enter_context(tempfile.TemporaryDirectory(dir=self._folder))
            out, err = (stack.enter_context(tempfile.TemporaryFile(dir=self._folder)) for _ in range(2))
            command = [*counter, self._pythons[side], *self._arguments(side, job, fresh)]
            surroundings = os.environ | environment
            started = subprocess.Popen(command, cwd=self._folder, env=surroundings, stdout=out, stderr=err)
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
            said, told = (stream.seek(0) or stream.read().decode() for stream in (out, err))
        if started.returncode:
            sys.exit(f"{' '.join(command)}\n{told}")
        return said, told, used.ru_utime + used.ru_stime

    def _arguments(self, side: int, job: Job, fresh: str) -> list[str]:
        if job.is_script:
            return ["-c", job.line(side)]
        tree = self._trees[side]
        is_older = (tree / "src/duilian/engine/streams.py").exists()  # models are positional
        known = {
            "tree": tree,
            "m": "" if is_older else "-m",
            "model": tree / "src/duilian/bundled/zh.model",
            "word": f"word{side}.model",
        }
        known |= {"data": self._data, "side": side, "fresh": fresh}
        more = {"full": "", "quick": job.quick, "tiny": job.tiny}[self._size]
        words = [each for word in f"{job.line(side)} {more}".split() if (each := word.format(**known))]
        if "[learning]" not in (tree / "recipes/zx-pos.toml").read_text(encoding="utf-8"):
            words = [_with_old_key(word) for word in words]
        return ["-m", "duilian.cli", *words]


def _with_old_key(word: str) -> str:
    key, sign, value = word.partition("=")
    return OLD_KEYS.get(key, key) + sign + value


def can_run(job: Job, options: argparse.Namespace) -> bool:
    """Whether a job can run: it has its corpora, and is not too long for counting instructions."""
    return (options.data is not None or not job.needs_data) and (job.is_counted or not options.instructions)


def orders(repeats: int) -> Iterator[int]:
    """Whose turn it is: 0 1, 1 0, 0 1 and so on."""
    return itertools.islice(itertools.cycle((0, 1, 1, 0)), 2 * repeats)


def row(name: str, job: Job, times: list[list[float]], is_counted: bool) -> list[str]:
    """A row of the table: medians, and both ratios with what they say."""
    scale, unit = (1.0, "M instr.") if is_counted else (job.scale, job.unit)
    medians = [statistics.median(each) * scale for each in times]
    ratio, of_minima = medians[1] / medians[0], min(times[1]) / min(times[0])
    verdict = {2: "slower", 1: "slower?"}.get((ratio > LIMIT) + (of_minima > LIMIT), "")
    spread = max((max(each) - min(each)) / statistics.median(each) for each in times)
    shown = [f"{median:,.3g}" if median < 100 else f"{median:,.0f}" for median in medians]
    return [name, unit, *shown, f"{ratio:.3f}", f"{of_minima:.3f}", f"{100 * spread:.1f} %", verdict]


def asked() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).parent.parent
    parser.add_argument("--before", required=True, metavar="PYTHON")
    parser.add_argument("--after", required=True, metavar="PYTHON")
    parser.add_argument("--before-tree", type=Path, default=here, metavar="DIR")
    parser.add_argument("--after-tree", type=Path, default=here, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="zx, udc and pd")
    parser.add_argument("--repeats", type=int, help="7, or 1 with --instructions")
    parser.add_argument("--only", default="", metavar="NAME", help="jobs with that in their names")
    parser.add_argument("--quick", action="store_true", help="train with fewer iterations and sentences")
    parser.add_argument("--instructions", action="store_true", help="count instructions; needs valgrind")
    return parser.parse_args()


def main() -> None:
    """Run all jobs that can be run and print the table; exit status 1 if anything is slower."""
    options = asked()
    title = "instructions" if options.instructions else "CPU time"
    table = Table(title=f"{title}, before and after", title_justify="left", caption=facts())
    for title in ("job", "unit", "before", "after", "medians", "minima", "spread", ""):
        table.add_column(title, justify="left" if title in ("job", "unit", "") else "right")
    repeats = options.repeats or (1 if options.instructions else 7)
    is_slower = False
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options)
        for name, job in JOBS.items():
            if options.only not in name or not can_run(job, options):
                continue
            times: list[list[float]] = [[], []]
            for side in orders(repeats):
                times[side].append(bench.measure(side, job))
            cells = row(name, job, times, options.instructions)
            print(*cells, sep="\t", file=sys.stderr, flush=True)
            table.add_row(*cells)
            is_slower |= cells[-1] == "slower"
    Console(width=110).print(table)
    sys.exit(is_slower)


if __name__ == "__main__":
    main()

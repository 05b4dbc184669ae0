"""CPU time of two versions of the package, in turns: nothing should get slower by more than 3 %.

    python benchmarks/before_after.py --data DIR \\
        --before PYTHON --before-tree DIR --after PYTHON --after-tree DIR

PYTHON is the interpreter of a virtual environment with that version installed, DIR its checkout (for recipes
and the bundled model). Every run is a process of its own, one thread; the order is before, after, after,
before and so on. Jobs that train or tag words need the corpora of --data. Twice the same version shows the
noise of the machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from measure import facts

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

LIMIT = 1.03
LONGEST = 200  # characters of a line: more words than that are no sentence to parse
CALLS = 3000

# Scripts say themselves how much CPU time they took: all but the start. They get the texts as a file.
START = """
import sys, time, duilian
lines = open("lines.txt", encoding="utf-8").read().split("\\n")
zh = duilian.load()
def spent(work, times=1):
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
    """A command line of `duilian`, or a script; `after` if the newer version wants to be asked otherwise.

    In a command {tree} is the checkout, {model} its bundled model, {word} a tagger of words, {data} the
    corpora, and {side} 0 for before, 1 for after.
    """

    before: str
    after: str = ""
    is_script: bool = False
    quick: str = ""  # what --quick adds to the command
    scale: float = 1.0  # from seconds to the unit
    unit: str = "s"

    @property
    def needs_data(self) -> bool:
        """Whether there is nothing to do without corpora."""
        return "{data}" in self.before or "{word}" in self.before

    def line(self, side: int) -> str:
        """What this side is asked."""
        return self.after if side and self.after else self.before


JOBS = {
    "import": Job("import duilian", is_script=True, scale=1000, unit="ms"),
    "load": Job(LOAD, is_script=True, scale=1000, unit="ms"),
    "zh(text)": Job(CALL, is_script=True, scale=1e6 / CALLS, unit="µs/call"),
    "zh.pipe": Job(PIPE, is_script=True),
    "zh.pipe, no trees": Job(TAGS, is_script=True),
    "zh.segment": Job(SEGMENT, is_script=True),
    "zh.nbest": Job(NBEST, is_script=True),
    "analyze --to conllu": Job("analyze lines.txt --to conllu -o out"),
    "analyze --to json": Job("analyze lines.txt --to json -o out"),
    "analyze --to words": Job("analyze many.txt --to words -o out"),
    "tag, text": Job("tag {model} lines.txt --standard pku -o out"),
    "tag, words": Job("tag {word} words.txt -o out"),
    "segment": Job("segment {model} lines.txt --standard pku -o out"),
    "parse": Job("parse {model} gsd.conllu -o out"),
    "convert": Job("convert {model} pku.jsonl --from pku --to gsd -o out"),
    "select": Job("select {word} words.txt -o out"),
    "train zx-pos": Job("train {tree}/recipes/zx-pos.toml --data {data} -o out.model"),
    "train zx-pd": Job(
        "train {tree}/recipes/zx-pd.toml --data {data} -o out.model",
        quick="--set learning.iterations=1 --set start.baseline_iterations=2 --set side.2.limit=6000",
    ),
    "train udc-parser2": Job(
        "train {tree}/recipes/udc-parser2.toml --data {data} -o out.model",
        quick="--set learning.iterations=1 --set side.limit=1000",
    ),
}
WORD_MODEL = Job(
    "train {tree}/recipes/zx-pos.toml --data {data} -o word{side}.model --set learning.iterations=3"
)
OLD_KEYS = {"learning.iterations": "learn.iterations", "start.baseline_iterations": "model.plain_iterations"}
"""Keys of recipes as versions without a table [learning] spell them."""
MADE = {
    "words.txt": "analyze many.txt --standard gsd --to words -o words.txt",
    "gsd.conllu": "tag {model} lines.txt --standard gsd --to conllu -o gsd.conllu",
    "pku.jsonl": "tag {model} lines.txt --standard pku --to jsonl -o pku.jsonl",
}
"""Files that the version before makes, for both to read."""


class Bench:
    """A folder to work in, and the two versions: interpreters and checkouts."""

    def __init__(self, folder: Path, pythons: list[str], trees: list[Path], data: Path | None) -> None:
        self._folder, self._pythons, self._trees, self._data = folder, pythons, trees, data
        from golden.lines import lines

        short = [line[:LONGEST] for line in lines()]
        self._write("lines.txt", short)
        self._write("many.txt", short * 5)
        for command in MADE.values():
            self.seconds(0, Job(command))
        if data is not None:
            for side in (0, 1):
                self.seconds(side, WORD_MODEL)

    def _write(self, name: str, rows: list[str]) -> None:
        text = "".join(f"{row}\n" for row in rows)
        (self._folder / name).write_text(text, encoding="utf-8", newline="")

    def seconds(self, side: int, job: Job, is_quick: bool = False) -> float:
        """CPU time of one run."""
        line = job.line(side)
        if is_quick and job.quick:
            line = f"{line} {job.quick}"
        arguments = ["-c", line] if job.is_script else ["-m", "duilian.cli", *self._words(side, line)]
        with tempfile.TemporaryFile(dir=self._folder) as out, tempfile.TemporaryFile(dir=self._folder) as err:
            command = [self._pythons[side], *arguments]
            started = subprocess.Popen(command, cwd=self._folder, stdout=out, stderr=err)
            _, status, used = os.wait4(started.pid, 0)
            started.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            if started.returncode:
                sys.exit(f"{' '.join(command)}\n{err.read().decode()}")
            said = out.read().split()
        return float(said[-1]) if job.is_script and said else used.ru_utime + used.ru_stime

    def _words(self, side: int, line: str) -> Iterator[str]:
        tree = self._trees[side]
        known = {
            "tree": tree,
            "model": tree / "src/duilian/bundled/zh.model",
            "data": self._data,
            "side": side,
        }
        keys = {} if "[learning]" in (tree / "recipes/zx-pos.toml").read_text(encoding="utf-8") else OLD_KEYS
        for word in line.split():
            key, sign, value = word.format(word=f"word{side}.model", **known).partition("=")
            yield keys.get(key, key) + sign + value


def orders(repeats: int) -> Iterator[int]:
    """Whose turn it is: 0 1, 1 0, 0 1 and so on."""
    return itertools.islice(itertools.cycle((0, 1, 1, 0)), 2 * repeats)


def row(name: str, job: Job, times: list[list[float]]) -> list[str]:
    """A row of the table: medians, and both ratios with what they say."""
    medians = [statistics.median(each) * job.scale for each in times]
    ratio, of_minima = medians[1] / medians[0], min(times[1]) / min(times[0])
    verdict = {2: "slower", 1: "slower?"}.get((ratio > LIMIT) + (of_minima > LIMIT), "")
    spread = max(
        statistics.quantiles(each, n=4)[2] / statistics.quantiles(each, n=4)[0] - 1 for each in times
    )
    shown = [f"{median:,.3g}" if median < 100 else f"{median:,.0f}" for median in medians]
    return [name, job.unit, *shown, f"{ratio:.3f}", f"{of_minima:.3f}", f"{100 * spread:.1f} %", verdict]


def main() -> None:
    """Run all jobs that can be run and print the table; exit status 1 if anything is slower."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).parent.parent
    parser.add_argument("--before", required=True, metavar="PYTHON")
    parser.add_argument("--after", required=True, metavar="PYTHON")
    parser.add_argument("--before-tree", type=Path, default=here, metavar="DIR")
    parser.add_argument("--after-tree", type=Path, default=here, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="zx, udc and pd")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", metavar="NAME", help="jobs with that in their names")
    parser.add_argument("--quick", action="store_true", help="train with fewer iterations and sentences")
    options = parser.parse_args()
    table = Table(title="CPU time, before and after", title_justify="left", caption=facts())
    for title in ("job", "unit", "before", "after", "medians", "minima", "spread", ""):
        table.add_column(title, justify="left" if title in ("job", "unit", "") else "right")
    with tempfile.TemporaryDirectory() as folder:
        trees = [options.before_tree.resolve(), options.after_tree.resolve()]
        data = None if options.data is None else options.data.resolve()
        bench = Bench(Path(folder), [options.before, options.after], trees, data)
        is_slower = False
        for name, job in JOBS.items():
            if options.only not in name or (job.needs_data and data is None):
                continue
            times: list[list[float]] = [[], []]
            for side in orders(options.repeats):
                times[side].append(bench.seconds(side, job, options.quick))
            cells = row(name, job, times)
            print(*cells, sep="\t", file=sys.stderr, flush=True)
            table.add_row(*cells)
            is_slower |= cells[-1] == "slower"
    Console(width=110).print(table)
    sys.exit(is_slower)


if __name__ == "__main__":
    main()

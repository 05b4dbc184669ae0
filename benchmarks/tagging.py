"""The plain tagger compared with CRFsuite (and, with --slow, Wapiti): training, tagging, memory, model size.

    python benchmarks/tagging.py --data DIR --task zx --plot zx.png --json zx.json

Every measurement runs single-threaded in its own process and counts CPU seconds, the minimum of --repeats.
Peers get the features of the same templates. CRF++, KyTea and Vaporetto are missing: their PyPI packages
cannot train, or do not exist.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from duilian.models.crf.model import Tagger
from measure import draw, facts
from peers.tasks import TASKS, Split, Task, chunk_f1, load_split, read_tags, tag_accuracy, write_rows

SPEED_WORDS = 200_000
"""Words to tag when speed is measured: the dev set is repeated to reach this number."""

ITERATIONS = Tagger().learning.iterations
QUICK_ITERATIONS = 4
HERE = Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Contender:
    """A tagger with its settings; of those with the same `choice`, the best on the dev set is compared."""

    name: str
    peer: str
    settings: Mapping[str, Any]
    choice: str = ""


CONTENDERS = (
    Contender("Duilian", "duilian_tagger", {}),
    Contender(f"Duilian, {QUICK_ITERATIONS} it.", "duilian_tagger", {"iterations": QUICK_ITERATIONS}),
    Contender("CRFsuite perceptron", "crfsuite", {"algorithm": "ap"}),
    # By default CRFsuite runs for a hundred iterations and more; these stop when Duilian does.
    Contender(
        f"CRFsuite perceptron, {ITERATIONS} it.",
        "crfsuite",
        {"algorithm": "ap", "max_iterations": ITERATIONS},
    ),
    Contender(
        f"CRFsuite l2sgd, c2=0.1, {ITERATIONS} it.",
        "crfsuite",
        {"algorithm": "l2sgd", "c2": 0.1, "max_iterations": ITERATIONS},
    ),
)
SLOW_CONTENDERS = (
    Contender("CRFsuite lbfgs", "crfsuite", {"algorithm": "lbfgs"}),
    Contender("Wapiti l-bfgs, 100 it.", "wapiti", {"algo": "l-bfgs", "maxiter": 100}),
)


def penalised(c2: float) -> Contender:
    """Return CRFsuite's CRFs; the best penalty depends on the corpus."""
    settings = {"algorithm": "l2sgd", "c2": c2}
    return Contender(f"CRFsuite l2sgd, c2={c2:g}", "crfsuite", settings, choice="l2sgd")


@dataclasses.dataclass
class Result:
    """The measurements of a contender; speeds are words per CPU second."""

    contender: Contender
    train: dict[str, Any]
    dev: float
    test: float | None
    load_seconds: float
    file_speed: float
    ready_speed: float

    @property
    def train_cpu(self) -> float:
        """CPU seconds from sentences in memory to a model, including feature extraction."""
        return float(sum(self.train["cpu"].values()))


class Bench:
    """The measurements of one task, with their own folder."""

    def __init__(self, task: Task, data: Path, folder: Path) -> None:
        self.task, self.data, self.folder = task, data, folder
        self.split: Split = load_split(task, data)
        dev_words = sum(map(len, self.split.dev))
        self.copies = -(-SPEED_WORDS // dev_words)
        self.words = dev_words * self.copies
        write_rows(self.split.dev * self.copies, folder / "dev.rows")
        write_rows(self.split.test, folder / "test.rows")

    def _job(self, contender: Contender, do: str, **more: object) -> dict[str, Any]:
        model = self.folder / (contender.name.replace(" ", "-") + ".model")
        job = {"peer": contender.peer, "task": self.task.name, "do": do, "model": str(model), **more}
        command = [sys.executable, "-m", "peers.job", json.dumps(job)]
        path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=environment)
        # Wapiti prints its progress first.
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    def train(self, contender: Contender) -> dict[str, Any]:
        """Train once."""
        return self._job(contender, "train", data=str(self.data), settings=contender.settings)

    def tag(self, contender: Contender, part: str) -> tuple[dict[str, Any], list[list[str]]]:
        """Return the seconds and the tags."""
        files = [self.folder / f"{part}.{kind}" for kind in ("rows", "tags")]
        seconds = self._job(contender, "tag", source=str(files[0]), target=str(files[1]))
        return seconds, list(read_tags(files[1]))

    def measure(self, contender: Contender) -> Result:
        """Train, tag and score."""
        train = self.train(contender)
        seconds, tags = self.tag(contender, "dev")
        dev = tag_accuracy(self.split.dev, tags[: len(self.split.dev)])
        test = chunk_f1(self.split.test, self.tag(contender, "test")[1]) if self.split.test else None
        cpu = seconds["cpu"]
        speeds = (self.words / cpu["file"], self.words / cpu["ready"])
        return Result(contender, train, dev, test, cpu["load"], *speeds)

    def measure_again(self, result: Result) -> None:
        """Keep the faster of two runs."""
        other = self.measure(result.contender)
        if other.train_cpu < result.train_cpu:
            result.train = other.train
        result.load_seconds = min(result.load_seconds, other.load_seconds)
        result.file_speed = max(result.file_speed, other.file_speed)
        result.ready_speed = max(result.ready_speed, other.ready_speed)


def chosen(results: Sequence[Result]) -> list[Result]:
    """Keep the best of each choice on the dev set, and all others."""
    best: dict[str, Result] = {}
    for result in results:
        key = result.contender.choice or result.contender.name
        if key not in best or result.dev > best[key].dev:
            best[key] = result
    return list(best.values())


def reached(curve: Sequence[tuple[float, float]], score: float) -> float | None:
    """Return the CPU seconds until the dev score first reached this value."""
    return next((seconds for seconds, found in curve if found >= score), None)


def result_table(bench: Bench, results: Sequence[Result]) -> Table:
    # The peak memory in facts() would be that of this process, which only waits.
    caption = facts().rpartition(",")[0] + "; seconds are CPU seconds but for wall; kw: 1000 words"
    table = Table(title=bench.task.title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("", no_wrap=True)
    heads = (
        "features s",
        "train s",
        "wall s",
        "iter.",
        "peak MB",
        "model MB",
        "dev acc.",
        "test F1",
        "load s",
    )
    for head in (*heads, "file kw/s", "ready kw/s"):
        table.add_column(head, justify="right")
    for result in results:
        features = result.train["cpu"].get("attributes")
        cells = (
            "inside" if features is None else f"{features:.2f}",
            f"{result.train_cpu - (features or 0.0):.2f}",
            f"{sum(result.train['wall'].values()):.2f}",
            str(result.train["iterations"]),
            f"{result.train['peak_mb']:.0f}",
            f"{result.train['model_mb']:.1f}",
            f"{result.dev:.2f}",
            "-" if result.test is None else f"{result.test:.2f}",
            f"{result.load_seconds:.3f}",
            f"{result.file_speed / 1e3:.0f}",
            f"{result.ready_speed / 1e3:.0f}",
        )
        table.add_row(result.contender.name, *cells)
    return table


def reach_text(ours: Result, peer: Result) -> str:
    """Describe how long both took to reach the peer's best dev score, including dev evaluations."""
    curve = peer.train.get("curve") or [(peer.train_cpu, peer.dev)]
    score = max(found for _, found in curve)
    theirs, mine = reached(curve, score), reached(ours.train["curve"], score)
    if theirs is None or mine is None:
        return f"its best, {score:.2f}, not reached in {ours.train['iterations']} iterations"
    return f"its best, {score:.2f}, reached in {mine:.2f} s instead of {theirs:.2f} ({theirs / mine:.1f} ×)"


def ratio_lines(results: Sequence[Result]) -> list[str]:
    """Compare Duilian, the first, with each peer, including feature extraction of both."""
    ours = results[0]
    return [
        f"against {peer.contender.name}: trains {peer.train_cpu / ours.train_cpu:.1f} × as fast; "
        f"{reach_text(ours, peer)}; tags files {ours.file_speed / peer.file_speed:.1f} × as fast, "
        f"{ours.ready_speed / peer.ready_speed:.1f} × if only its features are ready; "
        f"memory {ours.train['peak_mb'] / peer.train['peak_mb']:.2f} ×, "
        f"model {ours.train['model_mb'] / peer.train['model_mb']:.2f} × the size"
        for peer in results
        if peer.contender.peer != ours.contender.peer
    ]


def thread_line(bench: Bench, repeats: int) -> str:
    """Compare two threads with one, in wall time."""
    best: dict[int, float] = {}
    digests = set()
    for threads in (1, 2) * repeats:
        found = bench.train(Contender("Duilian threads", "duilian_tagger", {"threads": threads}))
        best[threads] = min(found["wall"]["train"], best.get(threads, float("inf")))
        digests.add(found["digest"])
    same = "the same bytes" if len(digests) == 1 else "DIFFERENT bytes"
    return (
        f"{best[1]:.2f} s wall with one thread, {best[2]:.2f} s with two ({best[1] / best[2]:.2f} ×), {same}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--task", choices=sorted(TASKS), required=True)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--c2", type=float, nargs="*", default=[0.03, 0.1, 1.0], help="penalties for CRFsuite"
    )
    parser.add_argument("--quick", action="store_true", help="skip CRFsuite l2sgd, which takes minutes")
    parser.add_argument("--slow", action="store_true", help="include CRFsuite lbfgs and Wapiti")
    parser.add_argument("--plot", help="bar chart of training times")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    contenders = [*CONTENDERS, *(() if options.quick else map(penalised, options.c2))]
    contenders += SLOW_CONTENDERS if options.slow else ()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(TASKS[options.task], options.data, Path(folder))
        results = [bench.measure(contender) for contender in contenders]
        for _ in range(options.repeats - 1):
            for result in chosen(results):
                bench.measure_again(result)
        threads = thread_line(bench, options.repeats)
    lines = [*ratio_lines(chosen(results)), threads, f"load {load:.1f} to {os.getloadavg()[0]:.1f}"]
    console = Console(width=max(Console().width, 150))
    console.print(result_table(bench, results))
    for line in lines:
        console.print(f"- {line}", highlight=False)
    if options.json:
        found = {"task": options.task, "facts": facts(), "lines": lines}
        found["results"] = [dataclasses.asdict(result) for result in results]
        options.json.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if options.plot:
        bars = [(result.contender.name, result.train_cpu, "") for result in results]
        draw(f"Training, {bench.task.title}", "CPU seconds", bars, options.plot)


if __name__ == "__main__":
    main()

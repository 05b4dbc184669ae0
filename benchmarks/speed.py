"""Speed of the bundled analyser on raw text beside other segmenters: one command, a table and a plot.

    python benchmarks/speed.py --data DIR [--peers PYTHON] [--rounds 5] [--plot FILE.png]

Every program runs single-threaded in a process of its own on the raw text of pd/test, all of it. They take
turns, in alternating order, and CPU time counts. The table has medians over the rounds, the spread between
the slowest and the fastest round, and the speed relative to jieba's in the same round. `--peers` names the
interpreter that has jieba, jieba_fast, rjieba, spacy-pkuseg, thulac, snownlp, ltp_extension and vaporetto;
those that are missing, or have no model without a download, are left out, with the reason. The environment
names models of LTP (LTP_CWS) and Vaporetto (VAPORETTO), whose packages have none. F1 is that of words in the
corpus's own standard (PKU) on all of the text; peers define words differently.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import duilian
from duilian.corpus import Layer, read
from duilian.engine import BUNDLED
from duilian.evaluation import word_score
from measure import Row, draw, facts
from peers.segmenters import OURS, SEGMENTERS

HERE = Path(__file__).parent
SENTENCE = "他把iPhone借给了国务院新闻办公室。"
YARDSTICK = "jieba"
PATIENCE = 600  # seconds for one program and round
Round = dict[str, Any]


class LeftOutError(Exception):
    """A program that cannot run here, and why."""


def run(python: str, name: str, text: Path, model: Path) -> Round:
    """What one process measured, and the words that it found."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.txt"
        command = [python, "-P", str(HERE / "peers" / "segmenters.py"), name, str(text), str(answer)]
        if name.startswith("duilian"):
            command.append(str(model))
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=_environment(), timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise LeftOutError(f"more than {PATIENCE} s") from None
        if done.returncode:
            raise LeftOutError(done.stderr.strip().splitlines()[-1][:100])
        found: Round = json.loads(done.stdout.splitlines()[-1])
        words = [line.split(" ") for line in answer.read_text(encoding="utf-8").split("\n")[:-1]]
        return found | {"words": words}


def _environment() -> dict[str, str]:
    source = str(Path(duilian.__file__).parents[1])
    found = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules; the first round compiles ours
    return found


def measured(
    options: argparse.Namespace, layers: Sequence[Layer]
) -> tuple[dict[str, list[Round]], dict[str, str]]:
    """The rounds of each program, and why others were left out."""
    programs = {each.__name__: sys.executable for each in OURS}
    if options.peers:
        programs |= {each.__name__: options.peers for each in SEGMENTERS}
    rounds: dict[str, list[Round]] = {name: [] for name in programs}
    left_out: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(layer.text + "\n" for layer in layers), encoding="utf-8")
        for number in range(options.rounds):
            for name in list(programs) if number % 2 == 0 else list(programs)[::-1]:
                if name in left_out:
                    continue
                try:
                    rounds[name].append(run(programs[name], name, text, options.model))
                except LeftOutError as error:
                    left_out[name] = str(error)
    return {name: rounds[name] for name in programs if name not in left_out}, left_out


def speed_table(rounds: dict[str, list[Round]], layers: Sequence[Layer]) -> Table:
    """Medians over the rounds."""
    characters = sum(len(layer.text) for layer in layers)
    title = f"Raw text, {characters:,} characters, {len(layers):,} lines"
    table = Table(title=title, caption=facts(), title_justify="left")
    for column in ("", "jieba = 1", "1,000 characters/s", "spread", "load, CPU s", "memory, MB", "F1 (PKU)"):
        table.add_column(column, justify="left" if not column else "right")
    for name, own in rounds.items():
        seconds = [each["seconds"] for each in own]
        middle = statistics.median(seconds)
        table.add_row(
            name,
            _beside(own, rounds.get(YARDSTICK, [])),
            f"{characters / middle / 1e3:,.0f}",
            f"{100 * (max(seconds) - min(seconds)) / middle:.0f} %",
            f"{statistics.median(each['load'] for each in own):.2f}",
            f"{statistics.median(each['peak_mb'] for each in own):.0f}",
            _f1(name, layers, own[0]["words"]),
        )
    return table


def _beside(own: Sequence[Round], yardstick: Sequence[Round]) -> str:
    """The median of the ratios within a round."""
    pairs = zip(own, yardstick, strict=False)  # no ratio without the yardstick
    ratios = [theirs["seconds"] / mine["seconds"] for mine, theirs in pairs]
    return f"{statistics.median(ratios):.2f}" if ratios else ""


def _f1(name: str, layers: Sequence[Layer], rows: Sequence[Sequence[str]]) -> str:
    if "posseg" in name:
        rows = [[word.rpartition("/")[0] or word for word in row] for row in rows]
    try:
        return f"{word_score([layer.words for layer in layers], rows).f1:.2f}"
    except duilian.DuilianError:
        return "changes the text"


def starts(options: argparse.Namespace) -> Table:
    """Table of the time to import, to load and to the command's first answer; medians."""
    table = Table(title="Start-up", title_justify="left")
    for column in ("", "CPU s", "wall s"):
        table.add_column(column, justify="left" if not column else "right")
    analyze = ["-m", "duilian.cli", "analyze", "--model", str(options.model), "--to", "conllu", SENTENCE]
    jobs = {
        "import duilian": ["-c", "import duilian"],
        "import all of it": ["-c", "from duilian import load, Tagger"],
        "import and load()": ["-c", f"import duilian; duilian.load({str(options.model)!r})"],
        "duilian analyze": analyze,
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(options.rounds):
        for name, arguments in jobs.items():
            times[name].append(_seconds([sys.executable, *arguments]))
    for name, own in times.items():
        table.add_row(name, *(f"{statistics.median(each):.2f}" for each in zip(*own, strict=True)))
    return table


def _seconds(command: list[str]) -> tuple[float, float]:
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_environment())
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, time.perf_counter() - start


def bars(rounds: dict[str, list[Round]], layers: Sequence[Layer]) -> list[Row]:
    """What the plot shows."""
    characters = sum(len(layer.text) for layer in layers)
    return [
        (name, characters / statistics.median(each["seconds"] for each in own) / 1e3, "")
        for name, own in rounds.items()
    ]


def main() -> None:
    """Measure, print the tables and draw the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=BUNDLED)
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter that has the other segmenters")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, help="only the first lines, for a trial")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the speeds")
    options = parser.parse_args()
    gold = read(options.data / "pd" / "test.txt", standard="pku", format="slash", cut="sentence")
    layers = [sentence["pku"] for sentence in gold][: options.lines]
    rounds, left_out = measured(options, layers)
    console = Console(width=110)
    console.print(speed_table(rounds, layers))
    for name, reason in left_out.items():
        console.print(f"left out: {name} ({reason})", markup=False)
    console.print(starts(options))
    if options.plot:
        draw("Raw text", "1,000 characters per CPU second", bars(rounds, layers), options.plot)


if __name__ == "__main__":
    main()

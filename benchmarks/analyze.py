"""The bundled analyser on raw text: speed, start-up and memory, compared with other segmenters.

    python benchmarks/analyze.py --data DIR [--model FILE] [--peers PYTHON] [--repeats 3] [--lines 1484]

Every segmenter runs single-threaded in its own process on the raw text of pd/test. They take turns, and the
best round of each counts. `--peers` names the interpreter that has jieba, jieba_fast, rjieba, spacy-pkuseg,
thulac and snownlp; those that are missing or cannot run offline are left out. F1 is that of words in the
corpus's own standard (PKU); peers define words differently.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import duilian
from duilian.corpus import Corpus, read
from duilian.engine import BUNDLED
from duilian.evaluation import word_score
from measure import facts
from peers.segmenters import OURS, SEGMENTERS

HERE = Path(__file__).parent
SENTENCE = "他把iPhone借给了国务院新闻办公室。"


def run(python: str, name: str, text: Path, model: Path) -> dict[str, Any] | None:
    """Return the measurements and words of one process; None if it cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.txt"
        command = [python, "-P", str(HERE / "peers" / "segmenters.py"), name, str(text), str(answer)]
        if name.startswith("duilian"):
            command.append(str(model))
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
        if done.returncode:
            print(f"{name}: left out ({done.stderr.strip().splitlines()[-1:]})", file=sys.stderr)
            return None
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        words = [line.split(" ") for line in answer.read_text(encoding="utf-8").split("\n")[:-1]]
        return found | {"words": words}


def _environment() -> dict[str, str]:
    source = str(Path(duilian.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}


def speeds(options: argparse.Namespace, gold: Corpus) -> Table:
    """Table of characters per CPU second, loading time, memory and F1."""
    layers = [sentence["pku"] for sentence in gold][: options.lines]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(layer.text + "\n" for layer in layers), encoding="utf-8")
        jobs = [(sys.executable, each.__name__) for each in OURS]
        if options.peers:
            jobs += [(options.peers, each.__name__) for each in SEGMENTERS]
        best: dict[str, dict[str, Any]] = {}
        for _ in range(options.repeats):
            for python, name in list(jobs):
                found = run(python, name, text, options.model)
                if found is None:
                    jobs.remove((python, name))
                elif name not in best or found["seconds"] < best[name]["seconds"]:
                    best[name] = found
    characters = sum(len(layer.text) for layer in layers)
    table = Table(title=f"Raw text, {characters:,} characters", caption=facts(), title_justify="left")
    for column in ("", "1000 characters/s", "lines/s", "load, CPU s", "memory, MB", "F1 (PKU)"):
        table.add_column(column, justify="left" if not column else "right")
    for name, found in best.items():
        words = [
            [word.rpartition("/")[0] or word for word in row] if "posseg" in name else row
            for row in found["words"]
        ]
        table.add_row(
            name,
            f"{characters / found['seconds'] / 1e3:,.0f}",
            f"{len(layers) / found['seconds']:,.0f}",
            f"{found['load']:.2f}",
            f"{found['peak_mb']:.0f}",
            _f1([layer.words for layer in layers], words),
        )
    return table


def _f1(gold: list[tuple[str, ...]], words: list[list[str]]) -> str:
    try:
        return f"{word_score(gold, words).f1:.2f}"
    except duilian.DuilianError:
        return "changes the text"


def starts(options: argparse.Namespace) -> Table:
    """Table of the time to import, to load and to the command's first answer; best of several runs."""
    table = Table(title="Start-up", title_justify="left")
    for column in ("", "CPU s", "wall s"):
        table.add_column(column, justify="left" if not column else "right")
    analyze = ["-m", "duilian.cli", "analyze", "--model", str(options.model), "--to", "conllu", SENTENCE]
    loading = f"import duilian; duilian.load({str(options.model)!r})"
    jobs = {
        "import duilian": ["-c", "import duilian"],
        "import all of it": ["-c", "from duilian import load, Tagger"],
        "import and load()": ["-c", loading],
        "duilian analyze": analyze,
    }
    for name, arguments in jobs.items():
        times = [_seconds([sys.executable, *arguments]) for _ in range(2 * options.repeats + 1)]
        table.add_row(name, *(f"{min(each):.2f}" for each in zip(*times, strict=True)))
    return table


def _seconds(command: list[str]) -> tuple[float, float]:
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=_environment())
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, time.perf_counter() - start


def accuracy(options: argparse.Namespace) -> Table:
    """Table of the accuracy of words, tags and trees from raw text on the part named by `--part`."""
    table = Table(title=f"Accuracy, {options.part}", title_justify="left")
    for column in ("", "words F1", "words with tags F1", "UAS", "LAS (raw text, CoNLL 2018)"):
        table.add_column(column, justify="left" if not column else "right")
    zh = duilian.load(options.model)
    for standard, corpus in _corpora(options).items():
        found = duilian.evaluate(zh, corpus)
        assert found.word is not None
        assert found.word_tag is not None
        trees = found.raw_trees
        shown = ("", "") if trees is None else (f"{trees.uas.f1:.2f}", f"{trees.las.f1:.2f}")
        table.add_row(standard, f"{found.word.f1:.2f}", f"{found.word_tag.f1:.2f}", *shown)
    return table


def _corpora(options: argparse.Namespace) -> dict[str, Corpus]:
    # The half of GSDSimp's dev set that taught nothing (see universal.py); its test set is left alone.
    ud = read(options.data / "ud2" / "gsdsimp-judge.conllu", standard="ud", column="upos")
    return {"pku": _pd(options.data, options.part), "ud": ud}


def _pd(data: Path, part: str) -> Corpus:
    return read(data / "pd" / f"{part}.txt", standard="pku", format="slash", cut="sentence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=BUNDLED)
    parser.add_argument("--peers", help="interpreter that has the other segmenters")
    parser.add_argument("--part", choices=["dev", "test"], default="dev", help="data set for accuracy")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lines", type=int, default=2000, help="number of sentences of raw text")
    options = parser.parse_args()
    console = Console()
    console.print(accuracy(options))
    console.print(starts(options))
    console.print(speeds(options, _pd(options.data, "test")))


if __name__ == "__main__":
    main()

"""Parsers of order 1 to 3 compared with UDPipe: attachment, speed, training time, memory, model size.

    python benchmarks/parsing.py --data DIR --models FOLDER [--udpipe PYTHON --udpipe-iterations 10]

Models are trained from recipes/udc-parser{1,2,3}.toml, unless FOLDER already has them. PYTHON must have
ufal.udpipe. All parse gold words with gold tags (xpos), single-threaded; speed is that of parsing alone, in
CPU seconds, the best of several rounds that take turns.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from duilian import Corpus, read, write
from duilian.engine.parsing import pruning_score
from duilian.evaluation import evaluate_layers
from duilian.models import Parser
from duilian.recipes import Recipe, Run, train
from measure import facts

HERE = Path(__file__).resolve().parent
ROUNDS = 5
ORDERS = (1, 2, 3)


def main() -> None:
    """Train missing models, then measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--models", type=Path, required=True)
    arguments.add_argument("--orders", type=int, nargs="+", default=ORDERS)
    arguments.add_argument("--part", default="dev", choices=["dev", "test"])
    arguments.add_argument("--udpipe", help="Python interpreter that has ufal.udpipe")
    arguments.add_argument("--udpipe-iterations", type=int, default=10)
    arguments.add_argument("--threads", type=int, default=2, help="for training")
    chosen = arguments.parse_args()
    chosen.models.mkdir(parents=True, exist_ok=True)
    parsers = {order: _parser(order, chosen) for order in chosen.orders}
    gold = _read(chosen.data, chosen.part)
    table = Table(title=f"udc {chosen.part}, gold xpos, without punctuation", caption=facts())
    for column in (
        "parser",
        "UAS",
        "LAS",
        "root",
        "complete",
        "with punct.",
        "sentences/s",
        "heads",
        "oracle",
        "MB",
    ):
        table.add_column(column, justify="left" if column == "parser" else "right")
    peer = _udpipe(chosen, gold) if chosen.udpipe else None
    seconds = _seconds(parsers, gold)
    for order, parser in parsers.items():
        size = _path(chosen, order).stat().st_size / 1e6
        table.add_row(*_row(f"order {order}", parser, gold, seconds[order]), f"{size:.1f}")
    if peer is not None:
        table.add_row("UDPipe", *peer)
    Console().print(table)


def _path(chosen: argparse.Namespace, order: int) -> Path:
    return Path(chosen.models / f"udc-parser{order}.model")


def _parser(order: int, chosen: argparse.Namespace) -> Parser:
    path = _path(chosen, order)
    if not path.exists():
        recipe = Recipe.load(HERE.parent / "recipes" / f"udc-parser{order}.toml", chosen.data)
        wall, cpu = time.perf_counter(), time.process_time()
        train(recipe, Run(output=path, threads=chosen.threads))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"order {order}: trained in {wall:.0f} s ({cpu:.0f} s of CPU), peak memory so far {peak:.0f} MB"
        )
    return Parser.load(path)


def _read(data: Path, part: str) -> Corpus:
    return read(data / "udc" / f"{part}.conll", standard="gsd", format="conllx", column="xpos")


def _seconds(parsers: dict[int, Parser], gold: Corpus) -> dict[int, float]:
    best = dict.fromkeys(parsers, float("inf"))
    layers = [sentence["gsd"] for sentence in gold]
    prepared = {order: parser.predictor_.packer.data(layers) for order, parser in parsers.items()}
    for _ in range(ROUNDS):
        for order, parser in parsers.items():
            start = time.process_time()
            parser.predictor_.parse(prepared[order])
            best[order] = min(best[order], time.process_time() - start)
    return best


def _row(name: str, parser: Parser, gold: Corpus, seconds: float) -> list[str]:
    layers = [sentence["gsd"] for sentence in gold]
    scores = _scores(gold, parser.predict_layers(layers))
    left = pruning_score(parser, layers, layers)
    pruned = ["all", "100.00"] if left is None else [f"{left.heads:.1f}", f"{left.oracle:.2f}"]
    return [name, *scores, f"{len(gold) / seconds:,.0f}", *pruned]


def _scores(gold: Corpus, guess: list) -> list[str]:  # type: ignore[type-arg]
    found = evaluate_layers([sentence["gsd"] for sentence in gold], guess, standard="gsd").trees
    assert found is not None
    shown = (found.uas, found.las, found.root, found.complete)
    every = f"{found.uas_with_punctuation:.1f} / {found.las_with_punctuation:.1f}"
    return [*(f"{value:.2f}" for value in shown), every]


def _udpipe(chosen: argparse.Namespace, gold: Corpus) -> list[str]:
    """Train UDPipe once, keep it, and return the columns of its row."""

    def run(*arguments: object) -> dict[str, float]:
        command = [chosen.udpipe, str(HERE / "peers" / "udpipe.py"), *map(str, arguments)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return dict(json.loads(done.stdout.splitlines()[-1]))

    folder = chosen.models
    model = folder / f"udpipe-{chosen.udpipe_iterations}.model"
    if not model.exists():
        for part in ("train", "dev"):
            write(_read(chosen.data, part), folder / f"{part}.conllu", standard="gsd", column="xpos")
        made = run("train", folder / "train.conllu", folder / "dev.conllu", model, chosen.udpipe_iterations)
        print(f"UDPipe: {made['cpu']:.0f} s CPU for training")
    source, target = folder / f"{chosen.part}-gold.conllu", folder / "udpipe.conllu"
    write(gold, source, standard="gsd", column="xpos")
    found = run("parse", model, source, target, ROUNDS)
    guess = [sentence["gsd"] for sentence in read(target, standard="gsd", column="xpos")]
    return [*_scores(gold, guess), f"{found['sentences'] / found['seconds']:,.0f}", "", "", _size(model)]


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f}"


if __name__ == "__main__":
    main()

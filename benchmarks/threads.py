"""Training with one and two threads, taking turns: complete fits with dev sets, the best of each.

python benchmarks/threads.py --data DIR        # DIR/zx, DIR/udc, DIR/conll2000
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from duilian.corpus import Corpus, read
from duilian.models import Features, Tagger
from measure import Row, show


def seconds(settings: dict[str, Any], threads: int, train: Corpus, dev: Corpus | None) -> float:
    start = time.perf_counter()
    Tagger("tags", **settings).fit(train, dev=dev, threads=threads)
    return time.perf_counter() - start


def main() -> None:
    """Print rows for words of zx and udc, chunks of conll2000, and characters of zx."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plot")
    options = parser.parse_args()
    zx = [read(str(options.data / f"zx/{part}.wordpos"), standard="tags") for part in ("train", "dev")]
    udc = [
        read(str(options.data / f"udc/{part}.conll"), standard="tags", column="xpos")
        for part in ("train", "dev")
    ]
    chunks = [read(str(options.data / "conll2000/train.txt"), standard="tags", format="columns"), None]
    rows: list[Row] = []
    for name, settings, (train, dev) in (
        ("zx, words", {}, zx),
        ("udc, words", {}, udc),
        ("conll2000, no dev set", {"features": Features(templates="chunk")}, chunks),
        ("zx, characters", {"level": "char"}, zx),
    ):
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(options.repeats):
            for threads in best:
                best[threads] = min(best[threads], seconds(settings, threads, train, dev))
        rows.append(
            (name, best[1] / best[2], f"{best[1] / best[2]:.2f}: {best[1]:.2f} s and {best[2]:.2f} s")
        )
    show("two threads against one", "times as fast", rows, options.plot)


if __name__ == "__main__":
    main()

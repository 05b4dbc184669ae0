"""Training with one and with two threads, in turns: whole fits with their dev sets, the best of each.

python benchmarks/threads.py --data DIR        # DIR/zx, DIR/udc
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from duilian.corpus import Corpus, read
from duilian.models import Tagger
from measure import Row, show


def seconds(level: str, threads: int, train: Corpus, dev: Corpus) -> float:
    start = time.perf_counter()
    Tagger("tags", level=level, threads=threads).fit(train, dev=dev)
    return time.perf_counter() - start


def main() -> None:
    """A row for words of zx and udc, and for characters of zx."""
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
    rows: list[Row] = []
    for name, level, (train, dev) in (
        ("zx, words", "word", zx),
        ("udc, words", "word", udc),
        ("zx, characters", "char", zx),
    ):
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(options.repeats):
            for threads in best:
                best[threads] = min(best[threads], seconds(level, threads, train, dev))
        rows.append(
            (name, best[1] / best[2], f"{best[1] / best[2]:.2f}: {best[1]:.2f} s and {best[2]:.2f} s")
        )
    show("two threads against one", "times as fast", rows, options.plot)


if __name__ == "__main__":
    main()

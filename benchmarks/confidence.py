"""Calibration of the bundled model's confidence, with and without `marginals=True`.

    python benchmarks/confidence.py --data DIR

On the dev text of UD Chinese GSD: the share of words with confidence 1.0000, the share of those that are
wrong (word or tag), the expected calibration error (ten bins), and the time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import measure
from duilian import load
from duilian.corpus import read_sentences
from duilian.engine import Analyzer

SURE = 0.99995
BINS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    path = parser.parse_args().data / "udc" / "dev.conll"
    layers = [each["gsd"] for each in read_sentences(path, standard="gsd", format="conllx", column="xpos")]
    gold = [set(zip(layer.spans(), layer.tags or (), strict=True)) for layer in layers]
    analyzer = Analyzer(load().model)
    analyzer("好", marginals=True)  # warm-up
    table = Table(title="confidence in words with their tags", caption=measure.facts(), title_justify="left")
    for name in ("marginals", "right", "sure", "of these wrong", "calibration error", "seconds"):
        table.add_column(name, justify="right")
    for marginals in (False, True):
        start = time.process_time()
        docs = list(analyzer.pipe((layer.text for layer in layers), marginals=marginals))
        seconds = time.process_time() - start
        pairs = [
            (token.confidence, ((token.start, token.end), token.tag) in known)
            for doc, known in zip(docs, gold, strict=True)
            for token in doc.tokens("gsd")
        ]
        p, is_right = (np.array(each, np.float64) for each in zip(*pairs, strict=True))
        bins = np.minimum((p * BINS).astype(int), BINS - 1)
        error = sum(abs((p - is_right)[bins == k].sum()) for k in range(BINS)) / len(p)
        sure = p >= SURE
        shares = (is_right.mean(), sure.mean(), 1 - is_right[sure].mean(), error)
        table.add_row(str(marginals), *(f"{100 * each:.1f} %" for each in shares), f"{seconds:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

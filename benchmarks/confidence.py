"""Calibration of confidence: of analysers, with and without `marginals=True`, and of two chains.

    python benchmarks/confidence.py [MODEL …] --data DIR
    python benchmarks/confidence.py --data DIR --two-chain [--iterations 20]

The bundled model unless others are named, on the dev texts of UD Chinese GSD and People's Daily: the share of
words with a confidence of 0.999 or more, the share of those that are wrong (word or tag), the expected
calibration error (ten bins), and the time. Two chains learn from zx/train;
the first half of zx/dev determines the scale of their probabilities, the second half is measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import measure
from duilian import Ask, Doc, PassiveAggressive, TwoChainTagger, load
from duilian.corpus import Layer, Sentence, read, read_sentences
from duilian.engine import Analyzer

SURE = 0.999
BINS = 10


def calibration(docs: Iterable[Doc], layers: Sequence[Layer], standard: str) -> tuple[float, ...]:
    """Return the shares of right and sure words, of sure words that are wrong, and the calibration error."""
    gold = [set(zip(layer.spans(), layer.tags or (), strict=True)) for layer in layers]
    pairs = [
        (token.confidence, ((token.start, token.end), token.tag) in known)
        for doc, known in zip(docs, gold, strict=True)
        for token in doc.tokens(standard)
    ]
    p, is_right = (np.array(each, np.float64) for each in zip(*pairs, strict=True))
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    error = sum(abs((p - is_right)[bins == k].sum()) for k in range(BINS)) / len(p)
    sure = p >= SURE
    return is_right.mean(), sure.mean(), 1 - is_right[sure].mean() if sure.any() else 0.0, error


def dev_layers(data: Path) -> dict[str, list[Layer]]:
    """The annotation of each standard's dev text."""
    ud = read_sentences(data / "ud2" / "gsdsimp-judge.conllu", standard="ud", column="upos")
    pku = read_sentences(data / "pd" / "dev.txt", standard="pku", cut="sentence")
    return {"ud": [each["ud"] for each in ud], "pku": [each["pku"] for each in pku]}


def analysers(data: Path, models: Sequence[str | None]) -> Iterator[tuple[str, tuple[float, ...], float]]:
    """Measure models by both searches."""
    dev = dev_layers(data)
    for model in models:
        analyzer = Analyzer(load(model).model)
        analyzer("好", marginals=True)  # warm-up
        for standard in [name for name in dev if name in analyzer.standards]:
            layers = dev[standard]
            for marginals in (False, True):
                start = time.process_time()
                docs = list(analyzer.pipe((layer.text for layer in layers), marginals=marginals))
                seconds = time.process_time() - start
                name = f"{Path(model or 'bundled').stem}, {standard}{', marginals' if marginals else ''}"
                yield name, calibration(docs, layers, standard), seconds


def two_chain(data: Path, iterations: int) -> Iterator[tuple[str, tuple[float, ...], float]]:
    """Measure two chains with the scale 1, and with the one fitted to a dev set."""
    train, dev = (read(data / "zx" / f"{name}.wordpos", standard="ctb") for name in ("train", "dev"))
    half, rest = dev[: len(dev) // 2], [each["ctb"] for each in dev[len(dev) // 2 :]]
    learning = PassiveAggressive(iterations=iterations)
    tagger = TwoChainTagger("ctb", learning=learning).fit(train, dev=half)
    for name, scale in (
        ("two chains, scale 1", 1.0),
        ("two chains, scale of a dev set", tagger.model_.scale),
    ):
        analyzer = Analyzer(TwoChainTagger.with_model(dataclasses.replace(tagger.model_, scale=scale)))
        start = time.process_time()
        docs = list(analyzer.anew((Sentence({"ctb": each}) for each in rest), ask=Ask(confidence=True)))
        yield name, calibration(docs, rest, "ctb"), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--two-chain", action="store_true")
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    if options.two_chain:
        found = two_chain(options.data, options.iterations)
    else:
        found = analysers(options.data, options.models or [None])
    table = Table(title="confidence in words with their tags", caption=measure.facts(), title_justify="left")
    table.add_column("model")
    for name in ("right", "0.999 or more", "of these wrong", "calibration error", "seconds"):
        table.add_column(name, justify="right")
    for name, shares, seconds in found:
        table.add_row(name, *(f"{100 * each:.1f} %" for each in shares), f"{seconds:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()

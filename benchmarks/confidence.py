"""Calibration of confidence: of analysers, with and without `marginals=True`, and of two chains.

    python benchmarks/confidence.py [MODEL …] --data DIR
    python benchmarks/confidence.py --data DIR --two-chain [--iterations 20]

The bundled model unless others are named, on the dev texts of UD Chinese GSD and People's Daily: the share of
words with a confidence of 0.999 or more, the share of those that are wrong (word or tag), the expected
calibration error (ten bins), and the time. Coupled models are also measured without their confidence curves,
and cross-validated: every tenth sentence with curves that were fitted to the others. Two chains
learn from zx/train; the first half of zx/dev determines the scale of their probabilities, the second half is
measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import measure
from duilian import Ask, CoupledTagger, Doc, PassiveAggressive, TwoChainTagger, load
from duilian.corpus import Layer, Sentence, read, read_sentences
from duilian.engine import Analyzer
from duilian.models.base.confidence import ConfidenceCurve

SURE = 0.999
BINS = 10
FOLDS = 10
DEV: dict[str, tuple[str, dict[str, Any]]] = {
    "ud": ("ud2/gsdsimp-judge.conllu", {"column": "upos"}),
    "gsd": ("udc/dev.conll", {"format": "conllx", "column": "xpos"}),
    "pku": ("pd/dev.txt", {"cut": "sentence"}),
}


Judged = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of each word its confidence, whether it is right with its tag, and the number of its sentence."""


def judged(docs: Iterable[Doc], layers: Sequence[Layer], standard: str) -> Judged:
    """Compare answers with gold annotation."""
    found = [
        (token.confidence, ((token.start, token.end), token.tag) in known, number)
        for number, (doc, layer) in enumerate(zip(docs, layers, strict=True))
        for known in [set(zip(layer.spans(), layer.tags or (), strict=True))]
        for token in doc.tokens(standard)
    ]
    p, is_right, sentence = zip(*found, strict=True)
    return np.array(p, np.float32), np.array(is_right), np.array(sentence)


def calibration(p: np.ndarray, is_right: np.ndarray) -> tuple[float, ...]:
    """Return the shares of right and sure words, of sure words that are wrong, and the calibration error."""
    p = p.astype(np.float64)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    error = sum(abs((p - is_right)[bins == k].sum()) for k in range(BINS)) / len(p)
    sure = p >= SURE
    return is_right.mean(), sure.mean(), 1 - is_right[sure].mean() if sure.any() else 0.0, error


def cross_validated(p: np.ndarray, is_right: np.ndarray, sentence: np.ndarray) -> tuple[float, ...]:
    """The calibration of curves on sentences that they were not fitted to."""
    found, fold = np.empty_like(p), sentence % FOLDS
    for k in range(FOLDS):
        curve = ConfidenceCurve.fitted(p[fold != k], is_right[fold != k])
        assert curve is not None
        found[fold == k] = curve(p[fold == k])
    return calibration(found, is_right)


def without_curves(path: str | None) -> Analyzer | None:
    """The analyser with the model's own probabilities; None if it has no confidence curves."""
    tagger = load(path).model
    if not isinstance(tagger, CoupledTagger) or not tagger.model_.confidence:
        return None
    return Analyzer(tagger.use(dataclasses.replace(tagger.model_, confidence={})))


def dev_layers(data: Path, standard: str) -> list[Layer]:
    """The annotation of a standard's dev text."""
    file, form = DEV[standard]
    return [each[standard] for each in read_sentences(data / file, standard=standard, **form)]


def analysers(data: Path, models: Sequence[str | None]) -> Iterator[tuple[str, tuple[float, ...], float]]:
    """Measure models by both searches, without curves, and with curves of other sentences."""
    for model in models:
        analyzer, plain = Analyzer(load(model).model), without_curves(model)
        analyzer("好", marginals=True)  # warm-up
        for standard in [name for name in DEV if name in analyzer.standards]:
            layers = dev_layers(data, standard)
            ways = {"": (analyzer, False), ", marginals": (analyzer, True)}
            if plain is not None:
                ways[", without curve"] = (plain, False)
            for way, (used, marginals) in ways.items():
                name, start = f"{Path(model or 'bundled').stem}, {standard}{way}", time.process_time()
                docs = list(used.pipe((layer.text for layer in layers), marginals=marginals))
                seconds, found = time.process_time() - start, judged(docs, layers, standard)
                yield name, calibration(*found[:2]), seconds
                if used is plain:
                    other = f"{name.removesuffix(way)}, curves of other sentences"
                    yield other, cross_validated(*found), seconds


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
        seconds = time.process_time() - start
        yield name, calibration(*judged(docs, rest, "ctb")[:2]), seconds


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

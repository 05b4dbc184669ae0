"""Two standards at character level: alone, guided, coupled and multi-task; F1 of words with tags.

python benchmarks/multitask.py --data DIR [--pair zx|udc] [--limit 20000] [--only …]   # DIR/zx or udc, DIR/pd

In the form of Tables 5 to 7 of Qiu et al. (2013): error reduction compared with `alone`, one-way mapping in
both directions, the paper's learner and ours. All use the same sentences and, except for guided, the same
templates. `pa` rows use the paper's passive-aggressive learner and are compared with `alone-pa`. Characters/s
is the single-threaded tagging speed on the smaller corpus's dev set.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duilian.corpus import Corpus, read
from duilian.evaluation import main_score
from duilian.learning import AdaGrad, Learning, PassiveAggressive
from duilian.models import (
    CoupledFeatures,
    CoupledTagger,
    Features,
    GuidedTagger,
    MultitaskTagger,
    StandardTagger,
    Start,
    Tagger,
)
from duilian.models.coupled.config import CoupledConfig
from measure import facts

PAIRS = {"zx": "ctb", "udc": "gsd"}
DEV = 1500  # sentences of pd


@dataclasses.dataclass(frozen=True)
class Data:
    """Training and dev sentences of both sides, and common settings."""

    train: list[Corpus]
    dev: list[Corpus]
    templates: str
    iterations: int
    passes: int  # iterations of passive-aggressive learners, which need more
    threads: int

    @property
    def names(self) -> list[str]:
        """The two standards."""
        return [part.standard for part in self.train]

    @property
    def features(self) -> Features:
        """The templates that all share."""
        return Features(templates=self.templates)

    def learning(self, algorithm: str) -> Learning:
        """The settings of a learner."""
        if algorithm == "pa":
            return PassiveAggressive(aggressiveness=0.1, iterations=self.passes)
        return AdaGrad(iterations=self.iterations)


Taggers = tuple[StandardTagger, StandardTagger | None]
Method = Callable[[Data], Taggers]


def alone(algorithm: str) -> Method:
    def run(data: Data) -> Taggers:
        a, b = (
            Tagger(
                part.standard, level="char", features=data.features, learning=data.learning(algorithm)
            ).fit(part, dev=held_out, threads=data.threads)
            for part, held_out in zip(data.train, data.dev, strict=True)
        )
        return a, b

    return run


def guided(data: Data) -> Taggers:
    first, second = data.names
    learning = data.learning("adagrad")
    tagger = GuidedTagger(first, source_standard=second, level="char", learning=learning)
    return tagger.fit(data.train[0], source=data.train[1], dev=data.dev[0], threads=data.threads), None


def coupled(data: Data) -> Taggers:
    tagger = CoupledTagger(
        data.names,
        level="char",
        features=CoupledFeatures(templates=data.templates),
        start=Start(shares=(0.3, 1.0)),
        learning=CoupledConfig.learning.updated({"iterations": data.iterations}),
    ).fit(data.train, dev=data.dev, threads=data.threads)
    first, second = (tagger.of(name) for name in data.names)
    return first, second


def multitask(algorithm: str = "adagrad", **settings: Any) -> Method:
    def run(data: Data) -> Taggers:
        learning = data.learning(algorithm)
        tagger = MultitaskTagger(data.names, features=data.features, learning=learning, **settings)
        tagger.fit(data.train, dev=data.dev, threads=data.threads)
        first, second = (tagger.of(name) for name in data.names)
        return first, second

    return run


METHODS: dict[str, Method] = {
    "alone": alone("adagrad"),
    "multitask": multitask(),
    "first-learns": multitask(learns_from_other="first"),
    "second-learns": multitask(learns_from_other="second"),
    "relaxed": multitask(mapping="relaxed"),
    "sum": multitask(expansion="all"),
    "guided": guided,
    "coupled": coupled,
    "alone-pa": alone("pa"),
    "mean-pa": multitask("pa"),
    "sum-pa": multitask("pa", expansion="all"),
    "best-pa": multitask("pa", expansion="best"),
}


def corpora(folder: Path, pair: str, limit: int) -> tuple[list[Corpus], list[Corpus]]:
    """Read training and dev sentences of both sides."""
    standard = PAIRS[pair]
    names = ("zx/train.wordpos", "zx/dev.wordpos") if pair == "zx" else ("udc/train.conll", "udc/dev.conll")
    column = None if pair == "zx" else "xpos"
    small = [read(str(folder / name), standard=standard, column=column) for name in names]
    large = [
        read(str(folder / "pd" / f"{part}.txt"), standard="pku", format="slash", cut="sentence")
        for part in ("train", "dev")
    ]
    return [small[0], large[0][:limit]], [small[1], large[1][:DEV]]


def f1(tagger: StandardTagger | None, dev: Corpus) -> float | None:
    if tagger is None:
        return None
    gold = [each[dev.standard] for each in dev]
    return main_score(gold, tagger.predict_layers(gold), is_cut=True)


def speed(tagger: StandardTagger, dev: Corpus) -> float:
    """Measure characters per second, sentences to sentences; the best of three."""
    gold = [each[dev.standard] for each in dev]
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        tagger.predict_layers(gold)
        best = min(best, time.process_time() - start)
    return sum(len(layer.text) for layer in gold) / best


def cell(score: float | None, base: float | None) -> str:
    """Format a score and its error reduction."""
    if score is None:
        return f"{'':8} {'':10}"
    reduction = "" if base is None or base == score else f"{100 * (score - base) / (100 - base):.1f} %"
    return f"{score:8.2f} {reduction:>10}"


def report(data: Data, only: list[str]) -> None:
    """Print a row per method, compared with `alone` of the same learner."""
    base: dict[str, tuple[float | None, float | None]] = {}
    for name in only:
        start = time.process_time()
        taggers = METHODS[name](data)
        seconds = time.process_time() - start
        found = f1(taggers[0], data.dev[0]), f1(taggers[1], data.dev[1])
        learner = "pa" if name.endswith("-pa") else "adagrad"
        if name.startswith("alone"):
            base[learner] = found
        cells = [cell(a, b) for a, b in zip(found, base.get(learner, (None, None)), strict=True)]
        rate = speed(taggers[0], data.dev[0])
        print(f"{name:14} {cells[0]} {cells[1]} {seconds:8.0f} {rate:14,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pair", choices=PAIRS, default="zx")
    parser.add_argument("--limit", type=int, default=20000, help="number of pd sentences")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--passes", type=int, default=10, help="iterations of passive-aggressive learners")
    parser.add_argument("--templates", default="multitask")
    parser.add_argument("--only", help="comma-separated methods")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    train, dev = corpora(options.data, options.pair, options.limit)
    data = Data(train, dev, options.templates, options.iterations, options.passes, options.threads)
    first, second = data.names
    print(f"{options.pair}: {len(train[0])} sentences, pd: {len(train[1])}; dev sets; {options.templates}")
    print(f"method         {first:>8} error red. {second:>8} error red.    CPU s   characters/s")
    report(data, options.only.split(",") if options.only else list(METHODS))
    print(facts())


if __name__ == "__main__":
    main()

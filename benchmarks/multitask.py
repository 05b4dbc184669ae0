"""Two standards at character level: alone, guided, coupled, multi-task; F1 of words with their tags.

python benchmarks/multitask.py --data DIR [--pair zx|udc] [--limit 20000]    # DIR/zx or udc, DIR/pd

In the shape of Tables 5 to 7 of Qiu et al. (2013): error reduction over alone, both directions of one-way
mapping, the paper's learner and ours. All see the same sentences and the same templates.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from duilian.corpus import Corpus, read
from duilian.models import CoupledTagger, GuidedTagger, MultitaskTagger, StandardTagger, Tagger
from measure import facts

PAIRS = {"zx": "ctb", "udc": "gsd"}
TEMPLATES = "segpos-char"
Scores = tuple[float | None, float | None]


def corpora(data: Path, pair: str, limit: int) -> tuple[list[Corpus], list[Corpus]]:
    """Training and dev sentences of both sides."""
    standard = PAIRS[pair]
    names = ("zx/train.wordpos", "zx/dev.wordpos") if pair == "zx" else ("udc/train.conll", "udc/dev.conll")
    column = None if pair == "zx" else "xpos"
    small = [read(str(data / name), standard=standard, column=column) for name in names]
    large = [
        read(str(data / "pd" / f"{part}.txt"), standard="pku", format="slash", cut="sentence")
        for part in ("train", "dev")
    ]
    return [small[0], large[0][:limit]], [small[1], large[1][:1500]]


def f1(tagger: StandardTagger, dev: Corpus) -> float:
    return 100.0 * tagger.score(dev) if isinstance(tagger, Tagger) else _score(tagger, dev)


def _score(tagger: StandardTagger, dev: Corpus) -> float:
    from duilian.evaluation import main_score

    gold = [each[dev.standard] for each in dev]
    return main_score(gold, tagger.predict_layers(gold), is_cut=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pair", choices=PAIRS, default="zx")
    parser.add_argument("--limit", type=int, default=20000, help="sentences of pd")
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--full-from", type=int, default=2)
    parser.add_argument("--only", help="methods between commas")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    train, dev = corpora(options.data, options.pair, options.limit)
    names = [part.standard for part in train]
    shared = {
        "templates": TEMPLATES,
        "full_from": options.full_from,
        "iterations": options.iterations,
        "threads": options.threads,
    }

    def alone() -> Scores:
        found = [
            Tagger(part.standard, level="char", **shared).fit(part, dev=held_out)
            for part, held_out in zip(train, dev, strict=True)
        ]
        return f1(found[0], dev[0]), f1(found[1], dev[1])

    def guided() -> Scores:
        settings = {name: value for name, value in shared.items() if name != "templates"}
        tagger = GuidedTagger(names[0], source_standard=names[1], level="char", **settings)
        return f1(tagger.fit(train[0], source=train[1], dev=dev[0]), dev[0]), None

    def coupled() -> Scores:
        tagger = CoupledTagger(names, level="char", warm=[0.3, 1.0], **shared).fit(train, dev=dev)
        return f1(tagger.of(names[0]), dev[0]), f1(tagger.of(names[1]), dev[1])

    def multitask(**settings: object) -> Callable[[], Scores]:
        def run() -> Scores:
            tagger = MultitaskTagger(names, **{**shared, **settings}).fit(train, dev=dev)
            return f1(tagger.of(names[0]), dev[0]), f1(tagger.of(names[1]), dev[1])

        return run

    methods: dict[str, Callable[[], Scores]] = {
        "alone": alone,
        "multitask": multitask(),
        f"{names[1]}→{names[0]}": multitask(listens="first"),
        f"{names[0]}→{names[1]}": multitask(listens="second"),
        "multitask-pa": multitask(algorithm="pa", rate=0.1),
        "guided": guided,
        "coupled": coupled,
    }
    print(f"{options.pair}: {len(train[0])} sentences, pd: {len(train[1])}; dev sets")
    print(f"method            {names[0]:>8} error red. {names[1]:>8} error red.  seconds")
    base: Scores = (None, None)
    for name, method in methods.items():
        if options.only and name not in options.only.split(","):
            continue
        start = time.perf_counter()
        found = method()
        base = found if name == "alone" else base
        cells = [_cell(score, first) for score, first in zip(found, base, strict=True)]
        print(f"{name:16} {cells[0]} {cells[1]} {time.perf_counter() - start:8.0f}", flush=True)
    print(facts())


def _cell(score: float | None, base: float | None) -> str:
    if score is None:
        return f"{'':8} {'':10}"
    reduction = "" if base is None or base == score else f"{100 * (score - base) / (100 - base):.1f} %"
    return f"{score:8.2f} {reduction:>10}"


if __name__ == "__main__":
    main()

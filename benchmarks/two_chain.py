"""Two coupled chains compared with other models: Tables 3 to 7 of Qiu et al. (2012).

    python benchmarks/two_chain.py --data DIR --task conll2000
    python benchmarks/two_chain.py --data DIR --task zx
    python benchmarks/two_chain.py --data DIR --task pd --limit 5000 --test-limit 1500

conll2000 gives Tables 3, 5 and 7, zx and pd Tables 4, 6 and 7. All models but the CRF have the same learner
(averaged passive-aggressive) and number of iterations. The corpus is split into two random halves (--seed).
Words outside of chunks count as one-word segments, since boundaries alone do not distinguish them; `joint`
and `tagging` of chunks are those of conlleval. Speeds are sentences per CPU second, single-threaded, from
packed sentences to labels, the best of several interleaved rounds.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from duilian.corpus import Layer, read_sentences
from duilian.evaluation import word_score
from duilian.labels.segments import letter_numbers
from duilian.learning import AdaGrad, Learning, PassiveAggressive
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS
from duilian.models import Features, Tagger, TwoChainTagger
from measure import facts

TASKS = {
    "conll2000": ("chunk", "conll2000/train.txt", "conll2000/test.txt", {"format": "columns"}),
    "zx": ("ctb", "zx/train.wordpos", "zx/dev.wordpos", {}),
    "pd": ("pku", "pd/train.txt", "pd/test.txt", {"cut": "sentence"}),
}
RERANKED = 100
ROUNDS = 7
console = Console(width=110)


@dataclasses.dataclass(frozen=True)
class Task:
    """The sentences, and the settings of all models."""

    name: str
    standard: str
    train: list[Layer]
    test: list[Layer]
    options: argparse.Namespace

    @property
    def is_chunks(self) -> bool:
        return self.name == "conll2000"

    def two_chains(self, **settings: object) -> TwoChainTagger:
        o = self.options
        return TwoChainTagger(
            self.standard,
            level="word" if self.is_chunks else "char",
            cost=o.cost,
            features=Features(full_from=o.full_from),
            learning=PassiveAggressive(iterations=o.iterations, aggressiveness=o.rate, seed=o.seed),
            **settings,  # type: ignore[arg-type]
        )

    def cross_label(self, learning: Learning) -> Tagger:
        o = self.options
        templates, level = ("chunk", "word") if self.is_chunks else ("segpos-char-plain", "char")
        return Tagger(
            self.standard,
            level=level,  # type: ignore[arg-type]
            features=Features(templates=templates, full_from=o.full_from),
            learning=learning,
        )


def read_task(options: argparse.Namespace) -> Task:
    standard, train, test, reading = TASKS[options.task]

    def layers(name: str, limit: int | None) -> list[Layer]:
        found = read_sentences(Path(options.data) / name, standard=standard, **reading)  # type: ignore[arg-type]
        return [sentence[standard] for sentence in islice(found, limit)]

    task = Task(
        options.task, standard, layers(train, options.limit), layers(test, options.test_limit), options
    )
    random.Random(options.seed).shuffle(task.train)
    return task


def trained(what: str, fit: Callable[[], object]) -> None:
    start = time.process_time()
    fit()
    console.print(f"[dim]{what}: {time.process_time() - start:.0f} CPU s[/dim]")


def boundary_labels(layers: Sequence[Layer], model: TwoChainTagger) -> list[Layer]:
    """Return chunk labels with B, I, E and S for a cross-label model."""
    segmented = model.encoding_.segment(layers, is_given=False)
    names, out = model.encoding_.kinds, []
    for layer, sizes, tags in zip(layers, segmented.sizes, segmented.tags, strict=True):
        labels: list[str] = []
        for size, tag in zip(sizes, tags, strict=True):
            letters = "S" if size == 1 else "B" + "I" * (size - 2) + "E"
            labels += ["O"] if names[tag] == "O" else [f"{letter}-{names[tag]}" for letter in letters]
        out.append(dataclasses.replace(layer, tags=tuple(labels)))
    return out


@dataclasses.dataclass
class Scores:
    """Return one row of Tables 5 and 6."""

    segments: float | None = None
    segments_joint: float | None = None
    joint: float | None = None
    tagging: float | None = None

    def cells(self) -> list[str]:
        return ["-" if value is None else f"{value:.2f}" for value in dataclasses.astuple(self)]


def segment_f1(model: TwoChainTagger, gold: Sequence[Layer], guess: Sequence[Layer]) -> float:
    sides = [[model.segments_of(layer).words for layer in side] for side in (gold, guess)]
    return word_score(*sides).f1


def three_modes(model: TwoChainTagger, test: Sequence[Layer]) -> Scores:
    joint = model.predict_layers(test)
    score = model.encoding_.score
    return Scores(
        segment_f1(model, test, model.of("segment").predict_layers(test)),
        segment_f1(model, test, joint),
        score(test, joint),
        score(test, model.of("tag").predict_layers(test)),
    )


def cross_label_scores(tagger: Tagger, like: TwoChainTagger, test: Sequence[Layer]) -> Scores:
    joint = tagger.predict_layers(test)
    return Scores(None, segment_f1(like, test, joint), like.encoding_.score(test, joint), None)


def pipeline(segmenter: TwoChainTagger, tagger: TwoChainTagger, test: Sequence[Layer]) -> list[Layer]:
    return tagger.of("tag").predict_layers(segmenter.of("segment").predict_layers(test))


def reranked(segmenter: TwoChainTagger, tagger: TwoChainTagger, test: Sequence[Layer]) -> list[Layer]:
    """Choose the k-best segmentation that scores best with segmenter and tagger combined."""
    out = []
    for layer in test:
        found = segmenter.of("segment").k_best(layer, RERANKED)
        words = [Layer(answer.analysis.words) for answer in found]
        tagged = tagger.of("tag").predict_layers(words)
        segmented = tagger.encoding_.segment(tagged, is_given=False)
        packed = tagger.predictor_.packer.pack(segmented.units, tagged)
        best, score = tagged[0], -np.inf
        for k, (answer, sizes, tags) in enumerate(zip(found, segmented.sizes, segmented.tags, strict=True)):
            letters = letter_numbers(tagger.encoding_.scheme, [sizes])
            by_unit = np.repeat(np.array(tags, np.int32), sizes)
            total = answer.score + tagger.predictor_.native.path_score(packed, k, letters, by_unit)
            if total > score:
                best, score = tagged[k], total
        out.append(best)
    return out


def speeds(task: Task, model: TwoChainTagger, cross: Tagger) -> dict[str, float]:
    """Measure sentences per second of each mode."""
    units = [model.encoding_.split(layer.words)[0] for layer in task.test]
    packed = model.predictor_.packer.pack(units, task.test)
    given = letter_numbers(model.encoding_.scheme, model.encoding_.segment(task.test, is_given=True).sizes)
    nothing = np.zeros(0, np.int32)
    segment, joint, tag = model.of("segment"), model.of("joint"), model.of("tag")
    work: dict[str, Callable[[], object]] = {
        "cross-label joint": lambda: cross.predictor_.native.predict(packed, NO_CONSTRAINTS, 1),
        "segment": lambda: segment.label(packed, nothing),
        "joint": lambda: joint.label(packed, nothing),
        "tagging": lambda: tag.label(packed, given),
    }
    best = dict.fromkeys(work, np.inf)
    for _ in range(ROUNDS):
        for name, run in work.items():
            start = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - start)
    return {name: len(task.test) / seconds for name, seconds in best.items()}


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for name in head:
        table.add_column(name, justify="left" if name in ("method", "model") else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def run(task: Task) -> None:
    half = len(task.train) // 2
    first, second = task.train[:half], task.train[half:]
    full = task.two_chains()
    trained("two-chain, all", lambda: full.fit(task.train))
    test = task.test

    relabel = (lambda layers: boundary_labels(layers, full)) if task.is_chunks else list
    o = task.options
    steps = PassiveAggressive(iterations=o.iterations, aggressiveness=o.cross_rate, seed=o.seed)
    cross, cross_half = task.cross_label(steps), task.cross_label(steps)
    crf = task.cross_label(AdaGrad(iterations=10, seed=o.seed))
    trained("cross-label, all", lambda: cross.fit(relabel(task.train)))
    trained("cross-label, half", lambda: cross_half.fit(relabel(first)))
    trained("cross-label CRF", lambda: crf.fit(relabel(task.train)))
    factorial = task.two_chains(edge=False)
    trained("factorial", lambda: factorial.fit(task.train))
    on_half, with_segments = task.two_chains(), task.two_chains()
    trained("two-chain, half", lambda: on_half.fit(first))
    trained("two-chain, half and half as segments", lambda: with_segments.fit(first, segmented=second))

    cross_scores = cross_label_scores(cross, full, test)
    full_scores = three_modes(full, test)
    rows = [
        ["cross-label CRF", f"{cross_label_scores(crf, full, test).joint:.2f}"],
        ["cross-label", f"{cross_scores.joint:.2f}"],
        ["factorial", f"{three_modes(factorial, test).joint:.2f}"],
        ["two-chain", f"{full_scores.joint:.2f}"],
    ]
    if not task.is_chunks:
        segmenter, tagger = task.two_chains(modes=("segment",)), task.two_chains(modes=("tag",))
        trained("segmenter alone", lambda: segmenter.fit(task.train))
        trained("tagger alone", lambda: tagger.fit(task.train))
        score = full.encoding_.score
        rows[:0] = [
            ["pipeline", f"{score(test, pipeline(segmenter, tagger, test)):.2f}"],
            [f"{RERANKED}-best reranking", f"{score(test, reranked(segmenter, tagger, test)):.2f}"],
        ]
    show(f"Table {3 if task.is_chunks else 4}: {task.name}", ["method", "F1"], rows)
    head = ["model", "corpus 1", "corpus 2", "segments", "segments (joint)", "joint", "tagging"]
    listed = [
        ["cross-label", "used", "-", *cross_label_scores(cross_half, full, test).cells()],
        ["cross-label", "used", "used", *cross_scores.cells()],
        ["two-chain", "used", "-", *three_modes(on_half, test).cells()],
        ["two-chain", "used", "used", *full_scores.cells()],
        ["two-chain", "used", "as segments", *three_modes(with_segments, test).cells()],
    ]
    show(f"Table {5 if task.is_chunks else 6}: {task.name}", head, listed)
    found = speeds(task, full, cross)
    ratio = f"{found['segment'] / found['joint']:.1f} x joint"
    show(
        f"Table 7: {task.name}, sentences/s",
        ["model", "segment", "joint", "tagging", ""],
        [
            ["cross-label", "-", f"{found['cross-label joint']:,.0f}", "-", ""],
            ["two-chain", *(f"{found[name]:,.0f}" for name in ("segment", "joint", "tagging")), ratio],
        ],
    )
    console.print(
        f"{facts()}; {len(task.train):,} and {len(test):,} sentences, "
        f"{task.options.iterations} iterations, seed {task.options.seed}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="folder of the corpora")
    parser.add_argument("--task", choices=TASKS, default="conll2000")
    parser.add_argument("--limit", type=int, help="number of training sentences")
    parser.add_argument("--test-limit", type=int, help="number of test sentences")
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--rate", type=float, default=0.01, help="maximum step of the two-chain model")
    parser.add_argument(
        "--cross-rate", type=float, default=0.01, help="maximum step of the cross-label model"
    )
    parser.add_argument("--cost", choices=["once", "label"], default="label")
    parser.add_argument("--full-from", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    run(read_task(parser.parse_args()))


if __name__ == "__main__":
    main()

"""Segmentation of raw text: Duilian trained on a task, compared with jieba out of the box.

    cd benchmarks && python -m peers.jieba --data DIR

Only speeds are comparable: jieba has its own dictionary and definition of words, and is not trained.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

import jieba  # type: ignore[import-untyped,import-not-found,unused-ignore]

from duilian.corpus import Layer
from duilian.evaluation import word_score
from duilian.models.crf.model import Tagger
from measure import Row, show
from peers.tasks import TASKS, load_split
from peers.watch import Watch

COPIES = 8


def speed(watch: Watch, name: str, text: Sequence[str]) -> float:
    """Return thousands of characters per CPU second."""
    return sum(map(len, text)) / watch.cpu[name] / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--task", choices=["zx", "udc"], default="zx")
    parser.add_argument("--plot")
    options = parser.parse_args()
    task = TASKS[options.task]
    split = load_split(task, options.data)
    tagger = Tagger(task.standard, level="char", segment_only=True).fit(split.train, dev=split.dev)
    text = [layer.text for layer in split.dev] * COPIES
    jieba.setLogLevel(logging.WARNING)
    watch = Watch()
    with watch.part("load"):
        jieba.initialize()
    with watch.part("jieba"):
        theirs = [jieba.lcut(line) for line in text]
    with watch.part("duilian"):
        ours = [layer.words for layer in tagger.predict_layers([Layer((line,)) for line in text])]
    gold = [layer.words for layer in split.dev]
    rows: list[Row] = []
    for name, guess in (("duilian", ours), ("jieba", theirs)):
        f1 = word_score(gold, guess[: len(gold)]).f1
        rows.append((name, speed(watch, name, text), f"F1 of words {f1:.2f}"))
    show(f"Segmentation, {task.title}", "1000 characters/s", rows, options.plot)


if __name__ == "__main__":
    main()

"""Duilian's plain tagger; its training time includes evaluation on the dev set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duilian.features import pack
from duilian.learning import AdaGrad, Session
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS
from duilian.models import Features, Tagger
from peers.tasks import Split, Task, read_rows
from peers.watch import Watch


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Write the model and return the curve [CPU seconds, dev accuracy] after each iteration.

    `settings` are `threads` and those of `AdaGrad`.
    """
    learning = AdaGrad(**{name: value for name, value in settings.items() if name != "threads"})
    tagger = Tagger(task.standard, features=Features(templates=task.templates), learning=learning)
    curve: list[tuple[float, float]] = []
    start = time.process_time()
    session = Session(
        threads=settings.get("threads", 1),
        on_iteration=lambda report: curve.append((time.process_time() - start, report.score or 0.0)),
    )
    with watch.part("train"):
        tagger.fit(split.train, dev=split.dev, session=session)
    # As in the word-level recipes: drop the smallest weights and store the rest in 16 bits.
    tagger.trim(0.02).save(model, precision="float16")
    return {"curve": curve, "iterations": tagger.iterations_}


def tag(task: Task, model: Path, source: Path, target: Path, watch: Watch) -> None:
    """Tag from file to file, then run the native part again on packed input."""
    with watch.part("load"):
        tagger = Tagger.load(model)
    with watch.part("file"):
        text = source.read_bytes()
        has_columns = bool(tagger.templates_.columns)
        predictor = tagger.predictor_
        tagged = predictor.tag_rows(text, ("word", "pos")) if has_columns else predictor.tag_lines(text)
        target.write_bytes(tagged)
    sentences, names = read_rows(source), tagger.templates_.columns
    columns = [{name: layer.columns[name] for name in names} for layer in sentences] if names else None
    packed = pack([layer.words for layer in sentences], predictor.packer.folding, columns)
    with watch.part("ready"):
        predictor.native.predict(packed, NO_CONSTRAINTS, 1)

"""Duilian's plain tagger; its training time includes evaluation on the dev set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from duilian.features import pack
from duilian.models.base.feature_settings import Features
from duilian.models.crf.model import NO_CONSTRAINTS, Tagger
from peers.tasks import Split, Task, read_rows
from peers.watch import Watch


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Write the model and return the curve [CPU seconds, dev accuracy] after each iteration."""
    tagger = Tagger(task.standard, **settings, features=Features(templates=task.templates))
    curve: list[tuple[float, float]] = []
    start = time.process_time()
    with watch.part("train"):
        tagger.fit(
            split.train,
            dev=split.dev,
            on_iteration=lambda report: curve.append((time.process_time() - start, report.score or 0.0)),
        )
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
        target.write_bytes(tagger.tag_rows(text, ("word", "pos")) if has_columns else tagger.tag_lines(text))
    sentences, names = read_rows(source), tagger.templates_.columns
    columns = [{name: layer.columns[name] for name in names} for layer in sentences] if names else None
    packed = pack([layer.words for layer in sentences], tagger.folding_, columns)
    with watch.part("ready"):
        tagger.predictor_.predict(packed, NO_CONSTRAINTS, 1)

"""CRFsuite (Okazaki 2007) through python-crfsuite, with exactly the features of the same templates.

A sentence's attributes are discarded once CRFsuite has its own copy, so that Python strings do not count as
CRFsuite's memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pycrfsuite  # type: ignore[import-untyped,import-not-found,unused-ignore]

from duilian.corpus import Layer
from duilian.features import Templates
from duilian.text import Folding
from peers.tasks import Split, Task, gold_tags, read_rows, write_tags
from peers.watch import Watch

DEV_GROUP = 1


class Attributes:
    """Return the features of a sentence as strings, folded as in Duilian."""

    def __init__(self, name: str) -> None:
        self.templates = Templates.load(name)
        self.folding = Folding()

    def __call__(self, layer: Layer) -> list[list[str]]:
        columns = {name: layer.columns[name] for name in self.templates.columns}
        return self.templates.describe(layer.words, columns, self.folding)


class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """Records CPU seconds of training and dev accuracy in percent after each iteration."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        others = {name: value for name, value in settings.items() if name != "algorithm"}
        super().__init__(algorithm=settings["algorithm"], params=others, verbose=False)
        self.curve: list[tuple[float, float]] = []

    def message(self, message: str) -> None:
        """Handle a line of CRFsuite's log."""
        if self.logparser.feed(message) == "iteration":
            found = self.logparser.last_iteration["item_accuracy_float"]
            self.curve.append((time.process_time(), 100.0 * found))


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Write the model and return the same curve as Duilian. `settings` are CRFsuite's, and `algorithm`."""
    trainer, attributes = Trainer(settings), Attributes(task.templates)
    for group, layers in enumerate((split.train, split.dev)):
        for layer, tags in zip(layers, gold_tags(layers), strict=True):
            with watch.part("attributes"):
                found = attributes(layer)
            with watch.part("append"):
                trainer.append(found, tags, group)
    start = time.process_time() - sum(watch.cpu.values())
    with watch.part("train"):
        trainer.train(str(model), holdout=DEV_GROUP)
    curve = [(seconds - start, score) for seconds, score in trainer.curve]
    return {"curve": curve, "iterations": int(trainer.logparser.last_iteration["num"])}


def tag(task: Task, model: Path, source: Path, target: Path, watch: Watch) -> None:
    """Tag from file to file, then again with CRFsuite's item sequences prepared."""
    with watch.part("load"):
        tagger = pycrfsuite.Tagger()
        tagger.open(str(model))
        attributes = Attributes(task.templates)
    with watch.part("file"):
        sentences = read_rows(source)
        write_tags((tagger.tag(attributes(layer)) for layer in sentences), target)
    for layer in sentences:
        items = pycrfsuite.ItemSequence(attributes(layer))
        with watch.part("ready"):
            tagger.tag(items)

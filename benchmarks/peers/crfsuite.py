"""CRFsuite (Okazaki 2007) through python-crfsuite, with exactly the features of the same templates.

A sentence's attributes are thrown away once CRFsuite has its own copy, so that Python's strings do not
count as CRFsuite's memory.
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
    """The features of a sentence as strings, folded as Duilian folds them."""

    def __init__(self, name: str) -> None:
        self.templates = Templates.load(name)
        self.folding = Folding()

    def __call__(self, layer: Layer) -> list[list[str]]:
        columns = {name: layer.columns[name] for name in self.templates.columns}
        return self.templates.describe(layer.words, columns, self.folding)


class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """Notes after each iteration the CPU seconds of training so far and the dev accuracy in percent."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        others = {name: value for name, value in settings.items() if name != "algorithm"}
        super().__init__(algorithm=settings["algorithm"], params=others, verbose=False)
        self.curve: list[tuple[float, float]] = []

    def message(self, message: str) -> None:
        """CRFsuite calls this with every line of its log."""
        if self.logparser.feed(message) == "iteration":
            found = self.logparser.last_iteration["item_accuracy_float"]
            self.curve.append((time.process_time(), 100.0 * found))


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Writes the model, with the curve that Duilian has. `settings` are CRFsuite's own, and `algorithm`."""
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
    """Words in a file to tags in a file; then once more with CRFsuite's own item sequences ready."""
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

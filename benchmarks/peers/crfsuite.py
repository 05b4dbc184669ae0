"""CRFsuite (Okazaki 2007) through python-crfsuite, with exactly the features of the same templates.

A sentence's attributes are thrown away once CRFsuite has its own copy, so that Python's strings do not
count as CRFsuite's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pycrfsuite  # type: ignore[import-untyped,import-not-found,unused-ignore]

from duilian.corpus import Layer
from duilian.features import Templates
from duilian.text import Folding
from peers.tasks import Split, Task, gold_tags, read_rows, write_tags
from peers.watch import Watch


class Attributes:
    """The features of a sentence as strings, folded as Duilian folds them."""

    def __init__(self, name: str) -> None:
        self.templates = Templates.load(name)
        self.folding = Folding()

    def __call__(self, layer: Layer) -> list[list[str]]:
        columns = {name: layer.columns[name] for name in self.templates.columns}
        return self.templates.describe(layer.words, columns, self.folding)


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Writes the model. `settings` are CRFsuite's own, and `algorithm`."""
    settings = dict(settings)
    trainer = pycrfsuite.Trainer(algorithm=settings.pop("algorithm"), params=settings, verbose=False)
    attributes = Attributes(task.templates)
    for layer, tags in zip(split.train, gold_tags(split.train), strict=True):
        with watch.part("attributes"):
            found = attributes(layer)
        with watch.part("append"):
            trainer.append(found, tags)
    with watch.part("train"):
        trainer.train(str(model))
    return {"iterations": int(trainer.logparser.last_iteration["num"])}


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

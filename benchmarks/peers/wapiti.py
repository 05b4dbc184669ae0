"""Wapiti (Lavergne et al. 2010) through the PyPI package libwapiti, with the features of the same templates.

Without patterns, Wapiti takes the fields of a row as features: `u…` for a label, `b` for a pair of labels. It
has a weight for every feature and label, CRFsuite only for pairs seen in training. Wapiti's sgd-l1 needs
patterns (without them it writes past its arrays), so only the batch methods are measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wapiti import Model  # type: ignore[import-untyped,import-not-found,unused-ignore]

from peers.crfsuite import Attributes
from peers.tasks import Split, Task, gold_tags, read_rows, write_tags
from peers.watch import Watch


def train(task: Task, split: Split, model: Path, settings: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Write the model. `settings` are Wapiti's."""
    trainer = Model(nthread=1, **settings)
    attributes = Attributes(task.templates)
    for layer, tags in zip(split.train, gold_tags(split.train), strict=True):
        with watch.part("attributes"):
            found = attributes(layer)
        with watch.part("append"):
            trainer.add_training_sequence(_rows(found, tags))
    with watch.part("train"):
        trainer.train()
    trainer.save(str(model))
    return {"iterations": settings["maxiter"]}


def tag(task: Task, model: Path, source: Path, target: Path, watch: Watch) -> None:
    """Tag from file to file, then again with the rows prepared."""
    with watch.part("load"):
        tagger = Model(model=str(model), nthread=1)
        attributes = Attributes(task.templates)
    with watch.part("file"):
        sentences = read_rows(source)
        answers = (tagger.label_sequence(_rows(attributes(layer))) for layer in sentences)
        write_tags((answer.decode("utf-8").split() for answer in answers), target)
    for layer in sentences:
        rows = _rows(attributes(layer))
        with watch.part("ready"):
            tagger.label_sequence(rows)


def _rows(found: Sequence[Sequence[str]], tags: Sequence[str] | None = None) -> str:
    # White space separates fields, but attributes contain it.
    rows = [" ".join(["b", *["u" + name.replace(" ", "\x1f") for name in names]]) for names in found]
    if tags is None:
        return "\n".join(rows)
    return "\n".join(f"{row} {tag}" for row, tag in zip(rows, tags, strict=True))

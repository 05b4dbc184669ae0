"""Dev sets of a coupled tagger in training: the score of each side, and what pruning keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.evaluation import main_score
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch
from duilian.learning import Scores
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.predictor import tagging_pruning
from duilian.models.coupled.sides import Sides


class DevLayers(NamedTuple):
    """The dev sentences of a side, and the guide's annotation of them, if there is any."""

    layers: list[Layer]
    given: list[Layer] | None


@dataclasses.dataclass(frozen=True)
class DevSet:
    """The dev sentences of a side with their features."""

    side: int
    layers: list[Layer]
    units: UnitBatch
    rows: _native.FeatureRows
    candidates: list[_native.TagSets]  # if they are pruned in advance
    allowed: list[_native.TagSets]  # labels given by the guide, if any
    gold: npt.NDArray[np.int32]  # [units]; -1 where the model does not have the gold label


@dataclasses.dataclass(frozen=True)
class DevEvaluator:
    """Finds the score of each side, how often gold is among its candidates, and their number per unit."""

    config: CoupledConfig
    sides: Sides
    layout: _native.CoupledLayout
    dev_sets: Sequence[DevSet]
    threads: int

    def __call__(self, weights: npt.NDArray[np.float32]) -> Scores:
        scores, details = [], {}
        for dev in self.dev_sets:
            found = self._tag(weights, dev)
            meaning, labels = self.sides.encodings[dev.side].meaning, found.label(dev.side)
            guess = Segmentation.from_labels(meaning, dev.units, labels, None).layers()
            scores.append(main_score(dev.layers, guess, is_cut=self.config.level == "char"))
            name = self.sides.standards[dev.side]
            details[name] = scores[-1]
            oracle, size = _oracle(found.candidates(dev.side), dev.gold)
            details[f"{name} oracle"], details[f"{name} candidates"] = oracle, size
        return Scores(tuple(scores), details)

    def _tag(self, weights: npt.NDArray[np.float32], dev: DevSet) -> _native.CoupledAnswers:
        return _native.tag_coupled(
            self.layout,
            weights,
            dev.rows,
            dev.units.sentence,
            dev.candidates,
            dev.allowed,
            tagging_pruning(self.config),
            _native.Decoding[self.config.decoding],
            self.config.pruning.native_gap,
            True,
            self.threads,
        )


def _oracle(candidates: _native.TagSets, gold: npt.NDArray[np.int32]) -> tuple[float, float]:
    """How often gold is among the candidates, in percent, and how many there are per unit."""
    if not len(gold):
        return 100.0, 0.0
    sizes = np.diff(candidates.first)
    is_gold = np.append(candidates.tags == np.repeat(gold, sizes), False)
    hits = np.add.reduceat(is_gold, candidates.first[:-1])
    return 100.0 * float(np.mean(hits > 0)), float(np.mean(sizes))

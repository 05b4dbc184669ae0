"""From scores to probabilities: the scale under which the labels of a dev set are most probable.

Passive-aggressive learning makes gold win by a margin, in no particular unit, so e^score says little about
probability; e^(scale · score) does. The scale must come from sentences that were not learned from: without a
dev set it stays 1, and probabilities only rank answers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.errors import StandardError

SAMPLE = 300  # sentences; they are enough for one number
WIDEST = 12  # the scale is at most 2^12
HALVINGS = 5  # of the step in the exponent: the scale is right to about 2 %


def calibration_sample(layers: Sequence[Layer], encode: Callable[[list[Layer]], Any]) -> list[Layer]:
    """Some tagged sentences, evenly spaced, without those that have tags unknown to `encode`."""
    found = []
    for layer in layers[:: max(1, len(layers) // SAMPLE)]:
        if not any(isinstance(tag, str) for tag in layer.tags or ()):
            continue
        try:
            encode([layer])
        except StandardError:
            continue
        found.append(layer)
    return found


def label_loss(p: npt.NDArray[np.float64], label: npt.NDArray[np.integer]) -> float:
    """Mean -log p of the labels, given all probabilities [units, labels]; -1 is an unknown label."""
    known = np.flatnonzero(label >= 0)
    return float(-np.log(np.maximum(p[known, label[known]], 1e-300)).mean()) if len(known) else 0.0


def fit_scale(loss: Callable[[float], float]) -> float:
    """Find the scale with the smallest loss, by doubling or halving, then in ever smaller steps."""

    @functools.cache
    def at(power: float) -> float:
        return loss(math.exp2(power))

    best, way = 0.0, 1.0 if at(1.0) < at(0.0) else -1.0
    while abs(best) < WIDEST and at(best + way) < at(best):
        best += way
    for k in range(1, HALVINGS + 1):
        best = min(best, best - 0.5**k, best + 0.5**k, key=at)
    return math.exp2(best)

"""A toy treebank, and parsers small enough to learn it at once."""

from __future__ import annotations

import numpy as np

from tree.treebank import treebank

TRAIN, DEV = treebank(80, 1), treebank(30, 2)
SMALL = {
    "bits": 16,
    "relation_bits": 14,
    "pruning_bits": 14,
    "pruning_iterations": 2,
    "iterations": 3,
    "margin": 5.0,
    "relation_margin": 5.0,
    "guess_iterations": 1,
}
NO_TREES = np.zeros(0, np.uint8), np.zeros(0, np.int32)  # no arcs pruned, no trees guessed

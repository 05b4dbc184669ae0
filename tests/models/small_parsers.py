"""A toy treebank, and parsers small enough to learn it at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from duilian.learning import Perceptron, Session
from duilian.models.parser.config import ArcPruning, ParserConfig, RelationSearch, TreeSearch
from duilian.models.parser.training import ParserTrainer
from duilian.models.parser.tree_packing import TreePacker
from duilian.models.parser.treebank import Treebank
from tree.treebank import treebank

TRAIN, DEV = treebank(80, 1), treebank(30, 2)
SMALL: dict[str, Any] = {
    "trees": TreeSearch(bits=16, head_cost=5.0),
    "relations": RelationSearch(bits=14, relation_cost=5.0, guess_iterations=1),
    "pruning": ArcPruning(bits=14, iterations=2),
    "learning": Perceptron(iterations=3),
}
NO_TREES = np.zeros(0, np.uint8), np.zeros(0, np.int32)  # no arcs pruned, no trees guessed


def small(**changes: Any) -> ParserConfig:
    """Settings of a small parser, with changes: `small(order=1, trees={"head_cost": 0.0})`."""
    return ParserConfig(standard="ctb", **SMALL).updated(changes)


def packed(config: ParserConfig, treebank: Treebank) -> TreePacker:
    """What a run of training has of these trees."""
    return ParserTrainer(config, Session()).packer(treebank)

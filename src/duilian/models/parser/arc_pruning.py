"""Training the pruning model, which decides which arcs to try: log likelihood of trees at order 1."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.learning import AdaGrad, AdaGradRule, Session, Trainer, jackknifed
from duilian.models.parser.tree_packing import TreePacker, Weights

RATE = 0.05  # a model that learns faster is too sure of itself, and prunes gold heads
BATCH = 8
FOLDS = 4


@dataclasses.dataclass(frozen=True, eq=False)
class LearnedPruning:
    """Weights of the pruning model, and the arcs of training sentences that survive it (empty: all)."""

    weights: Weights
    allowed: npt.NDArray[np.uint8]


def learn_pruning(packer: TreePacker, layers: Sequence[Layer], session: Session) -> LearnedPruning:
    """Learn the pruning model for new text, and prune the training sentences.

    Models that have not seen the training sentences prune them (jack-knifing). Otherwise fewer arcs would
    survive there than in new text, and the parser would learn to choose between too few.
    """
    threads, share, everything = session.threads, packer.config.min_share, np.zeros(0, np.uint8)
    if share <= 0:
        return LearnedPruning(np.zeros(packer.native.pruning_weights, np.float32), everything)
    weights = pruning_weights(packer, layers, threads)
    if len(layers) < 2:
        return LearnedPruning(weights, everything)

    def allowed(train: list[Layer], held_out: list[Layer]) -> npt.NDArray[np.uint8]:
        data = packer.data(held_out)
        return packer.native.allowed_arcs(pruning_weights(packer, train, threads), data, share, threads)

    folds = min(FOLDS, len(layers))
    return LearnedPruning(weights, np.concatenate(jackknifed(layers, folds, allowed, session, "pruning")))


def pruning_weights(packer: TreePacker, layers: Sequence[Layer], threads: int) -> Weights:
    """Weights of a pruning model for these sentences."""
    many, seed, size = len(layers), packer.config.learning.seed, packer.native.pruning_weights
    iterations = packer.config.pruning.iterations
    learning = AdaGrad(rate=RATE, batch=BATCH, iterations=iterations, seed=seed, average=True)
    objective = _native.PruningObjective(packer.native, packer.data(layers))
    # A stream of random numbers other than the parser's.
    streams = iter([np.random.default_rng([seed, iteration, 1]) for iteration in range(iterations)])
    trainer = Trainer(
        AdaGradRule(objective, learning, threads),
        size,
        many,
        learning,
        draw=lambda _: next(streams).permutation(many).astype(np.int64),
    )
    trainer.run_kept(None, str, Session())
    return trainer.best

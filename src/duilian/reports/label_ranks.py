"""How sure pruning is: the mean probability of the k-th best label (Li et al. 2016, Figure 3).

Online pruning uses the model's own separate features. These have also learned from sentences of other
standards, in which every label was right, so they spread probability over more labels than the baseline
taggers of offline pruning do.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.corpus import Corpus
from duilian.models.offers import OffersPruningProbabilities

MAX_RANKS = 16  # the largest r of the paper


@dataclasses.dataclass(frozen=True)
class LabelRanks:
    """Means over the words or characters of a corpus."""

    pruning: str  # online, offline or mixed
    probability: tuple[float, ...]  # of the best label, the second best, …; from 0 to 1
    entropy: float  # in nats

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: probabilities by rank, from 1."""
        by_rank = {str(k): p for k, p in enumerate(self.probability, 1)}
        return {"pruning": self.pruning, "probability": by_rank, "entropy": self.entropy}


def label_ranks(p: npt.NDArray[np.float64], pruning: str) -> LabelRanks:
    """Rank the labels of each unit by their probabilities, [units, labels].

    >>> label_ranks(np.array([[0.25, 0.75], [0.0, 1.0]]), "online").probability
    (0.875, 0.125)
    """
    ranked = np.sort(p, axis=1)[:, ::-1][:, :MAX_RANKS]
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    entropy = -(p * logs).sum(axis=1)
    return LabelRanks(pruning, tuple(ranked.mean(axis=0).tolist()), float(entropy.mean()))


def measure_label_ranks(model: Any, corpus: Corpus, standard: str, *, threads: int = 1) -> LabelRanks | None:
    """Measure the pruning of a model on sentences; None if the model does not prune labels."""
    if not isinstance(model, OffersPruningProbabilities) or not any(len(each[standard]) for each in corpus):
        return None
    layers = [sentence[standard] for sentence in corpus]
    return label_ranks(model.pruning_probabilities(layers, standard, threads=threads), model.pruning_kind)

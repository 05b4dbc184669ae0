"""Coupled models with random weights over sentences of words, in training and compiled."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import numpy as np
from coupled_cases import Case, Pruning, Sets, lay_out, no_sets, random_case, random_weights, tag_sets

from duilian import _native
from duilian.features import Templates, pack
from duilian.text import Folding

TEMPLATES = Templates("w[0]\nw[-1]\nw[0] w[1]\n", name="test")
FOLDING = Folding()
ALL = np.zeros(0, np.uint8)  # all features
WORDS = "天地玄黄宇"
Bonus = dict[tuple[int, int], float]
"""unit, label → score"""


@dataclasses.dataclass
class Trained:
    """Random weights for sentences of words, and the same compiled."""

    case: Case
    words: list[list[str]]  # by sentence
    layout: _native.CoupledLayout
    weights: np.ndarray
    keys: np.ndarray
    sentences: _native.Sentences
    rows: _native.FeatureRows
    pruner: list[np.ndarray]

    @property
    def first(self) -> np.ndarray:
        return np.array(self.case.first)

    def compiled(self, least: float = 0.0) -> _native.CoupledWeights:
        return _native.compile_coupled(self.layout, [self.weights], self.pruner, self.keys, least, ALL)[0]

    def predictor(
        self,
        pruning: Pruning,
        decoding: _native.Decoding,
        least: float = 0.0,
        margin: float = np.inf,
    ) -> _native.CoupledPredictor:
        return _native.CoupledPredictor(
            self.layout.shape,
            self.compiled(least),
            TEMPLATES.native,
            FOLDING.native,
            pruning.native,
            decoding,
            margin,
        )

    def tagged(
        self,
        pruning: Pruning,
        decoding: _native.Decoding,
        allowed: Sequence[_native.TagSets] = (),
        margin: float = np.inf,
    ) -> _native.CoupledAnswers:
        """The same from the weights in training; the pruner's candidates found beforehand."""
        candidates = [
            _native.tag_candidates(self.layout.side(k), weights, self.rows, self.first, pruning.native, 1)
            if len(weights)
            else no_sets()
            for k, weights in enumerate(self.pruner)
        ]
        return _native.tag_coupled(
            self.layout,
            self.weights,
            self.rows,
            self.first,
            candidates,
            list(allowed),
            pruning.native,
            decoding,
            margin,
            True,
            1,
        )


def random_trained(seed: int, sides: int = 2, rules: str = "free", *, pruned: Sequence[int] = ()) -> Trained:
    """A case with random weights; the sides in `pruned` have a pruner."""
    case = random_case(seed, sides=sides, rules=rules)
    rng = random.Random(seed)
    words = [[rng.choice(WORDS) for _ in range(b - a)] for a, b in itertools.pairwise(case.first)]
    packed = pack(words, FOLDING)
    keys = _native.count_keys(TEMPLATES.native, packed, 1)
    rows = _native.extract_rows(TEMPLATES.native, packed, _native.FeatureIndex(keys), 1)
    case.features = [rows.rows[a:b].tolist() for a, b in itertools.pairwise(rows.first.tolist())]
    layout = lay_out(case, row_count=len(keys))
    weights = random_weights(seed, layout.weights)
    weights[random_weights(seed + 1, layout.weights) > 0.5] = 0.0  # as many weights in training are
    nothing = np.zeros(0, np.float32)
    pruner = [
        random_weights(seed + 2 + k, layout.side(k).weights) if k in pruned else nothing for k in range(sides)
    ]
    return Trained(case, words, layout, weights, keys, packed, rows, pruner if pruned else [])


def constraints(allowed: Sets, bonus: Bonus) -> _native.Constraints:
    places = sorted(bonus)
    return _native.Constraints(
        tag_sets(allowed) if any(allowed) else no_sets(),
        np.array([unit for unit, _ in places], np.int64),
        np.array([label for _, label in places], np.int32),
        np.array([bonus[place] for place in places], np.float32),
    )


def on_side(sides: int, side: int, own: _native.Constraints) -> list[_native.Constraints]:
    """Constraints for one side, and none for the others."""
    return [own if k == side else constraints([], {}) for k in range(sides)]

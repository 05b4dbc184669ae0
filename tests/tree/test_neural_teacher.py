"""The neural teacher's trees against all projective trees of short sentences."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.trees import projective_trees
from scripts import load_script


@pytest.mark.parametrize("length", range(1, 6))
def test_the_best_trees_are_the_best_of_all(length: int) -> None:
    pytest.importorskip("torch")
    best_trees = load_script("tools/neural_network.py").best_trees
    scores = np.random.default_rng(length).normal(size=(20, length + 1, length + 1))

    def score(sentence: int, heads: tuple[int, ...]) -> float:
        return sum(float(scores[sentence, word, head]) for word, head in enumerate(heads, 1))

    for sentence, found in enumerate(best_trees(scores)):
        best = max(projective_trees(length, single_root=True), key=lambda heads: score(sentence, heads))
        assert tuple(found[1:]) == best

"""Tags and tree in one search against all taggings of all trees, with random scores, for every order."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from duilian import _native
from oracle.trees import BruteForceTrees, Part

Key = tuple[str, tuple[int | None, ...]]


class RandomParts:
    """A random score for every part of a sentence whose words have so many tags, by words and by nodes."""

    def __init__(self, rng: random.Random, counts: list[int]) -> None:
        self.counts = counts
        self.candidates = [[10 * word + k for k in range(count)] for word, count in enumerate(counts, 1)]
        self.nodes = [None, *[tag for tags in self.candidates for tag in tags]]  # tag of each; 0 is the root
        side = len(self.nodes)

        def scores(*shape: int) -> np.ndarray:
            return np.array([rng.uniform(-1, 1) for _ in range(math.prod(shape))]).reshape(shape)

        self.tags, self.pairs, self.arcs = scores(side), scores(side, side), scores(side, side)
        self.siblings = scores(side, side + 1, side + 1)
        self.grandparents = scores(side, side, side)
        self.grand_siblings = scores(side, side, side + 1, side + 1)

    def score(self, part: Part) -> float:
        if part.words[0] == -1:
            return 0.0  # above the root there is nothing to score
        if part.kind.startswith("grand") and part.words[1] == 0:
            return 0.0
        places = tuple(
            len(self.nodes) if word is None else 0 if word == 0 else self.nodes.index(tag)
            for word, tag in zip(part.words, part.tags, strict=True)
        )
        table = {
            "tag": self.tags,
            "tag-pair": self.pairs,
            "arc": self.arcs,
            "sibling": self.siblings,
            "grandparent": self.grandparents,
            "grandsibling": self.grand_siblings,
        }[part.kind]
        return float(table[places])

    def search(self, order: int, allowed: np.ndarray) -> tuple[float, list[int], list[int]]:
        score, heads, nodes = _native.best_tagged_tree(
            order,
            np.array(self.counts, np.int32),
            self.tags,
            self.pairs,
            self.arcs,
            self.siblings,
            self.grandparents,
            self.grand_siblings,
            allowed,
        )
        return score, heads, [self.nodes[node] for node in nodes]


def random_allowed(
    rng: random.Random, length: int, density: float
) -> tuple[np.ndarray, set[tuple[int, int]]]:
    arcs = {(h, m) for h in range(length + 1) for m in range(1, length + 1) if rng.random() < density}
    allowed = np.zeros((length + 1, length + 1), np.uint8)
    for h, m in arcs:
        allowed[h, m] = 1
    return allowed, arcs


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("density", [1.0, 0.7])
def test_the_best_tagged_tree_is_the_best_of_all(order: int, density: float):
    rng = random.Random(10 * order)
    for _ in range(25):
        length = rng.randint(1, 4)
        parts = RandomParts(rng, [rng.randint(1, 3 if length < 4 else 2) for _ in range(length)])
        allowed, arcs = random_allowed(rng, length, density)
        score, heads, tags = parts.search(order, allowed)
        oracle = BruteForceTrees(
            length, order, parts.score, single_root=True, candidates=parts.candidates, arcs=arcs
        )
        best = oracle.best()
        if not best:
            assert (score, heads, tags) == (-math.inf, [], [])
            continue
        assert score == pytest.approx(best[0].score)
        assert (tuple(heads), tuple(tags)) in [(each.heads, each.tags) for each in best]


def test_five_words_with_two_tags_each():
    rng = random.Random(5)
    parts = RandomParts(rng, [2, 2, 1, 2, 2])
    allowed, _ = random_allowed(rng, 5, 1.0)
    for order in (2, 3):
        score, heads, tags = parts.search(order, allowed)
        oracle = BruteForceTrees(5, order, parts.score, single_root=True, candidates=parts.candidates)
        (best,) = oracle.best()
        assert (tuple(heads), tuple(tags)) == (best.heads, best.tags)
        assert score == pytest.approx(best.score)


@pytest.mark.parametrize("order", [2, 3])
def test_with_one_tag_a_word_the_tree_is_that_of_the_parser(order: int):
    rng = random.Random(order)
    for length in range(1, 9):
        parts = RandomParts(rng, [1] * length)
        allowed, _ = random_allowed(rng, length, 1.0)
        score, heads, _ = parts.search(order, allowed)
        # The parser has no scores of tags: each word's own are the same in every tree.
        tags = parts.tags[1:].sum() + sum(parts.pairs[a, a + 1] for a in range(length))
        nothing = np.zeros((0, 0, 0, 0))
        tree_score, tree = _native.best_grand_tree(
            parts.arcs,
            parts.siblings,
            parts.grandparents,
            parts.grand_siblings if order == 3 else nothing,
            allowed,
        )
        assert heads == tree
        assert score == pytest.approx(tree_score + tags)


def test_fewer_candidates_never_score_higher():
    rng = random.Random(7)
    full = RandomParts(rng, [2, 2, 2])
    allowed, _ = random_allowed(rng, 3, 1.0)
    top = full.search(2, allowed)[0]
    found = []
    for kept in itertools.product([0, 1], repeat=3):
        places = [0, *[1 + 2 * word + k for word, k in enumerate(kept)]]
        part = RandomParts(rng, [1, 1, 1])
        part.tags, part.pairs = full.tags[places], full.pairs[np.ix_(places, places)]
        part.arcs = full.arcs[np.ix_(places, places)]
        open_places = [*places, len(full.nodes)]
        part.siblings = full.siblings[np.ix_(places, open_places, open_places)]
        part.grandparents = full.grandparents[np.ix_(places, places, places)]
        part.grand_siblings = full.grand_siblings[np.ix_(places, places, open_places, open_places)]
        found.append(part.search(2, allowed)[0])
    assert max(found) == pytest.approx(top)
    assert all(score <= top + 1e-9 for score in found)


def test_scores_that_do_not_fit_are_refused():
    parts = RandomParts(random.Random(1), [2, 1])
    parts.counts = [1, 1]
    with pytest.raises(ValueError, match="are inconsistent"):
        parts.search(2, np.ones((3, 3), np.uint8))
    parts.counts = [3, 0]
    with pytest.raises(ValueError, match="no candidate"):
        parts.search(2, np.ones((3, 3), np.uint8))

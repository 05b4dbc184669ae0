"""The k best trees of sentences of any length; for an overlong one, those of its parts are combined."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Sequence

import numpy as np

from duilian.corpus import Layer
from duilian.models.parser.annotating import heads_inside, parts_of, with_given_heads

ScoredHeads = tuple[float, list[int]]


def without_tree(layer: Layer) -> Layer:
    """The same words without heads and relations."""
    return dataclasses.replace(layer, heads=None, relations=None)


def k_best_of_parts(
    layer: Layer, k: int, longest: int, search: Callable[[Layer, int], Sequence[ScoredHeads]]
) -> list[ScoredHeads]:
    """The k best trees that keep the given heads, best first.

    A sentence of more than `longest` words is cut as for a single tree. Later parts depend on the root of the
    first; the scores of parts are summed.
    """
    edges = list(parts_of(layer.words, longest))
    if len(edges) == 1:
        return list(search(layer, k))
    given = None if layer.heads is None else [-1 if head is None else head for head in layer.heads]
    best: list[ScoredHeads] = [(0.0, [])]
    for start, end in edges:
        own = search(_part(layer, start, end, given), k)
        # Both are sorted, so the pair (i, j) comes after at least (i + 1) (j + 1) - 1 others.
        pairs = (
            (score + more, _joined(heads, added))
            for i, (score, heads) in enumerate(best)
            for more, added in own[: k // (i + 1)]
        )
        best = heapq.nlargest(k, pairs, key=lambda each: each[0])
    if given is None:
        return best
    kept = {tuple(with_given_heads(heads, given)): score for score, heads in reversed(best)}
    return [(score, list(heads)) for heads, score in reversed(kept.items())]


def _part(layer: Layer, start: int, end: int, given: Sequence[int] | None) -> Layer:
    tags = None if layer.tags is None else layer.tags[start:end]
    if given is None:
        return Layer(layer.words[start:end], tags)
    heads = heads_inside(np.array(given[start:end], np.int32), start)
    return Layer(layer.words[start:end], tags, tuple(None if head < 0 else head for head in heads))


def _joined(heads: Sequence[int], added: Sequence[int]) -> list[int]:
    """Add a part to a tree, with its root below the root of the tree."""
    if not heads:
        return list(added)
    root, before = heads.index(0) + 1, len(heads)
    return [*heads, *(head + before if head else root for head in added)]

"""A neural parser in plain NumPy and double precision, and all trees instead of a search.

Rows are the root and the words 1 to n. Nothing here shares code with the package but the names of the arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from oracle.trees import projective_trees

Rows = npt.NDArray[np.float64]
FARTHEST = 33
TABLE_OF = {"vector_suffix": "vectors", "vector_prefix": "vectors"}


def sigmoid(x: Rows) -> Rows:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))


def leaky(x: Rows) -> Rows:
    return np.where(x > 0, x, 0.1 * x)


def linear(pair: Any, rows: Rows) -> Rows:
    weight, bias = (np.asarray(each, np.float64) for each in pair)
    return np.asarray(rows @ weight.T + bias)


def embedded(model: Any, features: Sequence[Sequence[int]]) -> Rows:
    """The inputs of the first layer."""
    tables = [model.tables[TABLE_OF.get(name, name)] for name in model.features]
    words = [np.concatenate([table[k] for table, k in zip(tables, row, strict=True)]) for row in features]
    return np.array([model.root, *words], np.float64)


def one_way(direction: Any, rows: Rows) -> Rows:
    """An LSTM in one direction."""
    inputs, recurrent, bias = (np.asarray(each, np.float64) for each in direction)
    size = recurrent.shape[1]
    cell, out, found = np.zeros(size), np.zeros(size), []
    for row in rows:
        gates = inputs @ row + recurrent @ out + bias
        into, forget, fresh, shown = (gates[k * size : (k + 1) * size] for k in range(4))
        cell = sigmoid(forget) * cell + sigmoid(into) * np.tanh(fresh)
        out = sigmoid(shown) * np.tanh(cell)
        found.append(out)
    return np.array(found)


def encoded(model: Any, features: Sequence[Sequence[int]]) -> Rows:
    """The outputs of the last layer."""
    rows = embedded(model, features)
    for forward, backward in model.layers:
        rows = np.concatenate([one_way(forward, rows), one_way(backward, rows[::-1])[::-1]], axis=1)
    return rows


def head_log_probabilities(model: Any, features: Sequence[Sequence[int]]) -> Rows:
    """[head, dependent]  the log probability of each head; -inf for the root and for a word itself."""
    rows = encoded(model, features)
    heads, dependents = leaky(linear(model.arc_head, rows)), leaky(linear(model.arc_dependent, rows))
    found = np.full((len(rows), len(rows)), -np.inf)
    for m in range(1, len(rows)):
        score = [
            float(np.append(dependents[m], 1.0) @ model.arc_weight @ heads[h])
            + float(model.distance[0 if h > m else 1][min(abs(h - m), FARTHEST)])
            for h in range(len(rows))
        ]
        score[m] = -np.inf
        found[:, m] = score - np.logaddexp.reduce(score)
    return found


def relation_scores(model: Any, features: Sequence[Sequence[int]], heads: Sequence[int]) -> Rows:
    """[words, relations]  for these heads."""
    rows = encoded(model, features)
    of_heads = leaky(linear(model.relation_head, rows))
    dependents = leaky(linear(model.relation_dependent, rows))
    size = dependents.shape[1] + 1
    weight = np.asarray(model.relation_weight, np.float64).reshape(size, -1, size)
    return np.array(
        [
            np.einsum("a,arb,b->r", np.append(dependents[m], 1.0), weight, np.append(of_heads[h], 1.0))
            for m, h in enumerate(heads, start=1)
        ]
    )


def best_relations(model: Any, features: Sequence[Sequence[int]], heads: Sequence[int]) -> list[int]:
    """`root` for the dependent of the root and for no other."""
    scores = relation_scores(model, features, heads)
    root = model.relations.index("root") if "root" in model.relations else -1
    found = []
    for head, row in zip(heads, scores, strict=True):
        usable = [k for k in range(len(row)) if k != root]
        found.append(root if head == 0 and root >= 0 else max(usable, key=row.__getitem__))
    return found


def best_heads(logs: Rows, given: Sequence[int] = ()) -> tuple[int, ...] | None:
    """The best projective tree with one dependent of the root and the given heads (-1: open)."""
    words = len(logs) - 1
    fitting = [
        heads
        for heads in projective_trees(words, single_root=True)
        if all(own in (-1, head) for own, head in zip(given, heads, strict=False))
    ]
    score = lambda heads: sum(logs[h, m] for m, h in enumerate(heads, start=1))  # noqa: E731
    return max(fitting, key=score, default=None)


def tag_probabilities(model: Any, features: Sequence[Sequence[int]]) -> Rows:
    """[words, tags]"""
    scores = linear(model.tag_scores, leaky(linear(model.tag_hidden, encoded(model, features)[1:])))
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))

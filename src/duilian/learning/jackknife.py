"""Jack-knifing: training sentences are answered by models that have not seen them.

A model that learns from another's answers must see them as they will be on new text, which the other model
has not been trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from duilian.corpus import fold_bounds
from duilian.learning.jobs import run_jobs

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def jackknifed(
    items: Sequence[Item], folds: int, answer: Callable[[list[Item], list[Item]], Answer]
) -> list[Answer]:
    """Return `answer(others, held_out)` for each fold of neighbouring items, in order.

    If joblib is set up for a cluster, the folds are answered there.
    """
    bounds = fold_bounds(len(items), folds)
    return list(
        run_jobs(answer, [([*items[:start], *items[end:]], list(items[start:end])) for start, end in bounds])
    )

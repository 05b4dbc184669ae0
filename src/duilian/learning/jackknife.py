"""Jack-knifing: answers for training sentences by models that did not see them.

A model that is trained on the answers of another one must meet them as they will be on new text, and there
the other one has not learned the very sentence it is asked about.
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
    """`answer(others, held out)` for each fold; the folds are runs of neighbours, in their order.

    With joblib's backend for a cluster, folds are answered there.
    """
    bounds = fold_bounds(len(items), folds)
    return list(
        run_jobs(answer, [([*items[:start], *items[end:]], list(items[start:end])) for start, end in bounds])
    )

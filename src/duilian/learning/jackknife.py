"""Jack-knifing: training sentences are answered by models that have not seen them.

A model that learns from another's answers must see them as they will be on new text, which the other model
has not been trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from duilian.corpus import fold_bounds
from duilian.learning.jobs import run_jobs
from duilian.learning.session import Session

Item = TypeVar("Item")
Answer = TypeVar("Answer")


def jackknifed(
    items: Sequence[Item],
    folds: int,
    answer: Callable[[list[Item], list[Item]], Answer],
    session: Session | None = None,
    name: str = "jack-knifing",
) -> list[Answer]:
    """Return `answer(others, held_out)` for each fold of neighbouring items, in order.

    If joblib is set up for a cluster, the folds are answered there. The session reports each fold by `name`.
    """
    bounds = fold_bounds(len(items), folds)
    jobs = [([*items[:start], *items[end:]], list(items[start:end])) for start, end in bounds]
    return list((session or Session()).parts(name, run_jobs(answer, jobs), folds))

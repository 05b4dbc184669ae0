"""Items in batches: long work in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
SENTENCES = 1000  # of a corpus, in one batch


def batches(
    items: Iterable[Item], limit: int = SENTENCES, size: Callable[[Item], int] = lambda _: 1
) -> Iterator[list[Item]]:
    """Yield batches whose sizes add up to about `limit`; a larger item has a batch of its own."""
    batch: list[Item] = []
    total = 0
    for item in items:
        own = size(item)
        if batch and own > limit:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += own
        if total >= limit:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch

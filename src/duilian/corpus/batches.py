"""Items in batches: long work in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

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


def text_batches(texts: list[str], limit: int) -> Iterator[list[str]]:
    """Yield what `batches` would for texts with a character more than they have: no step for each text."""
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    begin, done = 0, 0
    while begin < len(ends):
        last = min(int(np.searchsorted(ends, done + limit)), len(ends) - 1)  # it fills the batch
        if last > begin and ends[last] - ends[last - 1] > limit:
            last -= 1
        yield texts[begin : last + 1]
        begin, done = last + 1, int(ends[last])

"""A counter on standard error while sentences pass by; nothing when that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_STEP = 100
Item = TypeVar("Item")


def watch(
    sentences: Iterable[Item],
    name: str = "sentences",
    *,
    total: int | None = None,
    size: Callable[[Item], int] = lambda _: 1,
) -> Iterator[Item]:
    """The same sentences (or whatever they are called), counted before the user's eyes; with a bar if it is
    known what their sizes come to.
    """
    if not sys.stderr.isatty():
        yield from sentences
        return
    from rich.console import Console  # slow to import, and in a pipe not needed
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    counter = TextColumn(f"{{task.fields[count]:,}} {name}")
    bar = () if total is None else (BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    columns = (SpinnerColumn(), counter, *bar, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, done = progress.add_task("", total=total, count=0), 0
        for count, sentence in enumerate(sentences, start=1):
            done += size(sentence)
            if count % _STEP == 0:
                progress.update(task, completed=done, count=count)
            yield sentence

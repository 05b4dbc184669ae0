"""A progress counter on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_STEP = 100
Item = TypeVar("Item")


def watch(
    items: Iterable[Item],
    name: str = "sentences",
    *,
    total: int | None = None,
    size: Callable[[Item], int] = lambda _: 1,
) -> Iterator[Item]:
    """Pass items through and count them on the terminal, with a bar if their total size is known."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # slow to import, and not needed in a pipe
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    counter = TextColumn(f"{{task.fields[count]:,}} {name}")
    bar = () if total is None else (BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    columns = (SpinnerColumn(), counter, *bar, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, done = progress.add_task("", total=total, count=0), 0
        for count, item in enumerate(items, start=1):
            done += size(item)
            if count % _STEP == 0:
                progress.update(task, completed=done, count=count)
            yield item

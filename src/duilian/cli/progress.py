"""A counter on standard error while sentences pass by; nothing when that is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

_STEP = 500
Item = TypeVar("Item")


def watch(sentences: Iterable[Item], name: str = "sentences") -> Iterator[Item]:
    """The same sentences (or whatever they are called), counted before the user's eyes."""
    if not sys.stderr.isatty():
        yield from sentences
        return
    from rich.console import Console  # slow to import, and in a pipe not needed
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn(f"{{task.completed:,}} {name}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        for count, sentence in enumerate(sentences, start=1):
            if count % _STEP == 0:
                progress.update(task, completed=count)
            yield sentence

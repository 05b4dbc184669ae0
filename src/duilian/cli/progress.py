"""Progress on standard error, if that is a terminal: amount done, speed, and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from duilian.corpus.files import MeasuredFile
from duilian.wording import clock

REFRESH = 0.1  # seconds
Item = TypeVar("Item")


def measured(paths: Sequence[str]) -> list[MeasuredFile]:
    """Return paths that count the bytes read, for `watch`; any reader accepts them."""
    return [MeasuredFile(path) for path in paths]


def watch(
    items: Iterable[Item],
    name: str = "sentences",
    *,
    files: Sequence[MeasuredFile] = (),
    total: int | None = None,
    size: Callable[[Item], int] | None = None,
    before: int = 0,
) -> Iterator[Item]:
    """Pass items through and count them on the terminal, with an estimate of the time left.

    The estimate needs files of known size (see `measured`), or the `total` size of all items. Files are read
    ahead of the answers, so `size`, the bytes that an item had in its file, makes it better; `before` are
    those of earlier files.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # slow to import, and not needed in a pipe
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if files and all(file.size is not None for file in files):
        total = sum(file.size or 0 for file in files)
    counter = TextColumn(f"{{task.fields[count]:,}} {name}, {{task.fields[rate]:,.0f}} per second")
    bar = () if total is None else (BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    columns = (SpinnerColumn(), counter, *bar, TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total, completed=before, count=0, rate=0.0, left="")
        done, start = before, time.monotonic()
        shown = start

        def show(count: int, now: float) -> None:
            read = sum(file.position for file in files) if files else done
            if size is not None:
                read = min(read, done)
            rate = count / max(now - start, 1e-9)
            left = "" if total is None else left_over(now - start, read, total)
            progress.update(task, completed=read, count=count, rate=rate, left=left, refresh=True)

        count = 0
        for count, item in enumerate(items, start=1):
            done += 1 if size is None else size(item)
            now = time.monotonic()
            if now - shown >= REFRESH:
                shown = now
                show(count, now)
            yield item
        show(count, time.monotonic())


def bytes_of(line: str) -> int:
    """The size of a line in a file of text."""
    return len(line.encode(errors="replace")) + 1


def left_over(seconds: float, done: float, total: float) -> str:
    """Return the remaining time at the present rate, such as `2:05 left`; nothing in the first hundredth."""
    return f"{clock(seconds * (total - done) / done)} left" if total <= 100 * done < 100 * total else ""


class Stages:
    """The stages of a long command on a terminal: the last line shows which one is running, and how long."""

    def __init__(self, first: str) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True, highlight=False), transient=True)
        self._task = self._bar.add_task(first)
        self._name, self._start, self._stays = first, time.monotonic(), False

    def __enter__(self) -> Stages:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, name: str, *, stays: bool = True) -> None:
        """Show the next stage; when it ends, it stays as a line with its time, unless `stays` is False."""
        now = time.monotonic()
        if self._stays:
            self.print(f"{self._name}: {now - self._start:.1f} s")
        self._name, self._start, self._stays = name, now, stays
        self._bar.reset(self._task, description=name)

    def show_part(self, text: str) -> None:
        """Show how far the present stage is; its time goes on."""
        self._bar.update(self._task, description=text)

    def print(self, line: str) -> None:
        """Print a line that stays."""
        self._bar.console.print(line, markup=False, soft_wrap=True)

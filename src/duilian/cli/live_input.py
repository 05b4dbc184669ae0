"""Standard input that is answered as it arrives: from a slow pipe, or typed by a person."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import typer

from duilian.corpus.files import STANDARD_STREAM, LiveInput

Item = TypeVar("Item")


def standard_input(paths: Sequence[str]) -> LiveInput | None:
    """Open standard input if it is among the inputs; on a terminal, say so."""
    if STANDARD_STREAM not in paths:
        return None
    if sys.stdin.isatty():
        typer.echo("duilian: reading standard input; type text, end with Ctrl-D", err=True)
    return LiveInput()


def in_runs(items: Iterator[Item], stdin: LiveInput | None) -> Iterator[Iterator[Item]]:
    """Split items into runs that end where reading on would block; output is flushed after each run."""
    if stdin is None:
        yield items
        return

    def run(first: Item) -> Iterator[Item]:
        yield first
        while not stdin.is_waiting():
            try:
                yield next(items)
            except StopIteration:
                return

    for first in items:
        yield run(first)
        sys.stdout.flush()

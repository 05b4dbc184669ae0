"""Standard input that is answered as it comes: by a pipe that is never full, or by somebody who types."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import typer

from duilian.corpus.files import STANDARD_STREAM, LiveInput

Item = TypeVar("Item")


def standard_input(paths: Sequence[str]) -> LiveInput | None:
    """Standard input, if it is among the inputs; who types is told so."""
    if STANDARD_STREAM not in paths:
        return None
    if sys.stdin.isatty():
        typer.echo("duilian: type text; a line is answered when it ends, and Ctrl-D ends all", err=True)
    return LiveInput()


def in_runs(items: Iterator[Item], stdin: LiveInput | None) -> Iterator[Iterator[Item]]:
    """A run ends where standard input would have to be waited for; what was written is seen by then."""
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

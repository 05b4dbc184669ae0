"""Keeps commands from overwriting the files that they read."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from duilian.corpus.output_files import refuse_input
from duilian.errors import ConfigError
from duilian.modelfile import is_model

WRITTEN = ("output", "review_to", "plot")  # parameters that name files to write


def keeping_inputs(command: Callable[..., None]) -> Callable[..., None]:
    """Refuse, before a command begins, to overwrite one of its inputs, or a model with text."""

    @functools.wraps(command)
    def keep_and_run(**options: Any) -> None:
        read = list(_paths(value for name, value in options.items() if name not in WRITTEN))
        targets = list(_paths(options.get(name) for name in WRITTEN))
        if len(set(targets)) < len(targets):
            raise ConfigError(f"{targets[0]}: the same file is given for two outputs", "give two files")
        for target in targets:
            refuse_input(target, read)
            if os.path.isfile(target) and os.path.getsize(target) and is_model(target):
                raise ConfigError(
                    f"{target}: this is a model and would be overwritten", "choose another output file"
                )
        command(**options)

    return keep_and_run


def _paths(values: Iterable[object]) -> Iterator[str]:
    """The values that may name a file, in lists too."""
    for value in values:
        if isinstance(value, str | os.PathLike):
            yield os.fspath(value)
        elif isinstance(value, list):
            yield from _paths(value)

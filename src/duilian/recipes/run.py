"""A run of training: where its files are, and whom it tells of progress."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duilian.learning import IterationReport, Session
from duilian.learning.session import SELF_TRAINING


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """What a run is told besides its recipe: where to write, and whom to tell."""

    output: Path
    resume: bool = False
    lenient: bool = False  # whether malformed lines of the corpora are skipped
    force: bool = False  # whether a file that is not a model may be replaced
    threads: int = 1
    log: Path | None = None  # where to keep a log; None: nowhere
    on_iteration: Callable[[IterationReport], None] | None = None
    on_stage: Callable[[str], None] | None = None  # what is done before the first iteration
    on_reading: Callable[[str], None] | None = None  # the file that is being read; empty when it is done
    on_warning: Callable[[str], None] | None = None
    told: set[str] = dataclasses.field(default_factory=set, repr=False)  # warnings so far
    sizes: dict[tuple[Path, ...], list[int]] = dataclasses.field(default_factory=dict, repr=False)
    """How many sentences were read of each of some files."""
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False)
    """What the last training loop did, without times: for the notes of the model."""

    def stage(self, name: str) -> Path:
        """Where a finished part of the model is kept until the whole is done."""
        return self.output.with_name(f"{self.output.name}.{name}")

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume from."""
        return any(path.exists() for path in (*self.kept, self.stage("tagger")))

    @property
    def checkpoint(self) -> Path:
        """Where the state is kept between iterations."""
        return self.output.with_name(f"{self.output.name}.checkpoint")

    @property
    def kept(self) -> list[Path]:
        """Where the state of training may be kept: the checkpoint, and those of self-training."""
        return [self.checkpoint, *(Path(f"{self.checkpoint}.{part}") for part in SELF_TRAINING)]

    def forget(self) -> None:
        """Delete the state of training that has come to its end."""
        for path in self.kept:
            path.unlink(missing_ok=True)

    def session(self) -> Session:
        """What the training loop is told."""
        return Session(
            threads=self.threads,
            on_iteration=self.on_iteration,
            on_stage=self.on_stage,
            checkpoint=self.checkpoint,
            resume=self.resume,
            history=self.history,
        )

    def warn(self, message: str) -> None:
        """Tell what may be a mistake, once: some corpora are read for each part of a model."""
        if self.on_warning and message not in self.told:
            self.told.add(message)
            self.on_warning(message)

    def say_reading(self, name: str) -> None:
        """Tell which file is being read."""
        if self.on_reading:
            self.on_reading(name)

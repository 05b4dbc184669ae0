"""A training run: its files and its progress callbacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duilian.learning import IterationReport, Session
from duilian.learning.session import SELF_TRAINING


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """What a run needs besides its recipe: where to write, how to read, and callbacks."""

    output: Path
    resume: bool = False
    lenient: bool = False  # whether malformed lines of the corpora are skipped
    force: bool = False  # whether a file that is not a model may be replaced
    threads: int = 1
    log: Path | None = None  # the file of the log; None: no log
    on_iteration: Callable[[IterationReport], None] | None = None
    on_stage: Callable[[str], None] | None = None  # gets each stage before the first iteration
    on_reading: Callable[[str], None] | None = None  # gets a file's name, then ""
    on_part: Callable[[str], None] | None = None  # gets the progress of a stage
    on_resume: Callable[[str], None] | None = None  # gets the place where training resumes
    on_warning: Callable[[str], None] | None = None
    told: set[str] = dataclasses.field(default_factory=set, repr=False)  # warnings so far
    sizes: dict[tuple[Path, ...], list[int]] = dataclasses.field(default_factory=dict, repr=False)
    """The number of sentences in each file of a group."""
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False)
    """The iterations of the last training loop, without times, for the notes of the model."""

    def stage(self, name: str) -> Path:
        """The file for a finished part of the model until the whole is done."""
        return self.output.with_name(f"{self.output.name}.{name}")

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume from."""
        return any(path.exists() for path in (*self.kept, self.stage("tagger")))

    @property
    def checkpoint(self) -> Path:
        """The file for the state between iterations."""
        return self.output.with_name(f"{self.output.name}.checkpoint")

    @property
    def kept(self) -> list[Path]:
        """The files that may hold the state: the checkpoint, and those of self-training."""
        return [self.checkpoint, *(Path(f"{self.checkpoint}.{part}") for part in SELF_TRAINING)]

    def forget(self) -> None:
        """Delete the state, since training is done."""
        for path in self.kept:
            path.unlink(missing_ok=True)

    def session(self) -> Session:
        """The session for the training loop."""
        return Session(
            threads=self.threads,
            on_iteration=self.on_iteration,
            on_stage=self.on_stage,
            on_part=self.on_part,
            on_resume=self.on_resume,
            checkpoint=self.checkpoint,
            resume=self.resume,
            history=self.history,
        )

    def warn(self, message: str) -> None:
        """Report a possible mistake once, even if a corpus is read for several parts of a model."""
        if self.on_warning and message not in self.told:
            self.told.add(message)
            self.on_warning(message)

    def say_reading(self, name: str) -> None:
        """Report which file is being read."""
        if self.on_reading:
            self.on_reading(name)

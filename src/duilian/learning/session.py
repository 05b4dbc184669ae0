"""What a training run needs apart from its settings."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from duilian.errors import ConfigError
from duilian.settings import Settings

if TYPE_CHECKING:
    from duilian.learning.trainer import IterationReport


SELF_TRAINING = ("teacher", "held")
"""Parts of a run that keep a state of their own: a teacher in training, and labels found so far."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session:
    """Threads to use, whom to tell of progress, and where to keep the state between iterations.

    None of it changes the weights.

    >>> Session(threads=2, on_iteration=print).threads  # fit(corpus, session=…)
    2
    """

    threads: int = 1
    on_iteration: Callable[[IterationReport], None] | None = None
    on_stage: Callable[[str], None] | None = None  # told what is being done before the iterations begin
    checkpoint: str | Path | None = None
    resume: bool = False
    # What the last training loop did, an entry an iteration; a resumed one begins with those before.
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.threads, int) or self.threads < 1:
            raise ConfigError(f"threads must be at least 1, got {self.threads!r}")

    @classmethod
    def of(cls, session: Session | None, threads: int) -> Session:
        """The session of a call that may also say how many threads to use."""
        if session is None:
            return cls(threads=threads)
        if 1 not in (threads, session.threads) and threads != session.threads:
            raise ConfigError(
                f"{threads} threads, but {session.threads} in the session", "give it in one place only"
            )
        return dataclasses.replace(session, threads=max(threads, session.threads))

    def part(self, name: str) -> Path | None:
        """Where a part of the run keeps its own state, next to the checkpoint."""
        return None if self.checkpoint is None else Path(f"{self.checkpoint}.{name}")

    def stage(self, name: str) -> None:
        """Say what is being done."""
        if self.on_stage:
            self.on_stage(name)


def fingerprint(config: Settings, parts: Iterable[npt.NDArray[Any] | str]) -> str:
    """Tells a run of training from others by its settings and data, so that no run resumes another's state.

    The number of iterations does not count: a run may be continued.
    """
    settings = config.to_dict()
    settings["learning"] = {key: each for key, each in settings["learning"].items() if key != "iterations"}
    digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

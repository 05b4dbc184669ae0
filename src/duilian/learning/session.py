"""What a training run needs apart from its settings."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from duilian.arguments import MAX_THREADS
from duilian.errors import ConfigError
from duilian.settings import Settings
from duilian.wording import clock

if TYPE_CHECKING:
    from duilian.learning.trainer import IterationReport


Part = TypeVar("Part")

SELF_TRAINING = ("teacher", "held")
"""Parts of a run with state of their own: a teacher in training, and labels found so far."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Session:
    """Threads, progress callbacks and checkpoint of a training run.

    None of them affects the weights.

    >>> Session(threads=2, on_iteration=print).threads  # fit(corpus, session=…)
    2
    """

    threads: int = 1
    on_iteration: Callable[[IterationReport], None] | None = None
    on_stage: Callable[[str], None] | None = None  # gets the name of each stage before the iterations
    on_part: Callable[[str], None] | None = None  # gets the progress of a stage after each of its parts
    on_resume: Callable[[str], None] | None = None  # gets the place where a run resumes
    checkpoint: str | Path | None = None
    resume: bool = False
    # One entry per iteration of the last training loop, including those before it was resumed.
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.threads, int) or not 1 <= self.threads <= MAX_THREADS:
            raise ConfigError(f"threads must be between 1 and {MAX_THREADS}, got {self.threads!r}")

    @classmethod
    def of(cls, session: Session | None, threads: int) -> Session:
        """The session of a call that may also set the number of threads."""
        if session is None:
            return cls(threads=threads)
        if 1 not in (threads, session.threads) and threads != session.threads:
            raise ConfigError(
                f"{threads} threads, but {session.threads} in the session", "set the number in one place only"
            )
        return dataclasses.replace(session, threads=max(threads, session.threads))

    def part(self, name: str) -> Path | None:
        """The file for the state of a part of the run, next to the checkpoint."""
        return None if self.checkpoint is None else Path(f"{self.checkpoint}.{name}")

    def stage(self, name: str) -> None:
        """Report the stage that begins."""
        if self.on_stage:
            self.on_stage(name)

    def parts(self, name: str, parts: Iterable[Part], count: int) -> Iterator[Part]:
        """Pass on the parts of a stage, and say after each how many are done and how much time is left."""
        start = time.perf_counter()
        for done, part in enumerate(parts, start=1):
            if self.on_part and done < count:
                left = (time.perf_counter() - start) * (count - done) / done
                self.on_part(f"{name}: {done} of {count} done, {clock(left)} left")
            yield part


def fingerprint(config: Settings, parts: Iterable[npt.NDArray[Any] | str]) -> str:
    """A hash of a training run's settings and data, so that no run resumes from another's state.

    The number of iterations is left out: a run may be extended.
    """
    settings = config.to_dict()
    settings["learning"] = {key: each for key, each in settings["learning"].items() if key != "iterations"}
    import hashlib  # slow: it loads OpenSSL

    digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

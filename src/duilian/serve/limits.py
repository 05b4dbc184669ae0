"""The limits of a service, and its errors: an HTTP status and one sentence."""

from __future__ import annotations

import dataclasses
import os

from duilian.errors import ConfigError, DuilianError

MAX_WORD = 100  # characters of a user's word: at each place of a text, words of every length are tried


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a service.

    >>> Limits(characters=500).queue
    64
    """

    body: int = 1_000_000  # bytes of a request
    characters: int = 100_000  # of all texts of a request
    sentences: int = 1_000
    nbest: int = 10  # analyses for each text
    nbest_characters: int = 10_000  # of all texts, if n-best lists are requested
    user_words: int = 1_000  # of a request
    seconds: float = 10.0  # to receive a request, and again to answer it
    work: int = dataclasses.field(
        default_factory=lambda: 2 * cores()
    )  # requests accepted during lasting overload
    queue: int = 64  # further requests that may wait during a short burst
    connections: int = 500

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"{field.name.replace('_', '-')} must be more than 0, got {value!r}")


class RefusedError(DuilianError):
    """A request that the service refuses; `status` is the HTTP status."""

    status = 422


class UnknownError(RefusedError):
    """A request for something that does not exist."""

    status = 404


class TooLargeError(RefusedError):
    """A body of too many bytes."""

    status = 413


class SlowBodyError(RefusedError):
    """A body that does not arrive in time."""

    status = 408


class BusyError(RefusedError):
    """More requests than can wait; `retry_after` is in seconds."""

    status = 429

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnavailableError(RefusedError):
    """An answer that takes too long, or a service that is stopping."""

    status = 503

"""A bounded queue of accepted requests and the threads that answer them, off the event loop.

Waiting requests with the same question (the same model, standards and so on) are answered in one call to the
engine, which is several times faster for short texts. A burst may fill the queue as long as nobody is likely
to wait for more than `PATIENCE`. The first refusal starts a period of overload, which lasts until nobody has
been refused for `CALM` seconds. Meanwhile only `work` requests are accepted at a time, so that these are
answered about as fast as usual.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any, NamedTuple

from duilian.serve.limits import BusyError, Limits, UnavailableError

CALM = 5.0  # seconds
PATIENCE = 0.5  # seconds of waiting that a burst may cause
BATCH_JOBS, BATCH_SIZE = 32, 8_000  # requests and characters that are answered in one call

_log = logging.getLogger("duilian.serve")

Answering = Callable[[Any, Sequence[Any]], Sequence[Any]]
"""Answers several requests with the same question: takes the question and the subject of each request."""


class Job(NamedTuple):
    """An accepted request: `question` is what it shares with others, `subject` what it asks about."""

    answering: Answering
    question: Hashable | None  # None if it is answered alone
    subject: Any
    size: int
    accepted: float
    future: Future[Any]


class WorkQueue:
    """Runs jobs in order of arrival, in `work / 2` threads."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.threads = math.ceil(limits.work / 2)
        self.in_work = 0
        self.batches = 0
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._last_refusal = -math.inf
        self._seconds_each = 0.0  # per job, a moving average
        self._workers: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads; also works after `close`."""
        self._is_closed = False
        self._workers.clear()
        for number in range(self.threads):
            worker = threading.Thread(target=self._work, name=f"duilian-work-{number}", daemon=True)
            worker.start()
            self._workers.append(worker)

    def close(self) -> None:
        """Answer accepted requests, and end the threads."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    async def answer(
        self, answering: Answering, subject: Any, *, question: Hashable | None = None, size: int = 0
    ) -> Any:
        """Put a request in the queue and wait for its answer, up to the time limit."""
        job = Job(answering, question, subject, size, time.monotonic(), Future())
        self._accept(job)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.future), self.limits.seconds)
        except TimeoutError:
            seconds = f"{self.limits.seconds:g} seconds"
            raise UnavailableError(f"the answer took more than {seconds}: send less text at a time") from None

    def _accept(self, job: Job) -> None:
        with self._changed:
            if self._is_closed:
                raise UnavailableError("the service is stopping")
            if len(self._waiting) >= self._room():
                self._last_refusal = time.monotonic()
                raise BusyError("too many requests are waiting: try again later", self._retry_after())
            self._waiting.append(job)
            self._changed.notify()

    def _room(self) -> int:
        """How many requests may wait now."""
        is_overloaded = time.monotonic() - self._last_refusal < CALM
        is_short = is_overloaded or self._seconds_to_wait() > PATIENCE
        return (
            min(self.limits.queue, max(1, self.limits.work - self.threads)) if is_short else self.limits.queue
        )

    def _seconds_to_wait(self) -> float:
        return len(self._waiting) * self._seconds_each / self.threads

    def _retry_after(self) -> int:
        return max(1, min(math.ceil(self._seconds_to_wait()), math.ceil(self.limits.seconds)))

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                if not self._waiting:
                    return
                jobs = self._taken()
                self.in_work += len(jobs)
                self.batches += 1
            start = time.monotonic()
            try:
                _answer_together(jobs)
            finally:
                seconds = (time.monotonic() - start) / len(jobs)
                with self._changed:
                    self.in_work -= len(jobs)
                    self._seconds_each += 0.1 * (seconds - self._seconds_each)

    def _taken(self) -> list[Job]:
        """Take the first job and others with the same question, but leave a share to the other threads."""
        jobs = [self._waiting.popleft()]
        size, share = jobs[0].size, math.ceil(len(self._waiting) / self.threads)
        for job in list(self._waiting) if jobs[0].question is not None else ():
            if len(jobs) > min(share, BATCH_JOBS - 1) or size + job.size > BATCH_SIZE:
                break
            if job.question == jobs[0].question and job.answering == jobs[0].answering:
                self._waiting.remove(job)
                jobs.append(job)
                size += job.size
        return jobs


def _answer_together(jobs: Sequence[Job]) -> None:
    """Answer the jobs that somebody still waits for; a job that fails does not affect the others."""
    jobs = [job for job in jobs if job.future.set_running_or_notify_cancel()]
    if not jobs:
        return
    try:
        answers = jobs[0].answering(jobs[0].question, [job.subject for job in jobs])
    except BaseException as error:
        if len(jobs) == 1:
            _settle(jobs[0], error=error)
            return
        for job in jobs:
            _answer_alone(job)
        return
    for job, answer in zip(jobs, answers, strict=True):
        _settle(job, answer)


def _answer_alone(job: Job) -> None:
    try:
        (answer,) = job.answering(job.question, [job.subject])
    except BaseException as error:
        _settle(job, error=error)
    else:
        _settle(job, answer)


def _settle(job: Job, answer: Any = None, error: BaseException | None = None) -> None:
    try:
        if error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(answer)
    except InvalidStateError:
        _log.debug("an answer came too late")

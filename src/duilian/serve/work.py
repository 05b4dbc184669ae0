"""A bounded queue of accepted requests and the threads that answer them, off the event loop.

Waiting requests with the same question (the same model, standards and so on) are answered in one call to the
engine, which is several times faster for short texts. A burst may fill the queue as long as nobody is likely
to wait for more than `PATIENCE`. The first refusal starts a period of overload, which lasts until the threads
could have done everything that was asked meanwhile, refused requests included. During that time only `work`
requests are accepted at a time, and only if a thread is about to be free, so that these are answered about as
fast as usual.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from duilian.serve.limits import BusyError, Limits, UnavailableError

MEMORY = 5.0  # seconds of work that was asked for, at most, so that overload ends
PATIENCE = 0.5  # seconds of waiting that a burst may cause
SOON = 0.4  # of the time of an answer: what a request may wait while overload lasts
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
    future: asyncio.Future[Any]  # of the event loop; threads only read whether it is done


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
        self._is_overloaded = False
        self._backlog, self._last_arrival = 0.0, 0.0  # seconds of work that was asked for; and when
        self._seconds_each = 0.0  # per job, a moving average
        self._ends: dict[int, float] = {}  # when each thread that works is likely to be free
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
        job = Job(answering, question, subject, size, asyncio.get_running_loop().create_future())
        self._accept(job)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await job.future
        except TimeoutError:
            seconds = f"{self.limits.seconds:g} seconds"
            raise UnavailableError(f"the answer took more than {seconds}: send less text at a time") from None

    def _accept(self, job: Job) -> None:
        with self._changed:
            if self._is_closed:
                raise UnavailableError("the service is stopping")
            self._note_arrival()
            if not self._has_room():
                self._is_overloaded = True
                raise BusyError("too many requests are waiting: try again later", self._retry_after())
            self._waiting.append(job)
            self._changed.notify()

    def _note_arrival(self) -> None:
        """Add a request to the work that was asked for, whether or not it is accepted."""
        now = time.monotonic()
        left = max(0.0, self._backlog - (now - self._last_arrival))
        self._is_overloaded = self._is_overloaded and left > 0
        self._backlog, self._last_arrival = min(MEMORY, left + self._seconds_each / self.threads), now

    def _has_room(self) -> bool:
        """Whether one more may wait now."""
        seconds, room = self._seconds_to_wait(), self.limits.queue
        if self._is_overloaded and seconds > SOON * self._seconds_each:
            return False
        if self._is_overloaded or seconds > PATIENCE:
            room = min(room, max(1, self.limits.work - self.threads))
        return len(self._waiting) < room

    def _seconds_to_wait(self) -> float:
        """How long a request that came now would probably wait."""
        now = time.monotonic()
        free = [max(0.0, end - now) for end in self._ends.values()]  # when each thread is free
        free += [0.0] * (self.threads - len(free))
        heapq.heapify(free)
        for _ in self._waiting:
            heapq.heapreplace(free, free[0] + self._seconds_each)
        return free[0]

    def _retry_after(self) -> int:
        return max(1, min(math.ceil(self._seconds_to_wait()), math.ceil(self.limits.seconds)))

    def _work(self) -> None:
        while jobs := self._next():
            start = time.monotonic()
            try:
                _answer_together(jobs)
            finally:
                seconds = (time.monotonic() - start) / len(jobs)
                with self._changed:
                    self.in_work -= len(jobs)
                    self._seconds_each += 0.1 * (seconds - self._seconds_each)
                    del self._ends[threading.get_ident()]

    def _next(self) -> list[Job]:
        """Wait for jobs and take them; none if the queue is closed."""
        with self._changed:
            while not self._waiting and not self._is_closed:
                self._changed.wait()
            if not self._waiting:
                return []
            jobs = self._taken()
            self.in_work += len(jobs)
            self.batches += 1
            self._ends[threading.get_ident()] = time.monotonic() + len(jobs) * self._seconds_each
            return jobs

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
    jobs = [job for job in jobs if not job.future.done()]
    if not jobs:
        return
    answers: Sequence[Any]
    try:
        answers = jobs[0].answering(jobs[0].question, [job.subject for job in jobs])
    except BaseException as error:
        answers = [_Failure(error)] if len(jobs) == 1 else list(map(_answer_alone, jobs))
    try:  # all at once: to wake the event loop costs more than to tell it
        jobs[0].future.get_loop().call_soon_threadsafe(_settle, jobs, answers)
    except RuntimeError:
        _log.debug("answers came after the end of the event loop")


class _Failure(NamedTuple):
    error: BaseException


def _answer_alone(job: Job) -> Any:
    try:
        return job.answering(job.question, [job.subject])[0]
    except BaseException as error:
        return _Failure(error)


def _settle(jobs: Sequence[Job], answers: Sequence[Any]) -> None:
    for job, answer in zip(jobs, answers, strict=True):
        if job.future.done():
            _log.debug("an answer came after its time")
        elif isinstance(answer, _Failure):
            job.future.set_exception(answer.error)
        else:
            job.future.set_result(answer)

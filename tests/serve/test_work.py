"""The queue: order, batches, refusals, time, and the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from duilian.serve import work
from duilian.serve.limits import BusyError, Limits, UnavailableError
from duilian.serve.work import WorkQueue


class Gate:
    """Answers a number with its double once it is opened; remembers which questions came together."""

    def __init__(self) -> None:
        self.opened, self.calls = threading.Event(), list[list[int]]()

    def answer(self, question: object, numbers: Sequence[int]) -> list[int]:
        assert self.opened.wait(20)
        self.calls.append(list(numbers))
        if 13 in numbers:
            raise ValueError(13)
        return [2 * number for number in numbers]


async def begun(
    queue: WorkQueue, gate: Gate, number: int, question: str | None = "same"
) -> asyncio.Task[int]:
    task = asyncio.create_task(queue.answer(gate.answer, number, question=question))
    await asyncio.sleep(0.01)
    return task


def queue_of(**limits: float) -> WorkQueue:
    queue = WorkQueue(Limits(**{"work": 2, "seconds": 20} | limits))  # type: ignore[arg-type]
    queue.start()
    return queue


def test_those_that_wait_and_ask_the_same_are_answered_together() -> None:
    async def main() -> tuple[list[int], list[list[int]]]:
        queue, gate = queue_of(), Gate()
        tasks = [await begun(queue, gate, k, "other" if k == 3 else "same") for k in range(6)]
        gate.opened.set()
        found = await asyncio.gather(*tasks)
        queue.close()
        return found, gate.calls

    found, calls = asyncio.run(main())
    assert found == [0, 2, 4, 6, 8, 10]
    assert calls == [[0], [1, 2, 4, 5], [3]]


def test_one_that_fails_fails_alone() -> None:
    async def main() -> list[int | BaseException]:
        queue, gate = queue_of(), Gate()
        tasks = [await begun(queue, gate, k) for k in (1, 12, 13, 14)]
        gate.opened.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        queue.close()
        return found

    first, second, failed, last = asyncio.run(main())
    assert (first, second, last) == (2, 24, 28)
    assert isinstance(failed, ValueError)


def test_the_queue_is_bounded() -> None:
    async def main() -> None:
        queue, gate = queue_of(queue=3), Gate()
        tasks = [await begun(queue, gate, k, None) for k in range(4)]  # one in work, three wait
        with pytest.raises(BusyError, match="too many requests") as refused:
            await queue.answer(gate.answer, 9)
        assert refused.value.retry_after >= 1
        gate.opened.set()
        assert await asyncio.gather(*tasks) == [0, 2, 4, 6]
        queue.close()

    asyncio.run(main())


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_while_overload_lasts_only_those_are_accepted_that_a_thread_is_nearly_free_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(work, "time", clock)

    async def main() -> None:
        queue, gates = queue_of(), [Gate() for _ in range(4)]

        async def is_refused(at: float) -> bool:
            clock.now = at
            task = await begun(queue, gates[-1], 9, None)
            return task.done() and isinstance(task.exception(), BusyError)

        async def ended(task: asyncio.Task[int], gate: Gate, at: float) -> None:
            clock.now = at
            gate.opened.set()
            await task
            await asyncio.sleep(0.05)  # the thread takes the next

        await ended(await begun(queue, gates[0], 1, None), gates[0], 10)  # so one takes a second on average
        first, second = await begun(queue, gates[1], 1, None), await begun(queue, gates[2], 2, None)
        assert await is_refused(at=10)  # two seconds to wait: overload begins
        assert await is_refused(at=10.5)
        await ended(first, gates[1], 11)
        assert await is_refused(at=11.3)  # the second needs until 12
        assert await is_refused(at=11.5)
        assert not await is_refused(at=11.7)
        assert await is_refused(at=11.9)  # somebody waits
        await ended(second, gates[2], 12)
        gates[-1].opened.set()
        assert queue._is_overloaded  # six seconds of work were asked for in two
        assert not await is_refused(at=30)
        assert not queue._is_overloaded
        queue.close()

    asyncio.run(main())


def test_one_that_waits_too_long_is_not_computed() -> None:
    async def main() -> list[list[int]]:
        queue, gate = queue_of(seconds=0.1), Gate()
        tasks = [await begun(queue, gate, k, None) for k in range(2)]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, UnavailableError) for each in found)
        gate.opened.set()
        queue.close()
        return gate.calls

    assert asyncio.run(main()) == [[0]]


def test_the_end_answers_what_was_accepted() -> None:
    async def main() -> list[int]:
        queue, gate = queue_of(), Gate()
        tasks = [await begun(queue, gate, k, None) for k in range(5)]
        closing = asyncio.create_task(asyncio.to_thread(queue.close))
        await asyncio.sleep(0.05)
        with pytest.raises(UnavailableError, match="stopping"):
            await queue.answer(gate.answer, 9)
        gate.opened.set()
        await closing
        return await asyncio.gather(*tasks)

    assert asyncio.run(main()) == [0, 2, 4, 6, 8]

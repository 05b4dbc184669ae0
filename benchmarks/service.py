"""The speed of `duilian serve` on this machine: python benchmarks/service.py [--seconds 180]

Everything on loopback, the service on one core. Prints JSON: the time to the first answer of many starts,
processor time for each text beside that of the engine alone, what it saves to answer requests together,
latencies on a quiet service and at twice its capacity, memory, and 200 slow connections.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TEXT = "他把手机借给了北京大学的同学，然后坐车去图书馆看书。"
BATCH = 32
CORE = min(os.sched_getaffinity(0))  # of the service, and of the engine beside it
QUIET = 40.0  # seconds
HEAD = "POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
ROUNDS, REQUESTS = 12, 50  # of the service and the engine by turns, and requests in each
SHORT = 640  # requests of one text
ENGINE = """
import itertools, sys, time, duilian
zh, texts = duilian.load(), [{text!r}] * {batch}
for with_json in itertools.chain(["true"], sys.stdin):
    start = time.process_time()
    for _ in range({requests}):
        if "true" in with_json: [doc.to_json() for doc in zh.pipe(texts)]
        else: list(zh.pipe(texts))
    print((time.process_time() - start) / {requests} / {batch}, flush=True)
"""


@contextlib.contextmanager
def service(*options: str) -> Iterator[tuple[int, int]]:
    """Process id and port of a service on one processor."""
    command = [sys.executable, "-m", "duilian.cli", "serve", "--port", "0", "--work", "2", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            found = re.search(r":(\d+) ", said)
            if found is None:
                raise SystemExit(f"the service did not start: {said.strip()}")
            os.sched_setaffinity(process.pid, {CORE})
            yield process.pid, int(found[1])
        finally:
            process.terminate()


def leave_core_to_service() -> None:
    """Ask from the other processors, if there are any."""
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {CORE} or {CORE})


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


class Client:
    """Connections that are used again, and how long each answer took."""

    def __init__(self, port: int, question: dict[str, Any]) -> None:
        body = json.dumps(question).encode()
        self._request, self._port = HEAD.format(len(body)).encode() + body, port
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.seconds: list[float] = []
        self.refused = 0

    async def ask(self) -> None:
        pair = self._free.pop() if self._free else await asyncio.open_connection("127.0.0.1", self._port)
        start = time.perf_counter()
        pair[1].write(self._request)
        try:
            head = await pair[0].readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):  # it had been idle for too long
            await self.ask()
            return
        size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        await pair[0].readexactly(int(size[1]) if size else 0)
        if head.startswith(b"HTTP/1.1 200"):
            self.seconds.append(time.perf_counter() - start)
        else:
            assert head.startswith(b"HTTP/1.1 429"), head
            self.refused += 1
        if b"connection: close" in head.lower():
            pair[1].close()
        else:
            self._free.append(pair)

    def leave(self) -> None:
        """Drop the connections of a loop that has ended."""
        self._free.clear()

    def share(self, share: float) -> float:
        """A quantile of the times, in milliseconds."""
        return 1e3 * sorted(self.seconds)[min(int(share * len(self.seconds)), len(self.seconds) - 1)]


async def one_by_one(client: Client, number: int) -> None:
    for _ in range(number):
        await client.ask()


async def alone(client: Client, seconds: float) -> None:
    """Send one request after the other for this long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        await client.ask()


async def at_rate(client: Client, rate: float, seconds: float) -> None:
    """Send this many requests per second, whether or not answers come."""
    start, number, tasks = time.perf_counter(), 0, set()
    while (now := time.perf_counter() - start) < seconds:
        while number < now * rate:
            number += 1
            tasks.add(task := asyncio.create_task(client.ask()))
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.5 / rate)
    await asyncio.gather(*tasks)


async def with_slow_connections(port: int, client: Client) -> None:
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
    for _, writer in opened:
        writer.write(HEAD.format(99).encode()[:-2])
    await one_by_one(client, 50)
    for _, writer in opened:
        writer.close()


class Engine:
    """The engine alone in a program of its own, on the same core."""

    def __init__(self) -> None:
        code = ENGINE.format(text=TEXT, batch=BATCH, requests=REQUESTS)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        os.sched_setaffinity(self._process.pid, {CORE})
        self._answer()  # the first time is slower

    def seconds(self, *, with_json: bool) -> float:
        """Processor time for each text."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(with_json)}\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> float:
        assert self._process.stdout is not None
        return float(self._process.stdout.readline())


def beside_the_engine(pid: int, client: Client) -> dict[str, Any]:
    """Processor time by turns, because other programs come and go meanwhile; neither has to wait for work."""
    engine, found = Engine(), [(0.0, 0.0, 0.0)]
    for _ in range(ROUNDS):
        before = processor_seconds(pid)
        asyncio.run(together(client, REQUESTS, 2))
        client.leave()
        served = (processor_seconds(pid) - before) / REQUESTS / BATCH
        found.append((served, engine.seconds(with_json=True), engine.seconds(with_json=False)))
    engine.close()
    service, with_json, alone = (1e3 * sum(each) / ROUNDS for each in zip(*found, strict=True))
    return {
        "processor ms for a text: service, engine with JSON, engine": [service, with_json, alone],
        "share of the engine's speed, with and without JSON": [with_json / service, alone / service],
    }


async def together(client: Client, number: int, clients: int) -> None:
    await asyncio.gather(*(one_by_one(client, number // clients) for _ in range(clients)))


def one_text_a_request(pid: int, port: int) -> dict[str, Any]:
    """What it saves to answer waiting requests together: one client after the other, and 32 at a time."""
    found: dict[str, list[float]] = {}
    for _ in range(ROUNDS // 3):
        for clients in (1, BATCH):
            client, before, calls = Client(port, {"text": TEXT}), processor_seconds(pid), engine_calls(port)
            asyncio.run(together(client, SHORT, clients))
            spent = (processor_seconds(pid) - before) / SHORT
            own = found.setdefault(f"{clients} at a time: processor ms of a request, requests a call", [0, 0])
            own[0] += 1e3 * spent * 3 / ROUNDS
            own[1] += SHORT / (engine_calls(port) - calls) * 3 / ROUNDS
    return {"requests of one text": found}


def engine_calls(port: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        found = re.search(r"^duilian_engine_calls_total (\S+)", answer.read().decode(), re.MULTILINE)
    assert found is not None
    return float(found[1])


def first_answers(number: int) -> dict[str, Any]:
    """Seconds from the start of the program to its first answer, and how many of them it computed."""
    found = []
    for _ in range(number):
        start = time.perf_counter()
        with service() as (pid, port):
            asyncio.run(Client(port, {"text": TEXT}).ask())
            found.append((time.perf_counter() - start, processor_seconds(pid)))
    walls, processor = (sorted(each) for each in zip(*found, strict=True))
    return {
        f"first answer of {number} starts, s: fastest, median, slowest": [
            walls[0],
            statistics.median(walls),
            walls[-1],
        ],
        "processor s: fastest, median, slowest": [processor[0], statistics.median(processor), processor[-1]],
    }


async def saturated(port: int, question: dict[str, Any], seconds: float) -> float:
    """Answers a second when two clients ask without pause: the capacity."""
    clients = Client(port, question), Client(port, question)
    await asyncio.gather(*(alone(client, seconds) for client in clients))
    return sum(len(client.seconds) for client in clients) / seconds


def under_load(pid: int, port: int, question: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Latencies in overload, and before and after it, because other programs come and go meanwhile."""
    quiet, busy = Client(port, question), Client(port, question)
    rate = asyncio.run(saturated(port, question, QUIET / 4))
    asyncio.run(alone(quiet, QUIET))
    asyncio.run(at_rate(busy, 2 * rate, min(seconds, 10)))
    memory, busy = megabytes(pid), Client(port, question)
    asyncio.run(at_rate(busy, 2 * rate, seconds))
    after = megabytes(pid)
    quiet.leave()
    asyncio.run(alone(quiet, QUIET))
    return {
        "quiet p50, p99 in ms": [quiet.share(0.5), quiet.share(0.99)],
        f"twice the capacity for {seconds:g} s: p50, p99 in ms": [busy.share(0.5), busy.share(0.99)],
        "accepted, refused, accepted a second, a second of capacity": [
            len(busy.seconds),
            busy.refused,
            len(busy.seconds) / seconds,
            rate,
        ],
        "MB after 10 s of overload, at its end": [memory, after],
    }


def measure(seconds: float, starts: int) -> dict[str, Any]:
    question = {"text": [TEXT] * BATCH}
    found = first_answers(starts) if starts else {}
    with service() as (pid, port):
        leave_core_to_service()
        client = Client(port, question)
        asyncio.run(one_by_one(client, REQUESTS))
        client.leave()
        found |= beside_the_engine(pid, client)
        found |= one_text_a_request(pid, port)
        found |= under_load(pid, port, question, seconds)
        slow = Client(port, question)
        asyncio.run(with_slow_connections(port, slow))
        found["with 200 slow connections: p50, p99 in ms"] = [slow.share(0.5), slow.share(0.99)]
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=180.0, help="how long the overload lasts")
    parser.add_argument("--starts", type=int, default=20, help="how many times the service is started")
    given = parser.parse_args()
    print(json.dumps(measure(given.seconds, given.starts), indent=1))

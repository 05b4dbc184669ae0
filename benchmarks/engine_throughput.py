"""What Spark, Ray and Dask leave of the speed of bare loops, one in each of two processes.

    python benchmarks/engine_throughput.py {spark,ray,dask} [--texts FILE] [--documents 40000] [--rows 2048]

Needs the engine (`python tools/engines.py` installs all three) and Java for Spark. Each way does a small and
a large job; how much longer the large one takes is the time of work, without that of the start. Wall time,
and CPU time of all processes: of the bare loops alone, and of the engine with all that it has started. Rounds
are interleaved.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from duilian.scale import ArrowAnalyzer
from scale_out import ASK, texts_of

WORKERS = 2
SMALL = 0.25  # of a large job
LOOK = 0.2  # seconds between two looks at the processes
TICKS = os.sysconf("SC_CLK_TCK")
Job = Callable[[], None]
Prepare = Callable[[pa.Table], Job]


class Spent(NamedTuple):
    """Seconds of a job."""

    wall: float
    cpu: float

    def beyond(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)


def cpu_of_family(only: Sequence[int] = ()) -> dict[tuple[int, str], float]:
    """CPU seconds of this process and all below it, or of `only` some, by number and start."""
    parents, found = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:  # has just ended
            continue
        parents[int(folder.name)] = int(fields[1])
        found[int(folder.name), fields[19]] = sum(map(int, fields[11:13])) / TICKS

    def is_family(process: int) -> bool:
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return {
        each: spent for each, spent in found.items() if each[0] in only or (not only and is_family(each[0]))
    }


class CpuMeter(threading.Thread):
    """Looks at processes again and again, because what an ended one has spent is often lost."""

    def __init__(self, only: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self._only, self._before = only, cpu_of_family(only)
        self._latest, self._ended = dict(self._before), threading.Event()

    def run(self) -> None:
        """Look until told to stop."""
        while not self._ended.wait(LOOK):
            self._latest |= cpu_of_family(self._only)

    def seconds(self) -> float:
        """Stop, and return the CPU seconds since the beginning."""
        self._ended.set()
        self.join()
        self._latest |= cpu_of_family(self._only)
        return sum(spent - self._before.get(each, 0.0) for each, spent in self._latest.items())


def parts_of(table: pa.Table, rows: int) -> list[pa.Table]:
    """The batches of a table, copied: a slice that is sent to a process takes the whole table with it."""
    texts = table["text"].to_pylist()
    return [pa.table({"text": texts[at : at + rows]}) for at in range(0, len(texts), rows)]


def loop(parts: list[pa.Table]) -> int:
    """One worker without an engine."""
    analyze = ArrowAnalyzer(ask=ASK)
    return sum(len(analyze(part)) for part in parts)


@contextmanager
def bare(rows: int) -> Iterator[tuple[Prepare, list[int]]]:
    """Two processes that wait for work, and their numbers."""
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:

        def prepared(table: pa.Table) -> Job:
            parts = parts_of(table, rows)
            shares = [parts[k::WORKERS] for k in range(WORKERS)]
            return lambda: check(sum(pool.map(loop, shares)), len(table))

        prepared(pa.table({"text": ["好"] * rows * WORKERS}))()
        yield prepared, [each.pid or 0 for each in multiprocessing.active_children()]


@contextmanager
def spark(rows: int) -> Iterator[Prepare]:
    from pyspark.sql import SparkSession

    from duilian.scale.spark import analyze_frame

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    session = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(rows))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")

    def prepared(table: pa.Table) -> Job:
        frame = session.createDataFrame(table).repartition(4 * WORKERS).cache()
        check(frame.count(), len(table))
        found = analyze_frame(frame, ArrowAnalyzer(ask=ASK))
        return lambda: found.write.format("noop").mode("overwrite").save()

    yield prepared
    session.stop()


@contextmanager
def ray(rows: int) -> Iterator[Prepare]:
    import ray as engine

    from duilian.scale.ray_data import analyze_dataset

    engine.init(num_cpus=WORKERS, include_dashboard=False, object_store_memory=500_000_000)
    engine.data.DataContext.get_current().enable_progress_bars = False

    def prepared(table: pa.Table) -> Job:
        source = engine.data.from_arrow(parts_of(table, rows))

        def job() -> None:
            found = analyze_dataset(source, ArrowAnalyzer(ask=ASK), workers=WORKERS, rows=rows)
            check(found.materialize().count(), len(table))

        return job

    yield prepared
    engine.shutdown()


@contextmanager
def dask(rows: int) -> Iterator[Prepare]:
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):

        def prepared(table: pa.Table) -> Job:
            parts = parts_of(table, rows)
            return lambda: wait(client.map(ArrowAnalyzer(ask=ASK), parts, pure=False))

        yield prepared


def check(found: int, wanted: int) -> None:
    """Refuse a speed that comes from lost rows."""
    if found != wanted:
        sys.exit(f"{found} of {wanted} rows came back")


def spent_on(job: Job, processes: Sequence[int]) -> Spent:
    meter, start = CpuMeter(processes), time.monotonic()
    meter.start()
    job()
    return Spent(time.monotonic() - start, meter.seconds())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engine", choices=["spark", "ray", "dask"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--rows", type=int, default=2048, help="of a batch")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    large = pa.table({"text": texts_of(asked.texts, asked.documents)})
    small = large.slice(0, int(asked.documents * SMALL))
    found: dict[str, list[Spent]] = {"bare loops": [], asked.engine: []}
    engine = {"spark": spark, "ray": ray, "dask": dask}[asked.engine]
    with bare(asked.rows) as (alone, workers), engine(asked.rows) as within:
        ways = (("bare loops", alone, workers), (asked.engine, within, ()))
        jobs = [(way, prepare(small), prepare(large), own) for way, prepare, own in ways]
        for _, short, _, _ in jobs:
            short()  # starts workers and loads models
        for _ in range(asked.rounds):
            for way, short, long, own in jobs:
                start = spent_on(short, own)
                found[way].append(spent_on(long, own).beyond(start))
    characters = sum(map(len, large["text"].slice(len(small)).to_pylist()))
    report(found, characters)


def report(found: dict[str, list[Spent]], characters: int) -> None:
    base = middle(found["bare loops"])
    print(f"{characters:,} characters beyond the start, {WORKERS} workers, median of rounds")
    for way, rounds in found.items():
        own = middle(rounds)
        rates = f"{characters / own.wall:10,.0f} characters/s, CPU {own.cpu:6.1f} s"
        shares = f"{base.wall / own.wall:4.0%} wall, {base.cpu / own.cpu:4.0%} CPU"
        print(f"{way:12} {rates}; of bare loops: {shares}")


def middle(rounds: list[Spent]) -> Spent:
    return Spent(
        statistics.median(each.wall for each in rounds), statistics.median(each.cpu for each in rounds)
    )


if __name__ == "__main__":
    main()

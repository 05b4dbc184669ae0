"""What Spark, Ray and Dask leave of the speed of bare loops, one in each of two processes.

    python benchmarks/engine_throughput.py {spark,ray,dask} [--texts FILE] [--documents 8000] [--rounds 3]

Needs the engine (`python tools/engines.py` installs all three) and Java for Spark. Each way does a small and
a large job; how much longer the large one takes is the time of work, without that of the start. Wall time,
and CPU time of all processes: of the workers, and of the engine around them. Rounds are interleaved.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from duilian.scale import ArrowAnalyzer
from scale_out import ASK, texts_of

WORKERS = 2
ROWS = 500  # of a batch
SMALL = 0.25  # of a large job
TICKS = os.sysconf("SC_CLK_TCK")
Job = Callable[[pa.Table], None]


class Spent(NamedTuple):
    """Seconds of a job."""

    wall: float
    cpu: float

    def beyond(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)


def cpu_of_family() -> float:
    """CPU seconds of this process and all that it has started, down to the last, the ended ones included."""
    parents, seconds = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(") ", 1)[1].split()
        except OSError:  # has just ended
            continue
        own = int(folder.name)
        parents[own], seconds[own] = int(fields[1]), sum(map(int, fields[11:15])) / TICKS

    def is_family(process: int) -> bool:
        while process not in (0, os.getpid()):
            process = parents.get(process, 0)
        return process != 0

    return sum(each for process, each in seconds.items() if is_family(process))


def parts_of(table: pa.Table) -> list[pa.Table]:
    """The batches of a table, copied: a slice that is sent to a process takes the whole table with it."""
    texts = table["text"].to_pylist()
    return [pa.table({"text": texts[at : at + ROWS]}) for at in range(0, len(texts), ROWS)]


def loop(parts: list[pa.Table]) -> int:
    """One worker without an engine."""
    analyze = ArrowAnalyzer(ask=ASK)
    return sum(len(analyze(part)) for part in parts)


@contextmanager
def bare() -> Iterator[Job]:
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        yield lambda table: deal(pool, parts_of(table))


def deal(pool: Any, parts: list[pa.Table]) -> None:
    pool.map(loop, [parts[k::WORKERS] for k in range(WORKERS)], chunksize=1)


@contextmanager
def spark() -> Iterator[Job]:
    from pyspark.sql import SparkSession

    from duilian.scale.spark import analyze_frame

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    session = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(ROWS))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    frames: dict[int, Any] = {}

    def job(table: pa.Table) -> None:
        if len(table) not in frames:
            frames[len(table)] = session.createDataFrame(table).repartition(4 * WORKERS).cache()
            frames[len(table)].count()
        found = analyze_frame(frames[len(table)], ArrowAnalyzer(ask=ASK))
        found.write.format("noop").mode("overwrite").save()

    yield job
    session.stop()


@contextmanager
def ray() -> Iterator[Job]:
    import ray as engine

    from duilian.scale.ray_data import analyze_dataset

    engine.init(num_cpus=WORKERS, include_dashboard=False, object_store_memory=500_000_000)
    engine.data.DataContext.get_current().enable_progress_bars = False

    def job(table: pa.Table) -> None:
        source = engine.data.from_arrow(parts_of(table))
        analyze_dataset(source, ArrowAnalyzer(ask=ASK), workers=WORKERS, rows=ROWS).materialize()

    yield job
    engine.shutdown()


@contextmanager
def dask() -> Iterator[Job]:
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield lambda table: wait(client.map(ArrowAnalyzer(ask=ASK), parts_of(table), pure=False))


def spent_on(job: Job, table: pa.Table) -> Spent:
    wall, cpu = time.monotonic(), cpu_of_family()
    job(table)
    return Spent(time.monotonic() - wall, cpu_of_family() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engine", choices=["spark", "ray", "dask"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    large = pa.table({"text": texts_of(asked.texts, asked.documents)})
    small = large.slice(0, int(asked.documents * SMALL))
    found: dict[str, list[Spent]] = {"bare loops": [], asked.engine: []}
    with bare() as alone, {"spark": spark, "ray": ray, "dask": dask}[asked.engine]() as within:
        for number in range(asked.rounds + 1):
            for way, job in (("bare loops", alone), (asked.engine, within)):
                start = spent_on(job, small)
                whole = spent_on(job, large)
                if number:  # the first round starts workers and loads models
                    found[way].append(whole.beyond(start))
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

"""Timing, table, plot and facts of a run for the benchmark scripts."""

from __future__ import annotations

import datetime
import platform
import resource
import time
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

Row = tuple[str, float, str]
"""Name, value, remark."""


def best_seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """Return the time of the shortest of several runs, the least disturbed one."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def facts() -> str:
    """Return date, machine and peak memory of this run."""
    cpu = platform.processor() or platform.machine()
    with_model = [line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{datetime.date.today()}, {with_model[0] if with_model else cpu}, peak memory {peak:.0f} MB"


def _cpu_lines() -> list[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return file.read().splitlines()
    except OSError:
        return []


def show(title: str, unit: str, rows: Sequence[Row], plot: str | None) -> None:
    """Print the table and, if requested, write a bar chart to a file."""
    table = Table(title=title, title_justify="left", caption=facts(), caption_justify="left")
    table.add_column("what")
    table.add_column(unit, justify="right")
    table.add_column("")
    for what, value, remark in rows:
        table.add_row(what, f"{value:,.1f}", remark)
    Console().print(table)
    if plot:
        draw(title, unit, rows, plot)


def draw(title: str, unit: str, rows: Sequence[Row], path: str) -> None:
    """Draw horizontal bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(rows) + 1.2))
    axes.barh([what for what, _, _ in rows][::-1], [value for _, value, _ in rows][::-1])
    axes.set_xlabel(unit)
    axes.set_xscale("log")
    axes.set_title(title, loc="left")
    figure.tight_layout()
    figure.savefig(path, dpi=150)

"""The log of a training run, one JSON object per line in a file next to the model; and learning curves.

Events are `start`, `stage`, `iteration` and `end`. An iteration has the loss, the dev score and that of each
side, what pruning kept, seconds, and the peak memory so far. Nothing is written before the first iteration
ends, so a run that fails at once leaves no log. A resumed run appends to it.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duilian.errors import CorpusError
from duilian.version import __version__

if TYPE_CHECKING:
    from duilian.learning.trainer import IterationReport

LOG_SUFFIX = ".log.jsonl"
MAX_LINES = 100_000
PRUNING = (" candidates", " oracle")  # details with names that end like this are not scores
_BARS = "▁▂▃▄▅▆▇█"


class RunLog:
    """Writes the log of one run."""

    def __init__(self, path: Path, *, is_resumed: bool, facts: Mapping[str, Any]) -> None:
        self.path = path
        self._mode = "a" if is_resumed and path.exists() else "w"
        self._begin, self._stage = time.monotonic(), ""
        self._waiting = [{"event": "start", "version": __version__, "resumed": is_resumed, **facts}]

    def stage(self, name: str) -> None:
        """Log the start of a stage."""
        self._stage = name
        self._waiting.append({"event": "stage", "name": name, "seconds": self._seconds()})

    def iteration(self, report: IterationReport) -> None:
        """Log an iteration, and write everything logged so far."""
        entry = {"event": "iteration", "stage": self._stage, **dataclasses.asdict(report)}
        self._write(entry | {"memory": peak_memory()})

    def end(self, score: float | None) -> None:
        """Log the end of the run."""
        self._write({"event": "end", "score": score, "seconds": self._seconds(), "memory": peak_memory()})

    def _seconds(self) -> float:
        return round(time.monotonic() - self._begin, 3)

    def _write(self, entry: Mapping[str, Any]) -> None:
        with open(self.path, self._mode, encoding="utf-8") as file:
            for each in (*self._waiting, entry):
                file.write(json.dumps(each, ensure_ascii=False) + "\n")
        self._mode, self._waiting = "a", []


def peak_memory() -> int | None:
    """The peak resident memory of this process, in bytes; None where it is not known."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else used * 1024


@dataclasses.dataclass(frozen=True)
class Curve:
    """A learning curve: iterations and, by name, a value for each; None where it is missing."""

    iterations: Sequence[int]
    values: Mapping[str, Sequence[float | None]]

    @property
    def scores(self) -> dict[str, Sequence[float | None]]:
        """The dev scores: the average, then one per side."""
        others = ("loss", "seconds", "memory")
        return {
            name: row
            for name, row in self.values.items()
            if name not in others and not name.endswith(PRUNING)
        }

    def to_dict(self) -> dict[str, Any]:
        """Losses and scores with four decimals, for the header of a model."""
        rows = {"loss": self.values.get("loss", ()), **self.scores}
        short = {name: [None if x is None else round(x, 4) for x in row] for name, row in rows.items()}
        return {"iteration": list(self.iterations)} | {name: row for name, row in short.items() if any(row)}


def curve_of(reports: Sequence[Mapping[str, Any]]) -> Curve:
    """The curve of iterations that come from a checkpoint or a log."""
    rows = [
        {"loss": each.get("loss"), "dev": each.get("score"), **each.get("details", {})}
        | {name: each[name] for name in ("seconds", "memory") if each.get(name) is not None}
        for each in reports
    ]
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value is not None))
    return Curve(
        [int(each["iteration"]) for each in reports],
        {name: [row.get(name) for row in rows] for name in names},
    )


def read_log(path: str | Path) -> list[Curve]:
    """Read the curves of a log, one per part of the model; an iteration that was run again counts once."""
    parts: list[dict[int, dict[str, Any]]] = []
    is_resumed = False
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        entry = _entry(str(path), number, line)
        if entry["event"] == "start":
            is_resumed = bool(entry.get("resumed"))
            parts = parts if is_resumed else []
        if entry["event"] != "iteration":
            continue
        if not parts or (entry["iteration"] <= max(parts[-1]) and not is_resumed):
            parts.append({})
        parts[-1][entry["iteration"]] = entry
        is_resumed = False
    return [curve_of([part[k] for k in sorted(part)]) for part in parts]


def _entry(path: str, number: int, line: str) -> dict[str, Any]:
    hint = "logs are written by duilian train"
    if number > MAX_LINES:
        raise CorpusError(path, number, f"a log has at most {MAX_LINES:,} lines", hint)
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("event"), str):
        raise CorpusError(path, number, "this is not a line of a training log", hint)
    if found["event"] == "iteration":
        numbers = [found.get(name) for name in ("loss", "score", "seconds", "memory")]
        details = found.get("details", {})
        is_right = isinstance(found.get("iteration"), int) and isinstance(details, dict)
        values = [*numbers, *(details.values() if is_right else ())]
        if not is_right or not all(x is None or _is_number(x) for x in values):
            raise CorpusError(path, number, "this iteration has values that are not numbers", hint)
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sparkline(values: Sequence[float | None]) -> str:
    """Draw a curve in one line of text.

    >>> sparkline([70.0, 75.0, 79.0, 80.0])
    '▁▅▇█'
    """
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    width = high - low or 1.0
    top = len(_BARS) - 1
    return "".join(" " if x is None else _BARS[round(top * (x - low) / width)] for x in values)

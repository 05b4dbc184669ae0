"""What a study would cost in full, extrapolated from its cells on samples.

The time of a cell is taken to grow with the words that it reads: those of its training sentences and of its
dev sets, once in every iteration. A training that stopped before its last iteration on a sample is taken to
stop there on the corpus too. A row that was not run on samples counts as the most similar row of its system.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import json
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from duilian.experiments.cell_run import CellFolder, read_json, write_json
from duilian.experiments.named_corpora import CorpusShelf
from duilian.experiments.plan import Cell, Place, StudyPlan
from duilian.experiments.study import Row, Study
from duilian.learning.config import Learning
from duilian.recipes.parts import Part

COST = "full-cost.json"


@dataclasses.dataclass(frozen=True)
class SystemCost:
    """The cells of a system in the full form, and an estimate of their CPU time."""

    system: str
    cells: int
    seconds: float
    likened: int  # cells that were not run on samples


@dataclasses.dataclass(frozen=True)
class FullCost:
    """An estimate of the full form; `unknown` are systems of which no cell was run."""

    systems: tuple[SystemCost, ...]
    unknown: tuple[str, ...] = ()

    @property
    def hours(self) -> float:
        """CPU time of all cells."""
        return sum(each.seconds for each in self.systems) / 3600

    @property
    def likened(self) -> int:
        """The number of cells that are counted as another cell."""
        return sum(each.likened for each in self.systems)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "cpu_hours": self.hours,
            "systems": [dataclasses.asdict(each) for each in self.systems],
            "unknown": list(self.unknown),
        }


def full_cost(plan: StudyPlan, cells: Path) -> FullCost | None:
    """The cost of the full form, kept in a file until cells or the study change; None if nothing has run."""
    measured = _measured(plan, cells)
    if not measured:
        return None
    said = json.dumps([plan.study.text, sorted(each.cell.key for each in measured)], ensure_ascii=False)
    key = hashlib.sha256(said.encode()).hexdigest()
    kept = read_json(cells.parent / COST)
    if kept is None or kept["key"] != key:
        found = _estimate(plan, measured)
        write_json(cells.parent / COST, {"key": key, **found.to_dict()})
        return found
    return FullCost(tuple(SystemCost(**each) for each in kept["systems"]), tuple(kept["unknown"]))


@dataclasses.dataclass(frozen=True)
class _Measured:
    """A cell that has run, and its time for each word that it has read."""

    row: Row
    data: str
    cell: Cell
    iterations: int | None  # if it stopped early
    per_word: float  # seconds
    per_judged_word: float


def _measured(plan: StudyPlan, cells: Path) -> list[_Measured]:
    found = []
    for place in plan.places:
        for cell in place.cells:
            one = _time(plan.shelf, place, cell, CellFolder(cells / cell.folder))
            if one is not None:
                found.append(one)
    return found


def _time(shelf: CorpusShelf, place: Place, cell: Cell, folder: CellFolder) -> _Measured | None:
    trained = folder.trained
    if trained is None:
        return None
    run = int(trained.get("iterations", _iterations(cell)))
    stopped = run if run < _iterations(cell) else None
    judged, seconds = 0.0, 0.0
    for path in sorted(folder.path.glob("*-[0-9]*.json")):
        figures = read_json(path) or {}
        judged += figures.get("tokens", 0)
        seconds += figures.get("cpu_seconds", 0.0)
    words = _words_read(shelf, cell, stopped)
    per_word = float(trained["cpu_seconds"]) / max(words, 1.0)
    return _Measured(place.row, place.data.name, cell, stopped, per_word, seconds / max(judged, 1.0))


def _estimate(plan: StudyPlan, measured: Sequence[_Measured]) -> FullCost:
    """The full form's cells, each at the pace of the most similar one that has run."""
    with tempfile.TemporaryDirectory() as folder:
        shelf = CorpusShelf(plan.shelf.data, Path(folder), (None, None))
        study = Study.load(plan.study.path).in_form("full")
        shelf.prepare(study.prepare)
        whole = StudyPlan(study, shelf)
        systems: dict[str, list[tuple[float, bool]]] = collections.defaultdict(list)
        unknown: dict[str, None] = {}
        done: set[str] = set()
        for place in whole.places:
            for cell in place.cells:
                if cell.key in done:
                    continue
                done.add(cell.key)
                like = _most_similar(place, measured)
                if like is None:
                    unknown[place.row.system] = None
                    continue
                is_same = like.data == place.data.name and like.row.set == place.row.set
                systems[place.row.system].append((_seconds(shelf, cell, like), not is_same))
    return FullCost(
        tuple(
            SystemCost(name, len(each), sum(s for s, _ in each), sum(other for _, other in each))
            for name, each in systems.items()
        ),
        tuple(unknown),
    )


def _most_similar(place: Place, measured: Sequence[_Measured]) -> _Measured | None:
    """The cell of the same system with the fewest other settings, on the same data if there is one."""
    own = [each for each in measured if each.row.system == place.row.system]
    wanted = set(place.row.set)
    return min(
        own,
        key=lambda each: (len(wanted.symmetric_difference(each.row.set)), each.data != place.data.name),
        default=None,
    )


def _seconds(shelf: CorpusShelf, cell: Cell, like: _Measured) -> float:
    judged = sum(
        shelf.size(cell.gold[each.place], "dev" if each.part == "dev" else "test")[1]
        for each in cell.measurements
    )
    return _words_read(shelf, cell, like.iterations) * like.per_word + judged * like.per_judged_word


def _words_read(shelf: CorpusShelf, cell: Cell, stopped: int | None) -> float:
    """Words of training and dev sentences, in all iterations."""
    content = tomllib.loads(cell.recipe)
    once = 0.0
    for side in content.get("side", ()):
        once += _share(shelf, side, "train", side.get("sample")) + _share(shelf, side, "dev", None)
    return once * (stopped or _iterations(cell))


def _share(shelf: CorpusShelf, side: Mapping[str, Any], part: Part, sample: int | None) -> float:
    """Words of a part of a side, or of those of its sentences that are drawn."""
    sentences, words = shelf.size(side, part)
    return words * min(sample or sentences, sentences) / max(sentences, 1)


def _iterations(cell: Cell) -> int:
    learning = tomllib.loads(cell.recipe).get("learning", {})
    return int(learning.get("iterations", Learning.iterations))

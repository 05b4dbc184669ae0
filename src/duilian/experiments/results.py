"""The tables of a study: our figures beside the paper's, for CSV, notebooks and pages."""

from __future__ import annotations

import csv
import dataclasses
import io
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import read
from duilian.engine import compare
from duilian.experiments.cell_run import CellFolder, read_json, write_json
from duilian.experiments.full_cost import FullCost, full_cost
from duilian.experiments.plan import Cell, Place, StudyPlan
from duilian.experiments.study import Column, ShortForm, TablePlan
from duilian.result_tables import frame, html_table, shown_p

TRAIN = "train."
SIGNIFICANT = 0.05


@dataclasses.dataclass(frozen=True)
class ResultRow:
    """A row: for each column the mean over seeds, its spread and the paper's value; and a p-value."""

    name: str
    data: str
    values: tuple[float | None, ...]
    spreads: tuple[float | None, ...]
    paper: tuple[float | None, ...]
    p: float | None = None  # of the first column, against the row that `compare` names
    cells: tuple[str, ...] = ()

    def shown(self, k: int, decimals: int = 2) -> str:
        """Format a column: our figure, its spread over seeds, and the paper's figure in brackets."""
        spread, paper = shown(self.spreads[k], decimals), shown(self.paper[k], decimals)
        more = (f" ± {spread}" if spread else "", f" [{paper}]" if paper else "")
        return f"{shown(self.values[k], decimals)}{''.join(more)}".strip()


@dataclasses.dataclass(frozen=True)
class FilledTable:
    """A table with its rows."""

    plan: TablePlan
    rows: tuple[ResultRow, ...]
    parts: tuple[str, ...]
    comparisons: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The paper's name for it."""
        return self.plan.about.name

    @property
    def columns(self) -> list[str]:
        """The headings."""
        return [column.title for column in self.plan.columns]

    def shown(self, row: ResultRow) -> list[str]:
        """Format the columns of a row, with p if any row has one."""
        cells = [row.shown(k, column.decimals) for k, column in enumerate(self.plan.columns)]
        return [*cells, *([shown_p(row.p)] if self.has_p else [])]

    @property
    def has_p(self) -> bool:
        """Whether rows were compared."""
        return any(row.p is not None for row in self.rows)

    @property
    def has_paper(self) -> bool:
        """Whether the paper has figures here."""
        return any(value is not None for row in self.rows for value in row.paper)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """The results of a study so far; values of cells that have not run are None."""

    study: str
    title: str
    paper: str
    differs: Sequence[str]
    facts: Mapping[str, Any]
    tables: Sequence[FilledTable]
    absent: Mapping[str, str]  # data that is not available, with the missing file
    seconds: float  # CPU time of training and measuring all finished cells
    cells: int
    finished: int
    limits: str = ""  # what a shorter form was limited to
    full_cost: FullCost | None = None  # of the whole study, if this is its form on samples

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "study": self.study,
            "title": self.title,
            "paper": self.paper,
            "facts": dict(self.facts),
            "cells": self.cells,
            "finished": self.finished,
            "cpu_seconds": self.seconds,
            **({} if self.full_cost is None else {"full_cost": self.full_cost.to_dict()}),
            "tables": [
                {
                    "name": table.name,
                    "title": table.plan.about.title,
                    "parts": list(table.parts),
                    "columns": table.columns,
                    "rows": [dataclasses.asdict(row) for row in table.rows],
                }
                for table in self.tables
            ],
        }

    def rows(self) -> list[tuple[Any, ...]]:
        """A line for each value: table, data, row, column, value, spread, the paper's value, p."""
        return [
            (table.name, row.data, row.name, title, value, spread, paper, row.p if k == 0 else None)
            for table in self.tables
            for row in table.rows
            for k, (title, value, spread, paper) in enumerate(
                zip(table.columns, row.values, row.spreads, row.paper, strict=True)
            )
        ]

    def to_frame(self) -> Any:
        """The values as a pandas DataFrame."""
        return frame(TITLES, self.rows())

    def to_csv(self) -> str:
        """The values as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(TITLES)
        writer.writerows(self.rows())
        return out.getvalue()

    def _repr_html_(self) -> str:
        parts = []
        for table in self.tables:
            places = [column.decimals for column in table.plan.columns]
            rows = [(row.data, row.name, *map(shown, row.values, places)) for row in table.rows]
            caption = f"{table.name}: {table.plan.about.title}"
            parts.append(html_table(("data", "", *table.columns), rows, caption=caption))
        return "".join(parts)


TITLES = ("table", "data", "row", "column", "value", "spread", "paper", "p")


def shown(value: float | None, decimals: int = 2) -> str:
    if value is None:
        return ""
    return f"{value:.{decimals}f}" if abs(value) < 1000 else f"{value:,.0f}"


def collect(plan: StudyPlan, cells: Path, facts: Mapping[str, Any]) -> ExperimentResult:
    """The tables of all cells that have finished."""
    tables = []
    for table in plan.study.tables:
        places = [place for place in plan.places if place.table is table]
        if places:
            tables.append(_filled(table, places, cells))
    folders = [CellFolder(cells / cell.folder) for cell in plan.cells]
    trained = [found for folder in folders if (found := folder.trained) is not None]
    asked = [
        found
        for cell, folder in zip(plan.cells, folders, strict=True)
        for each in cell.measurements
        if (found := folder.found(cell, each)) is not None
    ]
    study = plan.study
    return ExperimentResult(
        study=study.name,
        title=study.title,
        paper=study.paper,
        differs=study.differs,
        facts=facts,
        tables=tables,
        absent=plan.absent,
        seconds=sum(each["cpu_seconds"] for each in (*trained, *asked)),
        cells=len(plan.cells),
        finished=len(trained),
        limits="" if study.form == "full" else _limits(study.limits, trained),
        full_cost=full_cost(plan, cells) if study.form == "sample" else None,
    )


def _limits(form: ShortForm, trained: Sequence[Mapping[str, Any]]) -> str:
    """The limits of a shorter form: sentences as in the study, iterations as they were run."""
    runs = sorted({int(each["iterations"]) for each in trained if "iterations" in each})
    which = "a corpus"
    if form.other_limit is not None:
        which = f"the first corpus of the data, and {form.other_limit:,} of any other"
    said = [] if form.limit is None else [f"at most {form.limit:,} training sentences of {which}"]
    said += [] if form.dev_limit is None else [f"at most {form.dev_limit:,} sentences of a dev or test set"]
    if runs:
        span = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
        said.append(f"{span} {'iteration' if runs[-1] == 1 else 'iterations'} in the last stage of training")
    return ", ".join(said)


def _filled(table: TablePlan, places: Sequence[Place], cells: Path) -> FilledTable:
    rows, comparisons = [], {}
    bases = {place.data.name: place for place in places if place.row.name == table.about.compare}
    for place in places:
        base = bases.get(place.data.name)
        p = None
        if base is not None and base is not place:
            found = _comparison(base, place, cells)
            if found is not None:
                p = _p(found, table.columns[0].metric)
                comparisons[f"{place.data.name}: {base.row.name} and {place.row.name}"] = found
        rows.append(_row(place, cells, p))
    parts = tuple(dict.fromkeys(place.part for place in places))
    return FilledTable(table, tuple(rows), parts, comparisons)


def _row(place: Place, cells: Path, p: float | None) -> ResultRow:
    columns = place.table.columns
    runs = [[_value(cell, place, column, cells) for cell in place.cells] for column in columns]
    known = [[value for value in run if value is not None] for run in runs]
    paper = (*place.row.paper, *(None,) * (len(columns) - len(place.row.paper)))
    return ResultRow(
        place.row.name,
        place.data.name,
        tuple(statistics.fmean(run) if run else None for run in known),
        tuple(statistics.stdev(run) if len(run) > 1 else None for run in known),
        paper,
        p,
        tuple(cell.folder for cell in place.cells),
    )


def _value(cell: Cell, place: Place, column: Column, cells: Path) -> float | None:
    folder = CellFolder(cells / cell.folder)
    if column.metric.startswith(TRAIN):
        found = (folder.trained or {}).get(_named(column.metric.removeprefix(TRAIN), column, cell))
        return None if found is None else float(found)
    asked = place.measurement(column)
    figures: Any = None if asked is None else folder.found(cell, asked)
    for key in column.metric.split("."):
        figures = figures.get(key) if isinstance(figures, dict) else None
    return None if figures is None else float(figures)


def _named(metric: str, column: Column, cell: Cell) -> str:
    """A figure of the log with the standard's name: `candidates` is `ctb candidates`."""
    is_of_side = metric in ("candidates", "oracle")
    return (
        f"{cell.gold[column.side]['standard']} {metric}"
        if is_of_side and column.side in cell.gold
        else metric
    )


def _comparison(base: Place, other: Place, cells: Path) -> Mapping[str, Any] | None:
    """The comparison of two rows on the first column, stored with the answers."""
    column = base.table.columns[0]
    answers = [list(_answers(place, column, cells)) for place in (base, other)]
    if any(len(runs) < len(base.cells) for runs in answers):
        return None
    stamp = [path.stat().st_mtime_ns for runs in answers for path in runs]
    kept = answers[1][0].with_name(f"{answers[1][0].stem}-against-{base.cells[0].folder}.json")
    found = read_json(kept)
    if found is None or found["stamp"] != stamp:
        standard = base.cells[0].gold[column.side]["standard"]
        gold = answers[0][0].with_name(answers[0][0].name.replace(".answer.", ".gold."))
        systems = {
            place.row.name: [read(path, standard=standard, check_tags=False) for path in runs]
            for place, runs in zip((base, other), answers, strict=True)
        }
        compared = compare(read(gold, standard=standard, check_tags=False), systems)
        found = {"stamp": stamp, "comparison": compared.to_dict()}
        write_json(kept, found)
    return dict(found["comparison"])


def _answers(place: Place, column: Column, cells: Path) -> Iterator[Path]:
    """The answer files of a row's finished cells."""
    asked = place.measurement(column)
    for cell in place.cells:
        folder = CellFolder(cells / cell.folder)
        if asked is not None and folder.found(cell, asked) is not None:
            yield folder.corpus_file(asked, "answer")


def _p(found: Mapping[str, Any], metric: str) -> float | None:
    """The p-value of the column's metric, if the metric was compared."""
    name = metric.split(".")[0]
    for each in found["contrasts"][0]["differences"]:
        if each["metric"] == name:
            return float(each["p"])
    return None

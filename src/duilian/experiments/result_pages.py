"""The pages of a study: CSV, JSON, one HTML file, and Markdown for the documentation."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from duilian.atomic_files import replacing
from duilian.experiments.cell_run import TEST_LOG, CellFolder
from duilian.experiments.full_cost import FullCost
from duilian.experiments.plan import StudyPlan
from duilian.experiments.results import SIGNIFICANT, ExperimentResult, FilledTable, ResultRow
from duilian.experiments.study import studies
from duilian.learning.run_log import read_log
from duilian.reports.charts import line_chart
from duilian.reports.html_page import Section, escape, note, page, shown, table
from duilian.reports.sections import comparison_sections, curve_sections
from duilian.result_tables import shown_p
from duilian.wording import counted

COST_TITLE = "What the full form costs"
COST_HEADS = ("system", "cells", "CPU minutes")
LONG = 3 * 3600.0  # seconds that are better said in hours
MAX_CURVES = 30  # of the HTML page
FORMS = {
    "quick": ("The quick form:", "It shows that everything runs, and no more."),
    "sample": ("On samples:", "Compare rows with each other, not with the paper's figures."),
}  # how each shorter form is introduced, and what its figures are worth


def write_pages(result: ExperimentResult, plan: StudyPlan, cells: Path, output: Path) -> None:
    """Write all pages into the output folder."""
    tests = _test_readings(output / TEST_LOG)
    pages = {
        "results.csv": result.to_csv(),
        "results.json": json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n",
        "report.md": markdown_page(result, tests),
        "report.html": page(result.title, facts_line(result), list(_sections(result, plan, cells, tests))),
    }
    for name, text in pages.items():
        with replacing(output / name) as file:
            file.write(text.encode())


def _test_readings(path: Path) -> list[str]:
    """The cell that each log line of a test set belongs to."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [str(json.loads(line)["cell"]) for line in lines]


def facts_line(result: ExperimentResult) -> str:
    facts = result.facts
    commit = f", commit {facts['commit']}" if facts.get("commit") else ""
    seeds = ", ".join(map(str, facts["seeds"]))
    return (
        f"{facts['date']}, {facts['machine']}, version {facts['version']}{commit}, seed {seeds}; "
        f"{result.finished} of {result.cells} cells, {_cpu_time(result.seconds)} of CPU time in all."
    )


def _cpu_time(seconds: float) -> str:
    if seconds >= LONG:
        return f"{seconds / 3600:,.1f} h"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


def command_line(result: ExperimentResult) -> str:
    form = result.facts["form"]
    option = "" if form == "full" else f" --{form}"
    name = result.study if result.study in studies() else f"{result.study}.toml"
    return f"duilian experiment {name} --data DIR -o OUT{option}"


def markdown_page(result: ExperimentResult, tests: Sequence[str] = ()) -> str:
    """The page for the documentation."""
    lines = [f"# {result.title}", "", f"<!-- Made by `{command_line(result)}`; do not edit. -->", ""]
    lines += [f"Paper: {result.paper}", ""] if result.paper else []
    lines += [f"`{command_line(result)}`", "", f"{facts_line(result)} {_tests_line(tests)}", ""]
    if form := _form_text(result):
        lines += [f"**{form[0]}** {form[1]}", ""]
    if result.differs:
        lines += [_notes_title(result), "", *(f"- {each}" for each in result.differs), ""]
    if result.finished < result.cells:
        lines += [_unfinished_line(result), ""]
    for name, path in result.absent.items():
        lines += [f"Not run: {name} (there is no `{Path(path).name}`).", ""]
    for each in result.tables:
        lines += list(_markdown_table(each))
    if result.full_cost is not None:
        lines += list(_markdown_cost(result.full_cost))
    return "\n".join(lines).rstrip() + "\n"


def _form_text(result: ExperimentResult) -> tuple[str, str] | None:
    """The name of a shorter form, and what it says of itself."""
    if result.facts["form"] not in FORMS:
        return None
    name, worth = FORMS[result.facts["form"]]
    return name, f"{result.limits or 'fewer rows and tables'}. {worth}"


def _unfinished_line(result: ExperimentResult) -> str:
    return f"Not finished: {counted(result.cells - result.finished, 'cell')}; the tables lack their figures."


def _notes_title(result: ExperimentResult) -> str:
    return "What differs from the paper:" if result.paper else "Notes:"


def _tests_line(tests: Sequence[str]) -> str:
    """How often test sets were read, and for how many models; each may answer in several standards."""
    if not tests:
        return "No test set was read."
    times = "once" if len(tests) == 1 else f"{len(tests)} times"
    models = len(set(tests))
    return f"Test sets were read {times}, at the end, to judge {counted(models, 'model')}."


def _judged_line(found: FilledTable) -> str:
    asked = found.plan.about.part
    instead = "" if asked in found.parts or not found.parts else f"; the full form is judged on {asked} sets"
    return f"Judged on {' and '.join(found.parts)} sets{instead}."


def _markdown_table(found: FilledTable) -> Iterator[str]:
    about = found.plan.about
    yield from (f"## {about.name}: {about.title}", "", _judged_line(found), "")
    if about.note:
        yield from (about.note, "")
    heads = ["data", "", *found.columns, *(["p"] if found.has_p else [])]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- | --- |{' ---: |' * (len(heads) - 2)}"
    for row in found.rows:
        yield f"| {' | '.join([row.data, row.name, *found.shown(row)])} |"
    yield ""
    yield from _verdicts(found)


def _markdown_cost(found: FullCost) -> Iterator[str]:
    yield from (f"## {COST_TITLE}", "", cost_line(found), "")
    yield f"| {' | '.join(COST_HEADS)} |"
    yield "| --- | ---: | ---: |"
    for each in found.systems:
        yield f"| {each.system} | {each.cells} | {each.seconds / 60:,.1f} |"
    yield ""


def cost_line(found: FullCost) -> str:
    """What the estimate says, and what it is made of."""
    seconds = found.hours * 3600
    said = (
        f"About {_cpu_time(seconds)} of CPU time, so {_cpu_time(seconds / 2)} on two cores, on those of the "
        "corpora that are here. This is an estimate: the time of each cell on samples, times the number of "
        "words that the full form reads, in as many iterations."
    )
    if found.likened:
        said += f" {counted(found.likened, 'cell')} not run on samples count as the most similar one."
    if found.unknown:
        said += f" Without an estimate: {', '.join(found.unknown)}."
    return said


def _verdicts(found: FilledTable) -> Iterator[str]:
    """The verdicts of the comparison; rows without a gain are named too."""
    base = found.plan.about.compare
    if base is None:
        return
    better: list[str] = []
    same: list[str] = []
    worse: list[str] = []
    firsts = {row.data: row.values[0] for row in found.rows if row.name == base}
    for row in found.rows:
        first, own = firsts.get(row.data), row.values[0]
        if row.p is None or first is None or own is None:
            continue
        group = same if row.p >= SIGNIFICANT else better if own > first else worse
        group.append(f"{row.name} ({row.data}, {own - first:+.2f})")
    for title, group in (
        (f"Better than {base}", better),
        (f"No significant difference from {base}", same),
        (f"Worse than {base}", worse),
    ):
        if group:
            yield from (f"{title}, p {'≥' if group is same else '<'} {SIGNIFICANT}: {', '.join(group)}.", "")


def _about(result: ExperimentResult, tests: Sequence[str]) -> Iterator[str]:
    """The introduction of the page, as in Markdown."""
    if result.paper:
        yield note(f"Paper: {result.paper}")
    yield note(_tests_line(tests))
    if form := _form_text(result):
        yield note(" ".join(form))
    if result.differs:
        yield note(_notes_title(result))
        yield f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in result.differs)}</ul>"
    if result.finished < result.cells:
        yield note(_unfinished_line(result))
    for name, path in result.absent.items():
        yield note(f"Not run: {name} (there is no {Path(path).name}).")


def _sections(
    result: ExperimentResult, plan: StudyPlan, cells: Path, tests: Sequence[str]
) -> Iterator[Section]:
    yield Section("About", list(_about(result, tests)))
    for found in result.tables:
        yield Section(f"{found.name}: {found.plan.about.title}", list(_table_parts(found)))
    if result.full_cost is not None:
        rows = [(each.system, each.cells, each.seconds / 60) for each in result.full_cost.systems]
        yield Section(
            COST_TITLE, [note(cost_line(result.full_cost)), table(COST_HEADS, rows, caption=COST_TITLE)]
        )
    for found in result.tables:
        for name, comparison in found.comparisons.items():
            for section in list(comparison_sections(comparison))[1:]:
                yield Section(f"{found.name}, {name}", section.parts)
    for cell in plan.cells[:MAX_CURVES]:
        folder = CellFolder(cells / cell.folder)
        if folder.log.exists():
            yield from curve_sections(read_log(folder.log), f"Training of {cell.name}")


def _table_parts(found: FilledTable) -> Iterator[str]:
    about = found.plan.about
    yield note(_judged_line(found))
    if about.note:
        yield note(about.note)
    heads = ["data", "row"]
    forms: dict[str, Callable[[object], str]] = {"p": shown_p}
    has_paper = [any(row.paper[k] is not None for row in found.rows) for k in range(len(found.columns))]
    for column, has in zip(found.plan.columns, has_paper, strict=True):
        own = [column.title, f"{column.title}, paper"] if has else [column.title]
        heads += own
        forms |= dict.fromkeys(own, functools.partial(shown, decimals=column.decimals))
    p = ["p"] if found.has_p else []
    rows = [[row.data, row.name, *_pairs(row, has_paper), *([row.p] if p else [])] for row in found.rows]
    yield table([*heads, *p], rows, caption=about.title, forms=forms)
    if about.chart:
        yield from _charts(found, about.chart)
    if about.across:
        yield from _across(found, about.across)


def _across(found: FilledTable, axis: str) -> Iterator[str]:
    """A line for each row; x is the number in the heading of each column that has one."""
    for data in dict.fromkeys(row.data for row in found.rows):
        series: dict[str, list[tuple[float, float]]] = {}
        for row in (each for each in found.rows if each.data == data):
            for title, value in zip(found.columns, row.values, strict=True):
                x = _number(title)
                if x is not None and value is not None:
                    series.setdefault(row.name, []).append((x, value))
        yield line_chart(series, title=f"{found.plan.about.title}, {data}", x=axis, y="")


def _pairs(row: ResultRow, has_paper: Sequence[bool]) -> list[float | None]:
    """Our values, each with the paper's in the columns that have some."""
    return [
        each
        for value, paper, has in zip(row.values, row.paper, has_paper, strict=True)
        for each in ((value, paper) if has else (value,))
    ]


def _charts(found: FilledTable, axis: str) -> Iterator[str]:
    """A line for each data set and one for the paper; x is the number in the name of each row."""
    for k, title in enumerate(found.columns):
        series: dict[str, list[tuple[float, float]]] = {}
        for row in found.rows:
            x = _number(row.name)
            for name, values in ((row.data, row.values), ("paper", row.paper)):
                value = values[k]
                if x is not None and value is not None:
                    series.setdefault(name, []).append((x, value))
        yield line_chart(_distinct(series), title=f"{title} by {axis}", x=axis, y=title)


def _distinct(series: dict[str, list[tuple[float, float]]]) -> dict[str, Sequence[tuple[float, float]]]:
    return {name: sorted(set(points)) for name, points in series.items()}


def _number(name: str) -> float | None:
    word = name.replace(",", "").split()[-1] if name else ""
    try:
        return float(word)
    except ValueError:
        return None

"""`duilian experiment`: the papers' studies."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from duilian.cli.detail_tables import table
from duilian.cli.progress import Stages
from duilian.cli.tables import show
from duilian.experiments import Study, experiment, studies
from duilian.wording import clock

if TYPE_CHECKING:
    from duilian.experiments.results import ExperimentResult, FilledTable
    from duilian.experiments.study_run import CellProgress

EXAMPLE = (
    "Example:\n\n    duilian experiment li2017 --data corpora/ -o li2017/ --quick\n\n"
    "    duilian experiment --list"
)


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A study (see --list), or a TOML file of your own.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT", help="Folder for results.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the corpora (default: DUILIAN_DATA).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the quick form: few sentences, minutes at most.")
    ] = False,
    sample: Annotated[
        bool, typer.Option("--sample", help="Run every table on samples of the corpora.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Number of cells to run at a time.")] = 1,
    only: Annotated[
        str | None, typer.Option(metavar="CELL", help="Run only the cells whose name contains this.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run cells on the workers of this Dask scheduler instead."),
    ] = None,
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep the models when the study is done.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
) -> None:
    """Run a study from the papers, or your own: train its systems, measure them, and make its tables.

    Finished cells are kept in OUT and never run again: repeat the command to continue an interrupted study.
    Test sets are read once, at the end. The results are in OUT: results.csv, report.html and report.md.
    """
    if list_:
        rows = [(each, found.title, found.paper) for each in studies() for found in (Study.load(each),)]
        show(table(("study", "about", "paper"), rows, numbers=()))
        return
    if name is None or output is None:
        missing = "NAME" if name is None else "--output"
        raise typer.BadParameter("give a study and a folder, or --list", param_hint=missing)
    with _Progress() as progress:
        asked: dict[str, Any] = {"data": data, "quick": quick, "sample": sample, "jobs": jobs, "only": only}
        asked |= {"keep_models": keep_models, "on_progress": progress.tell}
        try:
            found = experiment(name, output, **asked, executor=_dask(dask) if dask else None)
        except KeyboardInterrupt as stop:
            stop.add_note(f"{output} keeps the finished cells; run the same command to continue")
            raise
    show_result(found)
    typer.echo(f"\n{output / 'report.html'}: {found.finished} of {found.cells} cells")


def _dask(address: str) -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise typer.BadParameter("pip install 'dask[distributed]'", param_hint="--dask") from None
    return distributed.Client(address).get_executor()


class _Progress:
    """Shows finished cells, with the time left on a terminal."""

    def __init__(self) -> None:
        self._stages = Stages("preparing") if sys.stderr.isatty() else None

    def __enter__(self) -> _Progress:
        if self._stages is not None:
            self._stages.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stages is not None:
            self._stages.__exit__()

    def tell(self, found: CellProgress) -> None:
        left = f", {clock(found.seconds_left)} left" if found.seconds_left else ""
        line = f"cell {found.number} of {found.total}: {found.name}{left}"
        if self._stages is None:
            typer.echo(line, err=True)
        else:
            self._stages.print(line)
            self._stages.begin("the next cell" if found.seconds_left else "tables", stays=False)


def show_result(found: ExperimentResult) -> None:
    """Print the tables; the paper's figures are in brackets."""
    for each in found.tables:
        title = Text(f"\n{each.name}: {each.plan.about.title} ({', '.join(each.parts)})")
        show(title, _table(each))


def _table(found: FilledTable) -> Any:
    titles = ("data", "", *found.columns, *(("p",) if found.has_p else ()))
    rows = [[row.data, row.name, *found.shown(row)] for row in found.rows]
    return table(titles, rows, numbers=range(2, len(titles)))

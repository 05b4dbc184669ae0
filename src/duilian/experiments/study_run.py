"""Runs a study: each cell once, in this process, in several, or by any executor; then makes the tables."""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import logging
import multiprocessing
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from duilian.arguments import checked
from duilian.atomic_files import lock_file
from duilian.errors import ConfigError
from duilian.experiments.cell_run import CellFolder, left_to_do, read_json, run_cell, write_json
from duilian.experiments.named_corpora import CorpusShelf
from duilian.experiments.plan import Cell, StudyPlan
from duilian.experiments.result_pages import write_pages
from duilian.experiments.results import ExperimentResult, collect
from duilian.experiments.study import Study
from duilian.learning.jobs import has_workers, run_jobs_elsewhere
from duilian.recipes.recipe import DATA_VARIABLE, data_hint
from duilian.version import __version__

STATE, LOCK = "experiment.json", ".lock"
_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True)
class CellProgress:
    """The progress of a study: cells done, total, the last cell, and an estimate of the seconds left.

    `number` is the place of the last cell, the same for its dev sets and its test sets.
    """

    done: int
    total: int
    name: str
    seconds_left: float | None
    number: int


@checked
def experiment(
    name: str | Path,
    output: str | Path,
    *,
    data: str | Path | None = None,
    quick: bool = False,
    sample: bool = False,
    jobs: int = 1,
    only: str | None = None,
    executor: Executor | None = None,
    keep_models: bool = False,
    on_progress: Callable[[CellProgress], None] | None = None,
) -> ExperimentResult:
    """Run a study, or the rest of it, and return its tables; they are also written to `output`.

    `name` is a study of the package, or the path of your own; `data` is the folder of the corpora. `only`, a
    pattern or part of a name, selects cells to run. `sample` is the form on samples of the corpora, `quick`
    the shortest one. `jobs` is the number of processes. An `executor`, such as
    `dask.distributed.Client(…).get_executor()`, runs the cells elsewhere, in the same folders; so do the
    workers of `joblib.parallel_config`, of Dask or Ray.

    >>> found = experiment("demo", "out", quick=True)
    >>> [(row.name, row.values[0] is not None) for row in found.tables[0].rows]
    [('alone', True), ('together', True)]
    """
    if quick and sample:
        raise ConfigError("quick and sample are two forms of a study: choose one")
    study = Study.load(name).in_form("quick" if quick else "sample" if sample else "full")
    if jobs < 1:
        raise ConfigError(f"jobs must be at least 1, got {jobs!r}")
    runner = _Runner(study, Path(output), _data_folder(study, data), keep_models=keep_models)
    with runner.locked():
        return runner.run(only, executor, jobs, on_progress or (lambda _: None))


def _data_folder(study: Study, data: str | Path | None) -> Path:
    if study.is_demo and data is None:
        from duilian import demo

        return Path(demo.__file__).parent
    chosen = data or os.environ.get(DATA_VARIABLE)
    if not chosen:
        hint = f"name their folder with --data DIR or the variable {DATA_VARIABLE}"
        raise ConfigError(f"the study {study.name!r} needs corpora", hint)
    if not Path(chosen).is_dir():
        raise ConfigError(f"{chosen}: there is no such folder", data_hint(Path(chosen)))
    return Path(chosen).resolve()


class _Runner:
    """One run of a study in its folder."""

    def __init__(self, study: Study, output: Path, data: Path, *, keep_models: bool) -> None:
        self.study, self.output, self.data, self.keep_models = study, output.resolve(), data, keep_models

    def locked(self) -> Any:
        """Take the folder for this run."""
        if self.output.exists() and not self.output.is_dir():
            raise ConfigError(f"{self.output}: this is not a folder", "name a folder for the output")
        state = self.output / STATE
        if self.output.exists() and not state.exists() and any(self.output.glob("[!.]*")):
            message = f"{self.output}: this folder contains files that are not from an experiment"
            raise ConfigError(message, "choose an empty or new folder")
        self.output.mkdir(parents=True, exist_ok=True)
        file = open(self.output / LOCK, "a", encoding="utf-8")  # noqa: SIM115
        if lock_file(file) is False:
            file.close()
            raise ConfigError(f"{self.output}: another run is writing to this folder", "wait for it to end")
        return file

    def run(
        self,
        only: str | None,
        executor: Executor | None,
        jobs: int,
        tell: Callable[[CellProgress], None],
    ) -> ExperimentResult:
        """Run unfinished cells, dev sets first, test sets last; then write the pages."""
        form = self.study.limits
        shelf = CorpusShelf(self.data, self.output, (form.limit, form.dev_limit))
        state = self._state()
        shelf.prepare(self.study.prepare)
        plan = StudyPlan(self.study, shelf)
        facts = self._begin(state, plan)
        chosen = _chosen(plan.cells, only)
        for parts in (("dev",), ("dev", "test")):
            self._run_cells(chosen, parts, executor, jobs, tell)
        result = collect(plan, self._cells_folder, facts)
        write_pages(result, plan, self._cells_folder, self.output)
        if not self.keep_models and only is None:
            for cell in plan.cells:
                CellFolder(self._cells_folder / cell.folder).model.unlink(missing_ok=True)
        return result

    @property
    def _cells_folder(self) -> Path:
        return self.output / "cells"

    def _state(self) -> dict[str, Any]:
        """The state that an earlier run has saved; refuses the folder of another study."""
        found = read_json(self.output / STATE) or {}
        own = (self.study.name, self.study.form)
        if found and (found["study"], found["form"]) != own:
            raise ConfigError(
                f"{self.output}: this folder has the study {found['study']!r} ({found['form']})",
                "choose another folder",
            )
        return found

    def _begin(self, state: dict[str, Any], plan: StudyPlan) -> dict[str, Any]:
        """Record the facts of this run, and warn of differences from the run before."""
        corpora = {
            name: plan.shelf.fingerprint(path)
            for data in plan.data
            for corpus in data.corpora
            for name, path in zip(
                plan.shelf[corpus].names("train", "dev"),
                plan.shelf.files(plan.shelf[corpus], "train", "dev"),
                strict=False,
            )
        }
        facts = {
            "study": self.study.name,
            "form": self.study.form,
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "version": __version__,
            "commit": commit(),
            "seeds": list(self.study.seeds),
            "corpora": corpora,
        }
        changed = [
            name for name, found in state.get("corpora", {}).items() if corpora.get(name, found) != found
        ]
        if changed:
            _log.warning(
                "corpora have changed since the last run: %s; cells that use them run again",
                ", ".join(changed),
            )
        if state.get("machine", facts["machine"]) != facts["machine"]:
            _log.warning(
                "finished cells were run on another machine (%s): times cannot be compared", state["machine"]
            )
        if state.get("machine", facts["machine"]) == facts["machine"] and not changed and state:
            facts = {**state, "corpora": corpora} if self._is_done(plan) else facts
        write_json(self.output / STATE, facts)
        return facts

    def _is_done(self, plan: StudyPlan) -> bool:
        """Whether nothing is left to run; then the figures keep their date."""
        folders = ((cell, CellFolder(self._cells_folder / cell.folder)) for cell in plan.cells)
        return all(
            folder.trained is not None and not left_to_do(cell, folder, ("dev", "test"))
            for cell, folder in folders
        )

    def _run_cells(
        self,
        cells: Sequence[Cell],
        parts: Sequence[str],
        executor: Executor | None,
        jobs: int,
        tell: Callable[[CellProgress], None],
    ) -> None:
        """Run cells that others depend on, then the others."""
        waiting = [cell for cell in cells if self._is_waiting(cell, parts)]
        needed = {cell.tagger.key for cell in waiting if cell.tagger is not None}
        waves = (
            [cell for cell in waiting if cell.key in needed],
            [cell for cell in waiting if cell.key not in needed],
        )
        begin, done = time.monotonic(), len(cells) - len(waiting)
        first, total = done, len(cells)
        numbers = {cell.key: number for number, cell in enumerate(cells, 1)}
        for wave in waves:
            for cell in self._finished(wave, parts, executor, jobs):
                done += 1
                rate = (time.monotonic() - begin) / (done - first)
                name = f"{cell.name} ({parts[-1]})"
                tell(CellProgress(done, total, name, rate * (total - done), numbers[cell.key]))

    def _is_waiting(self, cell: Cell, parts: Sequence[str]) -> bool:
        folder = CellFolder(self._cells_folder / cell.folder)
        return folder.trained is None or bool(left_to_do(cell, folder, parts))

    def _finished(
        self, cells: Sequence[Cell], parts: Sequence[str], executor: Executor | None, jobs: int
    ) -> Iterator[Cell]:
        """Run cells and yield each when it is finished."""
        arguments = (self._cells_folder, self.data, tuple(parts))
        if executor is None and ((jobs == 1 and not has_workers()) or len(cells) < 2):
            for cell in cells:
                run_cell(cell, *arguments)
                yield cell
            return
        if executor is None and jobs == 1:
            by_key = {cell.key: cell for cell in cells}
            for key in run_jobs_elsewhere(_run_and_name, [(cell, *arguments) for cell in cells]):
                yield by_key[key]
            return
        pool = executor or ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
        try:
            running = {pool.submit(run_cell, cell, *arguments): cell for cell in cells}
            for future in as_completed(running):
                future.result()
                yield running[future]
        finally:
            if executor is None:
                pool.shutdown(cancel_futures=True)


def _run_and_name(cell: Cell, *arguments: Any) -> str:
    run_cell(cell, *arguments)
    return cell.key


def _chosen(cells: Sequence[Cell], only: str | None) -> list[Cell]:
    if only is None:
        return list(cells)
    found = [cell for cell in cells if fnmatch.fnmatchcase(cell.name, only) or only in cell.name]
    if not found:
        names = ", ".join(cell.name for cell in cells[:5])
        raise ConfigError(f"no cell of the study matches {only!r}", f"there are: {names} …")
    return found


def machine() -> str:
    """The processor and its number of cores, in short."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), name)
    except OSError:
        pass
    return f"{os.cpu_count()} cores, {name}"


def commit() -> str | None:
    """The commit of the source tree in which the command runs, if it is this project's."""
    if not Path("src/duilian/experiments").is_dir():
        return None
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None

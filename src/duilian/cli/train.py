"""`duilian train`: a model from a recipe."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from duilian.cli.options import Lenient, warn
from duilian.cli.progress import Stages
from duilian.cli.tables import show_evaluation
from duilian.engine import evaluate, load
from duilian.errors import ConfigError
from duilian.learning import IterationReport
from duilian.learning.run_log import LOG_SUFFIX, read_log, sparkline
from duilian.modelfile import is_model, read_model
from duilian.models import is_parser, load_parser
from duilian.recipes import KINDS, Recipe, Run, Side, train
from duilian.recipes.steps import is_made_by
from duilian.wording import clock

EXAMPLE = "Example:\n\n    duilian train recipes/zx-pos.toml -o zx.model --set learning.iterations=5"
PAUSE = 10  # seconds, at least, between lines about parts of a stage


@dataclasses.dataclass(frozen=True)
class Listeners:
    """Callbacks for the progress of a run."""

    on_iteration: Callable[[IterationReport], None]
    on_stage: Callable[[str], None]
    on_part: Callable[[str], None]
    on_resume: Callable[[str], None]
    on_reading: Callable[[str], None] | None = None


def command(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="Recipe (a TOML file).")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of the corpora (default: DUILIAN_DATA, or the folder of the recipe)."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from MODEL.checkpoint, if it exists.")
    ] = False,
    threads: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of threads; does not affect the model.")
    ] = 1,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed.")] = None,
    lenient: Lenient = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite MODEL even if it is not a model file.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a setting: learning.rate=0.1."),
    ] = None,
    test: Annotated[
        bool, typer.Option("--test", help="Evaluate on the recipe's test set afterwards.")
    ] = False,
) -> None:
    """Train a model from a recipe.

    Each iteration saves its state to MODEL.checkpoint, so that --resume can continue an interrupted run. The
    same recipe, seed and data give the same model, interrupted or not, with any number of threads.
    MODEL.log.jsonl records each iteration as a line of JSON.
    """
    overrides = [*(set_ or []), *([] if seed is None else [f"learning.seed={seed}"])]
    plan = Recipe.load(recipe, data, overrides)
    if test and not _tested(plan):
        raise typer.BadParameter("the recipe names no test set", param_hint="--test")
    with _progress(plan) as listeners:
        run = Run(
            output=output,
            log=output.with_name(output.name + LOG_SUFFIX) if output.name else None,
            resume=resume,
            lenient=lenient,
            force=force,
            threads=threads,
            on_warning=warn,
            **vars(listeners),
        )
        if not (resume and _is_finished(plan, run)):
            score = _train(plan, run)
            _show_curves(run)
            typer.echo(f"{output}: {os.path.getsize(output):,} bytes{_format_best(output, score)}")
    if test:
        _test(dataclasses.replace(plan, run=run), output, threads)


def _is_finished(plan: Recipe, run: Run) -> bool:
    """Whether there is nothing left to do; a model of another recipe is never replaced by resuming."""
    output = run.output
    if run.is_begun or not output.is_file() or output.stat().st_size == 0 or not is_model(output):
        return False
    if not is_made_by(plan, output):
        message = f"{output}: this model comes from another recipe or other settings"
        raise ConfigError(message, "to replace it, omit --resume; or choose another output with -o")
    again = "omit --resume to train it again"
    typer.echo(f"duilian: {output} is finished, nothing to resume; {again}", err=True)
    return True


def _train(plan: Recipe, run: Run) -> float | None:
    if run.resume and not run.is_begun:
        warn(f"there is no {run.checkpoint} to resume from; starting from scratch")
    try:
        return train(plan, run)
    except KeyboardInterrupt:
        _say_how_to_resume(run)
        raise typer.Exit(130) from None


def _tested(plan: Recipe) -> list[Side]:
    """Return the sides that the model answers in and that have a test set."""
    answered = plan.sides if KINDS[plan.kind].answers_all else plan.sides[:1]
    return [side for side in answered if side.test]


def _test(plan: Recipe, path: Path, threads: int) -> None:
    for side in _tested(plan):
        gold = plan.corpus(side, "test")
        assert gold is not None
        model: Any = load_parser(path) if is_parser(path) else load(path)
        show_evaluation(evaluate(model, gold, standard=side.standard, threads=threads))


def _format_best(path: Path, score: float | None) -> str:
    if score is None:
        return ""
    sides = read_model(path)[0]["notes"].get("sides", {})
    known = {name: found["dev_score"] for name, found in sides.items() if found["dev_score"] is not None}
    each = ", ".join(f"{name} {best:.2f}" for name, best in known.items())
    return f", dev {score:.2f}" + (f" on average; best {each}" if each else "")


def _show_curves(run: Run) -> None:
    """Print the dev scores of each part and side as sparklines, on a terminal."""
    if run.log is None or not run.log.exists() or not sys.stderr.isatty():
        return
    curves = read_log(run.log)
    for name, scores in (each for curve in curves for each in curve.scores.items()):
        known = [score for score in scores if score is not None]
        if len(known) > 1:
            typer.echo(f"{name} {sparkline(scores)} {known[0]:.2f} to {max(known):.2f}", err=True)


def _say_how_to_resume(run: Run) -> None:
    if run.is_begun:
        kept = next(path for path in (*run.kept, run.stage("tagger")) if path.exists())
        iteration = read_model(kept)[0].get("iteration")
        state = "was saved" if iteration is None else f"has the state after iteration {iteration}"
        typer.echo(f"duilian: stopped; {kept} {state}: continue with --resume", err=True)
    else:
        typer.echo("duilian: stopped before the end of the first iteration; nothing was saved", err=True)


@contextlib.contextmanager
def _progress(plan: Recipe) -> Iterator[Listeners]:
    """Yield callbacks that show stages and iterations: with times on a terminal, else as plain lines."""
    names = [side.standard for side in plan.sides]
    if not sys.stderr.isatty():
        yield Listeners(
            lambda report: typer.echo(_report_line(report, names), err=True),
            lambda stage: typer.echo(f"{stage} …", err=True),
            _seldom(lambda part: typer.echo(part, err=True)),
            lambda place: typer.echo(f"duilian: {place}", err=True),
        )
        return
    times: list[float] = []

    def show(report: IterationReport) -> None:
        if report.iteration <= 1:
            times.clear()
        times.append(report.seconds)
        rest = report.most - report.iteration
        left = f", {clock(rest * sum(times) / len(times))} left" if rest else ""
        stages.print(f"{_report_line(report, names)}{left}")
        stages.begin(f"iteration {report.iteration + 1} of {report.most}" if rest else "saving", stays=False)

    def show_reading(name: str) -> None:
        stages.begin(f"reading {name}" if name else "preparing", stays=bool(name))

    with Stages("preparing") as stages:
        yield Listeners(show, stages.begin, stages.show_part, stages.print, show_reading)


def _seldom(say: Callable[[str], None]) -> Callable[[str], None]:
    """Call it only every `PAUSE` seconds: lines in a file stay."""
    last = time.monotonic()

    def say_if_due(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            say(text)

    return say_if_due


def _report_line(report: IterationReport, names: list[str]) -> str:
    return f"iteration {report.iteration}: {_format_report(report, names)}"


def _format_report(report: IterationReport, names: list[str]) -> str:
    """Format the loss, the dev score, LAS for trees and, for several sides, each side's score and pruning."""
    loss = "" if report.loss is None else f"loss {report.loss:.4f}, "
    dev = "" if report.score is None else f"dev {report.score:.2f}{' (best)' if report.is_best else ''}, "
    sides = "".join(f"{_format_side(report, name)}, " for name in names if name in report.details)
    las = f"las {report.details['las']:.2f}, " if "las" in report.details else ""
    return f"{loss}{dev}{las}{sides}{report.seconds:.1f} s"


def _format_side(report: IterationReport, name: str) -> str:
    found = report.details
    if f"{name} candidates" not in found:  # this kind of model does not prune
        return f"{name} {found[name]:.2f}"
    kept = f"{found[f'{name} candidates']:.1f} candidates, oracle {found[f'{name} oracle']:.2f}"
    return f"{name} {found[name]:.2f} ({kept})"

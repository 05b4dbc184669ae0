"""`duilian run`: many files into a folder, resumable."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from duilian.cli.options import LexiconFile, LexiconMode, Threads
from duilian.cli.taggers import ModelOption
from duilian.engine.loading import BUNDLED_NAME
from duilian.errors import ConfigError
from duilian.models.roles import Ask
from duilian.wording import clock, counted

if TYPE_CHECKING:
    from duilian.scale.folder_run import FolderRun, RunProgress

EXAMPLE = "Example:\n\n    duilian run articles/ analysed/ --standard pku --no-trees --threads 2"
STANDARD_INPUT = "-"


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN… OUT",
            help="Input files, folders or patterns, or - to read a list of paths; then the output folder.",
        ),
    ],
    model: ModelOption = BUNDLED_NAME,
    standard: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Answer in this standard only; may be repeated.")
    ] = None,
    text: Annotated[str, typer.Option(metavar="NAME", help="Name of the text column.")] = "text",
    columns: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Columns to keep, such as id,text (default: all).")
    ] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Leave out the tags.")] = False,
    no_trees: Annotated[bool, typer.Option("--no-trees", help="Leave out the trees: much faster.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add the probability of each word.")
    ] = False,
    fast: Annotated[
        bool,
        typer.Option("--fast", help="Use the model's fast segmenter: words only, and less accurate."),
    ] = False,
    lexicon: LexiconFile = None,
    lexicon_mode: LexiconMode = "force",
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Input format, if the extension does not show it: parquet, jsonl, csv, text.",
        ),
    ] = None,
    to: Annotated[str, typer.Option(metavar="FORMAT", help="Output format: parquet or jsonl.")] = "parquet",
    max_characters: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Maximum length of a text; longer ones get an error in their row."
        ),
    ] = 100_000_000,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Resume an interrupted run, or start over.")
    ] = True,
    threads: Threads = 1,
) -> None:
    """Analyse many files into a folder: one output file per input file.

    Reads Parquet, JSON lines, CSV and text (one document per line) of any size, optionally compressed with
    gzip or zstd; folders are read recursively. Each standard becomes a column of words. If a row cannot be
    analysed, its column `error` says why. An interrupted run continues where it stopped when you repeat the
    command; no document is lost or duplicated.
    """
    from duilian.scale.arrow_analyzer import ArrowAnalyzer  # pyarrow is optional and slow to import
    from duilian.scale.folder_run import FolderRun

    if len(inputs) < 2:
        raise typer.BadParameter("give at least one input and an output folder", param_hint="IN… OUT")
    *given, output = inputs
    asked = Ask(tuple(standard or ()), tags=not no_tags, trees=not no_trees, confidence=confidence, fast=fast)
    analyze = ArrowAnalyzer(
        model=None if model == BUNDLED_NAME else model,
        ask=asked,
        text=text,
        columns=None if columns is None else tuple(columns.split(",")),
        lexicon=lexicon,
        lexicon_mode=cast(Any, lexicon_mode),
        threads=threads,
        max_characters=max_characters,
    )
    parts = _parts(given, format, Path(output))
    _watch(FolderRun(parts, output, analyze, to=cast(Any, to), resume=resume))


def _parts(given: list[str], format: str | None, output: Path) -> list[Any]:
    from duilian.scale.input_parts import PART_FORMATS, find_parts, parts_of_list

    if format is not None and format not in PART_FORMATS:
        message = f"{format!r} is not one of {', '.join(PART_FORMATS)}"
        raise typer.BadParameter(message, param_hint="--format")
    if output.exists() and not output.is_dir():
        raise ConfigError(f"{output}: the last argument must be a folder", "give an output folder")
    chosen = cast(Any, format)
    return (
        parts_of_list(sys.stdin, chosen) if given == [STANDARD_INPUT] else find_parts(given, chosen, output)
    )


def _watch(run: FolderRun) -> None:
    try:
        (last,) = deque(_shown(run) if sys.stderr.isatty() else run, maxlen=1)
    except KeyboardInterrupt as stop:
        stop.add_note("repeat the command to continue")
        raise
    print(f"duilian: {_summary(last)}", file=sys.stderr)
    for part, error in run.failures:
        print(
            f"duilian: {error if str(error).startswith(part.path) else f'{part.path}: {error}'}",
            file=sys.stderr,
        )
    if run.failures:
        message = f"{len(run.failures)} of {last.parts} parts could not be finished"
        raise ConfigError(message, "fix them and repeat the command")


def _shown(run: FolderRun) -> Iterator[RunProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=1.0)
        for now in run:
            left = f", {clock(now.seconds * (1 - now.share) / now.share)} left" if 0 < now.share < 1 else ""
            progress.update(task, completed=now.share, description=_summary(now) + left)
            yield now


def _summary(now: RunProgress) -> str:
    seconds = max(now.seconds, 1e-9)
    errors = f", {now.errors:,} with errors" if now.errors else ""
    return (
        f"{now.finished} of {now.parts} parts, {counted(now.documents, 'document')}{errors}, "
        f"{now.documents / seconds:,.0f} documents/s, {now.characters / seconds:,.0f} characters/s"
    )

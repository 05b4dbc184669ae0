"""`duilian demo`: train a small coupled tagger and tag a sentence in both standards."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from duilian import demo
from duilian.demo import DemoResult
from duilian.learning import IterationReport
from duilian.models import CoupledTagger

EXAMPLE = "Example:\n\n    duilian demo\n\n    duilian demo 他 发展 了 经济 。"


def command(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Words of a sentence to tag.")
    ] = None,
    threads: Annotated[
        int, typer.Option(metavar="N", help="Number of threads; does not affect the result.")
    ] = 1,
) -> None:
    """Train a tiny coupled tagger on two small corpora and tag a sentence in both standards."""
    with Progress(
        console=Console(stderr=True), transient=True, disable=not Console(stderr=True).is_terminal
    ) as bar:
        task = bar.add_task("training", total=3 * demo.ITERATIONS)

        def advance(name: str, report: IterationReport) -> None:
            if report.loss is not None:
                bar.update(task, advance=1, description=f"{name}, loss {report.loss:.2f}")

        result = demo.run(advance, threads)
    console = Console()
    console.print(_score_table(result))
    for sentence in [list(demo.SENTENCE), words or []]:
        if sentence:
            console.print(_couplet(result.tagger, sentence))


def _score_table(result: DemoResult) -> Table:
    table = Table(title="tagging accuracy on held-out sentences, %", title_justify="left")
    table.add_column("standard")
    for name in ("trained alone", "trained together"):
        table.add_column(name, justify="right")
    for standard in demo.STANDARDS:
        table.add_row(standard, f"{result.alone[standard]:.1f}", f"{result.coupled[standard]:.1f}")
    return table


def _couplet(tagger: CoupledTagger, words: list[str]) -> Table:
    """Show one row of tags above the words and one below."""
    (layers,) = tagger.analyse([words])
    above, below = tagger.standards
    table = Table.grid(padding=(0, 2))
    for name, cells, style in [
        (above, layers[above].tags or (), "cyan"),
        ("", words, "bold"),
        (below, layers[below].tags or (), "green"),
    ]:
        table.add_row(Text(name, style="dim"), *(Text(str(cell), style=style) for cell in cells))
    return table

"""Tables on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from duilian.corpus.counts import Statistics, percentage, ratio
from duilian.evaluation import Evaluation
from duilian.wording import counted

_TAGS_SHOWN = 20
_LENGTHS_SHOWN = 5
_BAR_WIDTH = 24
_NO_LIMIT = 100_000


_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    """A text from a file, without control characters that a terminal would obey."""
    return text.translate(_CONTROLS)


def show(*parts: RenderableType) -> None:
    """Print to the terminal; in a pipe, lines are unlimited unless COLUMNS is set."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(width=_NO_LIMIT if is_free else None)
    with console.capture() as shown:
        console.print(*parts, sep="\n")
    typer.echo("\n".join(line.rstrip() for line in shown.get().splitlines()))


def show_evaluation(found: Evaluation) -> None:
    """Print the scores as a table."""
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    for name, value in found.rows():
        table.add_row(name, value)
    show(table)


def show_statistics(statistics: Statistics, title: str) -> None:
    """Print totals, then distributions with bars."""
    show(Group(*_statistics_tables(statistics, title)))


def _statistics_tables(statistics: Statistics, title: str) -> Iterator[RenderableType]:
    yield _totals(statistics, title)
    if statistics.tags:
        shown = dict(list(statistics.tags.items())[:_TAGS_SHOWN])
        rest = [tag for tag in statistics.tags if tag not in shown]
        yield _distribution("tag", shown, statistics.words)
        if rest:
            yield Text(f"… and {counted(len(rest), 'more tag')}: {', '.join(rest)}", style="dim italic")
    yield _distribution("characters per word", _long_tail(statistics.word_lengths), statistics.words)


def _totals(statistics: Statistics, title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    table.add_column(style="dim")
    per_sentence = ratio(statistics.words, statistics.sentences)
    longest = max(statistics.sentence_lengths, default=0)
    table.add_row("sentences", f"{statistics.sentences:,}", "")
    table.add_row("words", f"{statistics.words:,}", f"{per_sentence:.1f} per sentence, at most {longest:,}")
    table.add_row("distinct words", f"{statistics.types:,}", "")
    per_word = ratio(statistics.characters, statistics.words)
    table.add_row("characters", f"{statistics.characters:,}", f"{per_word:.2f} per word")
    if statistics.trees is not None:
        trees = statistics.trees
        crossed = f"{trees.crossing_sentences:,} with crossing arcs ({trees.crossing_arcs:,} arcs)"
        table.add_row("trees", f"{trees.sentences:,}", crossed)
    if statistics.unknown is not None:
        unknown = statistics.unknown
        table.add_row("unknown words", f"{unknown.tokens:,}", f"{unknown.token_rate:.2f} % of the words")
        table.add_row(
            "distinct unknown words", f"{unknown.types:,}", f"{unknown.type_rate:.2f} % of the distinct words"
        )
    return table


def _long_tail(lengths: Mapping[int, int]) -> dict[str, int]:
    """Keep short lengths apart and add up the others."""
    shown = {str(length): count for length, count in lengths.items() if length < _LENGTHS_SHOWN}
    rest = sum(count for length, count in lengths.items() if length >= _LENGTHS_SHOWN)
    return {**shown, f"{_LENGTHS_SHOWN}+": rest} if rest else shown


def _distribution(name: str, counts: Mapping[str, int], total: int, caption: str = "") -> Table:
    table = Table(box=None, caption=caption or None, caption_justify="left", padding=(0, 2, 0, 0))
    table.add_column(f"\n{name}", style="cyan", no_wrap=True)
    table.add_column("\ncount", justify="right")
    table.add_column("\n%", justify="right")
    table.add_column()
    largest = max(counts.values(), default=1)
    for value, count in counts.items():
        bar = Text("█" * max(1, round(_BAR_WIDTH * count / largest)), style="magenta")
        table.add_row(Text(value), f"{count:,}", f"{percentage(count, total):.2f}", bar)
    return table

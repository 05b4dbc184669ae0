"""Tables of the details of an evaluation, and of a comparison, on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from duilian.cli.tables import show
from duilian.evaluation.breakdown import SHOWN_GROUPS, Breakdown, WordGroup
from duilian.evaluation.score import Score

_CONFUSIONS_SHOWN = 15
_SCORE_TITLES = ("precision", "recall", "f1", "gold")


def show_details(found: Breakdown) -> None:
    """Print scores by tag, relation, length, distance and vocabulary, and the commonest confusions."""
    tables = [
        _scores("tag", found.by_tag),
        _scores("relation", found.by_relation),
        _scores("distance", found.by_distance),
        _lengths(found.by_length),
        _vocabulary(found.by_vocabulary),
        table(
            ("gold", "answer", "count", "for example"),
            (
                (each.gold, each.guess, f"{each.count:,}", "".join(each.examples[:1]))
                for each in found.confusions[:_CONFUSIONS_SHOWN]
            ),
            numbers=(2,),
        ),
    ]
    show(*(each for each in tables if each.row_count))


def _scores(title: str, found: Mapping[str, Score]) -> Table:
    rows = (
        (name, *map(percent, (each.precision, each.recall, each.f1)), f"{each.gold:,}")
        for name, each in found.items()
    )
    return table((title, *_SCORE_TITLES), rows)


def _lengths(found: Mapping[str, Mapping[str, Score]]) -> Table:
    names = list(dict.fromkeys(name for scores in found.values() for name in scores))
    rows = (
        (group, *(percent(scores[name].f1) if name in scores else "" for name in names))
        for group, scores in found.items()
    )
    return table(("words in the sentence", *(name.replace("_", " ") for name in names)), rows)


def _vocabulary(found: Mapping[str, WordGroup]) -> Table:
    titles = {"share": "share", "recall": "recall", "tag_recall": "with tag", "uas": "uas", "las": "las"}
    kept = [key for key in titles if any(getattr(each, key) is not None for each in found.values())]
    rows = (
        (SHOWN_GROUPS.get(name, name), f"{each.tokens:,}", *(percent(getattr(each, key)) for key in kept))
        for name, each in found.items()
    )
    return table(("words", "tokens", *(titles[key] for key in kept)), rows)


def table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] | None = None
) -> Table:
    """A table with right-aligned columns of numbers: by default, all columns but the first."""
    found = Table(box=None, pad_edge=False)
    for place, title in enumerate(titles):
        is_number = place > 0 if numbers is None else place in numbers
        style = "cyan" if place == 0 else None
        found.add_column(f"\n{title}", justify="right" if is_number else "left", style=style)
    for row in rows:
        found.add_row(*map(Text, row))
    return found


def percent(value: float | None) -> str:
    """Two decimals, or nothing."""
    return "" if value is None else f"{value:.2f}"

"""Results as tables for notebooks: HTML, and pandas if it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from duilian.errors import ConfigError


def html_table(titles: Sequence[str], rows: Iterable[Sequence[object]], *, caption: str) -> str:
    """A table; every text is escaped."""
    import html  # its list of entities is long

    head = "".join(f'<th scope="col">{html.escape(title)}</th>' for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    shown = html.escape(caption)
    return f"<table><caption>{shown}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown_p(p: object) -> str:
    """Format a p-value: four decimals, but never zero, because no test can find that.

    >>> shown_p(0.1255), shown_p(0.00001), shown_p(None)
    ('0.1255', '< .0001', '')
    """
    if not isinstance(p, int | float):
        return ""
    return "< .0001" if p < 0.00005 else f"{p:.4f}"


def frame(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Any:
    """A pandas DataFrame."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ConfigError("a data frame needs pandas", "pip install pandas") from None
    return pandas.DataFrame(list(rows), columns=list(titles))

"""One HTML file that needs nothing else: no network, no fonts, no library. All text is escaped here."""

from __future__ import annotations

import dataclasses
import functools
import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from duilian.version import __version__

_ASSETS = Path(__file__).with_name("assets")
MAX_LINKS = 12  # of the list of sections before it is closed
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of a page: a title, and HTML that is already escaped."""

    title: str
    parts: Sequence[str]


def page(title: str, note: str, sections: Sequence[Section]) -> str:
    links = "".join(f'<li><a href="#s{k}">{escape(each.title)}</a></li>' for k, each in enumerate(sections))
    body = "".join(
        f'<section aria-labelledby="s{k}"><h2 id="s{k}">{escape(each.title)}</h2>'
        f"{''.join(each.parts)}</section>"
        for k, each in enumerate(sections)
    )
    style, script = ((_ASSETS / name).read_text(encoding="utf-8") for name in ("report.css", "report.js"))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<link rel="icon" href="data:,">\n<style>\n{style}</style></head>\n'
        f'<body><a class="skip" href="#content">Skip to content</a>'
        f"<header><h1>{escape(title)}</h1><p class=note>{escape(note)}</p>"
        f'<nav aria-label="Sections">{_contents(links, len(sections))}</nav></header>\n'
        f'<main id="content">{body}</main>\n<footer><p>Duilian {escape(__version__)}. '
        "Shares are percentages. Click a column title to sort its table.</p>"
        '<p id="said" role="status" class="note"></p></footer>\n'
        f"<script>\n{script}</script></body></html>\n"
    )


def _contents(links: str, count: int) -> str:
    """The list of sections; a long one is closed at first."""
    found = f"<ul>{links}</ul>"
    if count <= MAX_LINKS:
        return found
    return f"<details><summary>Contents: {count} sections</summary>{found}</details>"


def escape(text: object) -> str:
    return html.escape(str(text))


def table(
    titles: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    caption: str,
    decimals: int = 2,
    forms: Mapping[str, Callable[[object], str]] | None = None,
) -> str:
    """A sortable table; numbers are right-aligned, None is an empty cell.

    `forms` maps titles of columns to functions that format their numbers; all others have this many decimals.
    """
    found = [list(row) for row in rows]
    if not found:
        return ""
    kinds = [
        "number" if all(row[k] is None or is_number(row[k]) for row in found) else "text"
        for k in range(len(titles))
    ]
    head = "".join(
        f'<th scope="col" data-kind="{kind}"><button type="button">{escape(title)}</button></th>'
        for title, kind in zip(titles, kinds, strict=True)
    )
    usual = functools.partial(shown, decimals=decimals)
    ways = [(forms or {}).get(title, usual) for title in titles]
    body = "".join(f"<tr>{_cells(row, kinds, ways)}</tr>" for row in found)
    shown_caption = f"<caption>{escape(caption)}</caption>"
    parts = f"{shown_caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return scrolling(f"<table>{parts}</table>", caption)


def scrolling(content: str, name: str) -> str:
    """Wrap escaped HTML that may be wider than the page, so that it can be scrolled by keyboard too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">{content}</div>'


def _cells(row: Sequence[object], kinds: Sequence[str], ways: Sequence[Callable[[object], str]]) -> str:
    found = []
    for value, kind, way in zip(row, kinds, ways, strict=True):
        if value is None:
            found.append("<td></td>")
        elif kind == "number":
            found.append(f'<td class="number" data-value="{value}">{escape(way(value))}</td>')
        else:
            size = len(str(value))
            kind_of_text = " class=text" if size > 20 else " class=short" if size <= 12 else ""
            found.append(f"<td{kind_of_text}>{escape(value)}</td>")
    return "".join(found)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def shown(value: object, decimals: int = 2) -> str:
    """Format a number; thousands, such as a speed, have no decimals."""
    if isinstance(value, float) and abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{decimals}f}"


def note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def heading(text: str) -> str:
    return f"<h3>{escape(text)}</h3>"

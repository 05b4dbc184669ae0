"""Plots as inline SVG in the colours of the page; each has a title and a description in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from duilian.reports.html_page import escape, scrolling

COLOURS = ("a", "b", "c", "d", "e")
DASHES = ("", "6 3", "2 2", "8 3 2 3", "1 3")  # so that lines differ even without colour
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 400, 220, 44, 10, 10, 28
_CELL = 18
_BAR = 9
_TICKS = 4
Series = Mapping[str, Sequence[tuple[float, float]]]


def line_chart(series: Series, *, title: str, x: str, y: str, diagonal: bool = False) -> str:
    """Lines over a common axis; `diagonal` draws the line on which x equals y."""
    drawn = {name: points for name, points in series.items() if points}
    if not drawn:
        return ""
    points = [point for each in drawn.values() for point in each]
    scale = _Scale([a for a, _ in points], [b for _, b in points])
    lines = []
    if diagonal:
        low, high = max(scale.x[0], scale.y[0]), min(scale.x[1], scale.y[1])
        (x0, y0), (x1, y1) = scale.at(low, low), scale.at(high, high)
        lines.append(f'<path class="axis" d="M{x0:.1f} {y0:.1f} L{x1:.1f} {y1:.1f}"/>')
    for k, each in enumerate(drawn.values()):
        colour, dash = f"var(--{COLOURS[k % len(COLOURS)]})", DASHES[k % len(DASHES)]
        places = [scale.at(*point) for point in each]
        way = " ".join(f"{'L' if n else 'M'}{a:.1f} {b:.1f}" for n, (a, b) in enumerate(places))
        lines.append(
            f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in places]
    said = "; ".join(f"{name}: from {each[0][1]:.4g} to {each[-1][1]:.4g}" for name, each in drawn.items())
    svg = _svg(_WIDTH, _HEIGHT, title, f"{y} by {x}. {said}.", scale.axes(x, y) + "".join(lines), "plot")
    return _figure(svg, title, list(drawn), are_lines=True)


class _Scale:
    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self.x, self.y = _range(xs), _range(ys)
        self.is_whole = all(float(value).is_integer() for value in xs)  # such as iterations

    def at(self, x: float, y: float) -> tuple[float, float]:
        a = (x - self.x[0]) / (self.x[1] - self.x[0])
        b = (y - self.y[0]) / (self.y[1] - self.y[0])
        return _LEFT + a * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - b * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, x: str, y: str) -> str:
        found = []
        for value in _ticks(self.y):
            _, place = self.at(self.x[0], value)
            found.append(f'<path class="axis" d="M{_LEFT} {place:.1f} H{_WIDTH - _RIGHT}"/>')
            found.append(f'<text x="{_LEFT - 4}" y="{place + 4:.1f}" text-anchor="end">{value:.4g}</text>')
        for value in _ticks(self.x, least=1.0 if self.is_whole else 0.0):
            place, _ = self.at(value, self.y[0])
            found.append(f'<text x="{place:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">{value:.4g}</text>')
        found.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 2}" text-anchor="end">{escape(x)}</text>')
        return "".join(found) + f'<text x="{_LEFT}" y="{_TOP + 2}">{escape(y)}</text>'


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * 0.05
    return (low - room, high + room) if high > low else (low - 0.5, high + 0.5)


def _ticks(span: tuple[float, float], least: float = 0.0) -> list[float]:
    """A few round numbers in a range, at least so far apart."""
    wide = span[1] - span[0]
    power = 10.0 ** math.floor(math.log10(wide / _TICKS))
    step = next(power * k for k in (1, 2, 5, 10, 20) if wide / (power * k) <= _TICKS + 1)
    step = max(step, least)
    first = int(span[0] // step) + 1
    return [k * step for k in range(first, int(span[1] // step) + 1)]


def bar_chart(rows: Sequence[tuple[str, Sequence[float]]], names: Sequence[str], *, title: str) -> str:
    """Percentages as bars from left to right, several for each row."""
    if not rows:
        return ""
    thick = _BAR * len(names) + 5
    left = 12 + max(_width_of(label) for label, _ in rows)
    room = _WIDTH - left - 40
    found = []
    for k, (label, values) in enumerate(rows):
        top = k * thick + 4
        found.append(
            f'<text x="{left - 6}" y="{top + thick / 2 + 2:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        for n, value in enumerate(values):
            place, wide = top + n * _BAR, max(0.5, room * min(max(value, 0.0), 100.0) / 100)
            colour = f"var(--{COLOURS[n % len(COLOURS)]})"
            hint = f"<title>{escape(label)}, {escape(names[n])}: {value:.2f}</title>"
            size = f'width="{wide:.1f}" height="{_BAR - 1}"'
            found.append(f'<rect x="{left}" y="{place}" {size} fill="{colour}">{hint}</rect>')
        end, last = left + room * min(max(values[-1], 0.0), 100.0) / 100, top + (len(names) - 1) * _BAR
        found.append(f'<text x="{end + 4:.1f}" y="{last + _BAR - 1}">{values[-1]:.1f}</text>')
    said = "; ".join(f"{label}: {', '.join(f'{value:.1f}' for value in values)}" for label, values in rows)
    svg = _svg(_WIDTH, thick * len(rows) + 8, title, f"{', '.join(names)}. {said}.", "".join(found), "plot")
    return _figure(svg, title, names)


def heat_map(
    rows: Sequence[str], columns: Sequence[str], shares: Sequence[Sequence[float]], *, title: str, said: str
) -> str:
    """Shares from 0 to 1 as cells, darker if larger; a tooltip shows the value."""
    if not rows or not columns:
        return ""
    left = 10 + max(map(_width_of, rows))
    top = 10 + max(map(_width_of, columns))
    found = []
    for k, name in enumerate(columns):
        x, y = left + k * _CELL + _CELL / 2 + 4, top - 4
        found.append(f'<text x="{x:.1f}" y="{y}" transform="rotate(-90 {x:.1f} {y})">{escape(name)}</text>')
    for r, name in enumerate(rows):
        y = top + r * _CELL
        found.append(f'<text x="{left - 5}" y="{y + _CELL - 5}" text-anchor="end">{escape(name)}</text>')
        for c, share in enumerate(shares[r]):
            hint = f"<title>{escape(name)} → {escape(columns[c])}: {100 * share:.1f} %</title>"
            shade = f'fill="var(--b)" fill-opacity="{0.04 + 0.96 * min(max(share, 0.0), 1.0):.3f}"'
            place = f'x="{left + c * _CELL}" y="{y}" width="{_CELL}" height="{_CELL}"'
            found.append(f'<rect class="cell" {place} {shade}>{hint}</rect>')
    width, height = left + len(columns) * _CELL + 10, top + len(rows) * _CELL + 10
    svg = _svg(width, height, title, said, "".join(found), "natural")
    return _figure(scrolling(svg, title), title, (), kind="wide")


def _width_of(label: str) -> int:
    """The approximate width of a label: Chinese characters are twice as wide."""
    return sum(12 if ord(letter) > 0x2E80 else 7 for letter in label)


def _svg(width: float, height: float, title: str, said: str, body: str, kind: str) -> str:
    size = f'width="{width}" height="{height}" ' if kind == "natural" else ""
    label = f'role="img" aria-label="{escape(title)}. {escape(said)}"'
    return f'<svg class="{kind}" {size}viewBox="0 0 {width} {height}" {label}>{body}</svg>'


def _figure(
    svg: str, title: str, names: Sequence[str], *, are_lines: bool = False, kind: str = "narrow"
) -> str:
    legend = "".join(
        f'<li><span style="border-color:var(--{COLOURS[k % len(COLOURS)]});'
        f'border-top-style:{"dashed" if are_lines and DASHES[k % len(DASHES)] else "solid"}"></span>'
        f"{escape(name)}</li>"
        for k, name in enumerate(names)
    )
    shown = f'<ul class="legend">{legend}</ul>' if len(names) > 1 else ""
    return f"<figure class={kind}>{svg}{shown}<figcaption>{escape(title)}</figcaption></figure>"

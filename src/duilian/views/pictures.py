"""Couplets as an SVG picture: standards in rows, differently cut words in colour, the tree above them.

Columns are those of `duilian.views.couplets`. A sentence is one row, as wide as it needs to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from rich.cells import cell_len

from duilian.document import Doc, Token
from duilian.errors import ConfigError, did_you_mean
from duilian.views.couplets import Block, blocks_of

MARGIN, GAP, ROW_GAP = 20, 8, 14
WORD, SMALL = 22, 12  # sizes of type
CELL = 0.57  # of the type size: half a Chinese character or one Latin letter, with some space
BOX, LEVEL = 58, 28  # heights: of a word with its tag, and from one arc to the next
ROUND, TIP = 7, 2.5  # sizes of an arc's corners and its arrow
FONTS = "system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif"

# Fill and outline of each class: light, dark
COLOURS = {
    "ground": ("#ffffff none", "#0d1117 none"),
    "same": ("#f6f8fa #d0d7de", "#161b22 #3d444d"),
    "different": ("#fff4d6 #d4a72c", "#3a2d0c #bb8009"),
    "word": ("#1f2328 none", "#f0f6fc none"),
    "tag": ("#0a61c2 none", "#6cb6ff none"),
    "name": ("#59636e none", "#9198a1 none"),
    "arc": ("none #8c959f", "none #6e7681"),
    "relation": ("#1a7f37 #ffffff", "#57ab5a #0d1117"),
}
THEMES = ("light", "dark", "auto")  # auto: as the reader's system prefers
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Arc(NamedTuple):
    head: int  # the word itself if it is a root
    dependent: int
    level: int  # height, above all arcs that it spans
    relation: str


def picture(docs: Iterable[Doc], theme: str = "auto") -> str:
    """Draw all sentences of the texts below each other, as one SVG document."""
    if theme not in THEMES:
        raise ConfigError(f"unknown theme {theme!r}", did_you_mean(theme, THEMES))
    docs = list(docs)
    body: list[str] = []
    width, bottom = 2.0 * MARGIN, float(MARGIN)
    for drawing, right, height in (each for doc in docs for each in _sentences(doc)):
        body += [f'<g transform="translate({MARGIN},{bottom:g})">', *drawing, "</g>"]
        width, bottom = max(width, right + 2 * MARGIN), bottom + height + MARGIN
    size = f'width="{width:.0f}" height="{bottom:.0f}"'
    view = f'viewBox="0 0 {width:.0f} {bottom:.0f}"'
    title = " ".join(doc.text.strip() for doc in docs)
    spoken = "; ".join(f"{name}: {' '.join(doc.words(name))}" for doc in docs for name in doc.standards)
    names = 'xmlns="http://www.w3.org/2000/svg" class="duilian" role="img"'
    start = f'<svg {names} {size} {view} font-family="{FONTS}">'
    labels = [f"<title>{_safe(title)}</title>", f"<desc>{_safe(spoken)}</desc>"]
    ground = f'<rect class="ground" {size} rx="8"/>'
    return "\n".join([start, *labels, f"<style>{_style(theme)}</style>", ground, *body, "</svg>\n"])


def _style(theme: str) -> str:
    rules = ["".join(_rule(name, looks[k]) for name, looks in COLOURS.items()) for k in range(2)]
    # The outline of a relation separates its letters from the lines behind it.
    fixed = ".duilian text{text-anchor:middle}.duilian .relation{paint-order:stroke;stroke-width:3px}"
    if theme == "auto":
        return f"{fixed}{rules[0]}@media(prefers-color-scheme:dark){{{rules[1]}}}"
    return fixed + rules[THEMES.index(theme)]


def _rule(name: str, look: str) -> str:
    fill, stroke = look.split()
    return f".duilian .{name}{{fill:{fill};stroke:{stroke}}}"


def _sentences(doc: Doc) -> Iterator[tuple[list[str], float, float]]:
    """Yield the drawing, width and height of each sentence; the standard with the tree comes first."""
    names = sorted(doc.standards, key=lambda name: name != doc.tree_standard)
    for sides in zip(*(doc.sentences(name) for name in names), strict=True):
        arcs = _arcs(sides[0])
        top = max((arc.level * LEVEL + SMALL for arc in arcs), default=0)
        rows = [top + k * (BOX + ROW_GAP) for k in range(len(names))]
        left = max(map(cell_len, names)) * SMALL * CELL + 2 * GAP
        drawn = [_text("name", left / 2 - GAP, y + 33, name) for y, name in zip(rows, names, strict=True)]
        centres: list[float] = []
        for block in blocks_of(sides):
            kind = "different" if block.is_different else "same"
            for y, places in zip(rows, _places(block, left), strict=True):
                for x, width, word, tag in places:
                    drawn += _box(kind, x, y, width, word, tag)
                if y == rows[0]:
                    centres += [x + width / 2 for x, width, _, _ in places]
            left = places[-1][0] + places[-1][1] + GAP
        drawn += [_line(arc, centres, top) for arc in arcs]
        drawn += [_relation(arc, centres, top) for arc in arcs]
        yield drawn, left - GAP, rows[-1] + BOX


def _places(block: Block, left: float) -> Iterator[list[tuple[float, float, str, str]]]:
    """Yield the left edge, width, text and tag of the words of each side; every side fills the block."""
    own = [
        [max(cell_len(word) * WORD, cell_len(tag) * SMALL) * CELL + 2 * GAP for word, tag in words]
        for words in block.sides
    ]
    totals = [sum(widths) + GAP * (len(widths) - 1) for widths in own]
    for words, widths, total in zip(block.sides, own, totals, strict=True):
        x, places, more = left, [], (max(totals) - total) / len(words)
        for (word, tag), width in zip(words, widths, strict=True):
            places.append((x, width + more, word, tag))
            x += width + more + GAP
        yield places


def _arcs(tokens: Sequence[Token]) -> list[_Arc]:
    """The arcs of a sentence, shorter ones first, then its roots, which are the highest."""
    found, used = [], [0] * len(tokens)
    heads = [(token.head - 1, k) for k, token in enumerate(tokens) if token.head]
    for head, k in sorted(heads, key=lambda arc: abs(arc[0] - arc[1])):
        first, last = sorted((head, k))
        level = 1 + max(used[first:last])
        used[first:last] = [level] * (last - first)
        found.append(_Arc(head, k, level, tokens[k].relation or ""))
    roots = [k for k, token in enumerate(tokens) if token.head == 0]
    return found + [_Arc(k, k, 1 + max(used), tokens[k].relation or "") for k in roots]


def _box(kind: str, x: float, y: float, width: float, word: str, tag: str) -> Iterator[str]:
    yield f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BOX}" rx="6"/>'
    yield _text("word", x + width / 2, y + (30 if tag else 37), word)
    if tag:
        yield _text("tag", x + width / 2, y + 48, tag)


def _line(arc: _Arc, centres: Sequence[float], y: float) -> str:
    """Draw an arc: it begins beside the head's own arrow and ends with the dependent's."""
    a, b, top = centres[arc.head], centres[arc.dependent], y - arc.level * LEVEL
    turn = ROUND if a < b else -ROUND
    path = f"M{b:.1f} {top}"
    if arc.head != arc.dependent:
        path = f"M{a + turn:.1f} {y}V{top + ROUND}q0 {-ROUND} {turn} {-ROUND}"
        path += f"H{b - turn:.1f}q{turn} 0 {turn} {ROUND}"
    return f'<path class="arc" d="{path}V{y - 1}m{-TIP} {-2 * TIP}l{TIP} {2 * TIP}l{TIP} {-2 * TIP}"/>'


def _relation(arc: _Arc, centres: Sequence[float], y: float) -> str:
    side = (arc.head < arc.dependent) - (arc.head > arc.dependent)
    centre = (centres[arc.head] + centres[arc.dependent] + side * ROUND) / 2
    return _text("relation", centre, y - arc.level * LEVEL - 6, arc.relation)


def _text(kind: str, x: float, y: float, text: str) -> str:
    size = WORD if kind == "word" else SMALL
    return f'<text class="{kind}" x="{x:.1f}" y="{y:g}" font-size="{size}">{_safe(text)}</text>'


def _safe(text: str) -> str:
    """Escape what XML reserves and replace what it cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", text))

"""The standards of an analysis one under the other, like the lines of a couplet, word over word.

Columns are the smallest groups of characters that all standards cut out alike. Where standards disagree about
words, the group is marked.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from duilian.doc import Doc

GAP = 2
LEAST_WIDTH = 20
STYLES = {"word": "bold", "different": "bold yellow", "tag": "cyan", "name": "dim"}
MARK = "╌"  # under words that standards cut differently, for those who see no colours


@dataclasses.dataclass(frozen=True)
class _Block:
    """A group of words: for each standard its words and their tags."""

    sides: Sequence[Sequence[tuple[str, str]]]

    @property
    def is_different(self) -> bool:
        return len({tuple(word for word, _ in side) for side in self.sides}) > 1

    def cells(self, side: int) -> list[int]:
        """The widths of the words of one side; the last word gets what others need more."""
        own = [[max(map(cell_len, pair)) for pair in each] for each in self.sides]
        total = max(sum(each) + GAP * (len(each) - 1) for each in own)
        widths = own[side]
        widths[-1] += total - sum(widths) - GAP * (len(widths) - 1)
        return widths

    @property
    def width(self) -> int:
        cells = self.cells(0)
        return sum(cells) + GAP * (len(cells) - 1)


def couplet(doc: Doc, width: int = 80) -> Text:
    """Every sentence with its standards in rows, broken at `width` cells."""
    names = doc.standards
    margin = max((cell_len(name) for name in names), default=0) + GAP
    out = Text()
    for blocks in _sentences(doc):
        for row in _rows(blocks, max(width - margin, LEAST_WIDTH)):
            _draw(out, row, names, margin)
        out.append("\n")
    out.rstrip()
    return out


def _sentences(doc: Doc) -> list[list[_Block]]:
    layers = [doc.tokens(name) for name in doc.standards]
    if not layers or not layers[0]:
        return []
    shared = set.intersection(*({token.end for token in tokens} for tokens in layers))
    cuts = [[0, *(k + 1 for k, token in enumerate(tokens) if token.end in shared)] for tokens in layers]
    blocks = [
        _Block(
            [
                [(t.text, t.tag or "") for t in tokens[a:b]]
                for tokens, (a, b) in zip(layers, parts, strict=True)
            ]
        )
        for parts in zip(*(itertools.pairwise(each) for each in cuts), strict=True)
    ]
    # Sentences end at the same characters in all standards.
    ends = doc.layer(doc.standards[0]).sentence.tolist()[1:]
    sizes = iter(cuts[0][1:])
    found: list[list[_Block]] = [[]]
    for block, size in zip(blocks, sizes, strict=True):
        found[-1].append(block)
        if size in ends:
            found.append([])
    return [each for each in found if each]


def _rows(blocks: Sequence[_Block], width: int) -> list[list[_Block]]:
    rows: list[list[_Block]] = [[]]
    used = 0
    for block in blocks:
        if rows[-1] and used + block.width > width:
            rows.append([])
            used = 0
        rows[-1].append(block)
        used += block.width + GAP
    return rows


def _draw(out: Text, row: Sequence[_Block], names: Sequence[str], margin: int) -> None:
    for side, name in enumerate(names):
        if side:
            _line(
                out, " " * margin, [(MARK * b.width if b.is_different else "", "name", b.width) for b in row]
            )
        words, tags = [], []
        for block in row:
            style = "different" if block.is_different else "word"
            for (word, tag), cells in zip(block.sides[side], block.cells(side), strict=True):
                words.append((word, style, cells))
                tags.append((tag, "tag", cells))
        _line(out, name + " " * (margin - cell_len(name)), words)
        if any(tag for tag, _, _ in tags):
            _line(out, " " * margin, tags)
    out.append("\n")


def _line(out: Text, head: str, cells: Sequence[tuple[str, str, int]]) -> None:
    line = Text(head, style=STYLES["name"])
    for text, style, width in cells:
        line.append(text, style=STYLES[style])
        line.append(" " * (width - cell_len(text) + GAP))
    line.rstrip()
    if line.plain:
        out.append_text(line)
        out.append("\n")

"""The standards of an analysis one under the other, like the lines of a couplet, and the tree below.

Columns are the smallest groups of characters that all standards cut out alike. Where standards disagree about
words, the group is marked.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from duilian.document import Doc, Token
from duilian.views.tree_drawing import tree_lines

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
    """Every sentence with its standards in rows, broken at `width` cells, and its tree below."""
    names = doc.standards
    margin = max((cell_len(name) for name in names), default=0) + GAP
    drawn = []
    for sides in zip(*(doc.sentences(name) for name in names), strict=True):
        rows = _rows(_blocks(sides), max(width - margin, LEAST_WIDTH))
        drawn.append(Text("\n\n").join(Text("\n").join(_row_lines(row, names, margin)) for row in rows))
        if doc.tree_standard is not None:
            tree = tree_lines(sides[names.index(doc.tree_standard)])
            for k, line in enumerate(tree):
                drawn[-1].append("\n").append_text(_head("" if k else doc.tree_standard, margin) + line)
    return Text("\n\n").join(drawn)


def _blocks(sides: Sequence[Sequence[Token]]) -> list[_Block]:
    """The groups of one sentence; its last word ends at the same character in all standards."""
    shared = set.intersection(*({token.end for token in tokens} for tokens in sides))
    cuts = [[0, *(k + 1 for k, token in enumerate(tokens) if token.end in shared)] for tokens in sides]
    return [
        _Block(
            [
                [(token.text, token.tag or "") for token in tokens[a:b]]
                for tokens, (a, b) in zip(sides, parts, strict=True)
            ]
        )
        for parts in zip(*(itertools.pairwise(each) for each in cuts), strict=True)
    ]


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


def _row_lines(row: Sequence[_Block], names: Sequence[str], margin: int) -> Iterator[Text]:
    marks = [(MARK * block.width if block.is_different else "", "name", block.width) for block in row]
    for side, name in enumerate(names):
        if side and any(mark for mark, _, _ in marks):
            yield _line("", margin, marks)
        words, tags = [], []
        for block in row:
            style = "different" if block.is_different else "word"
            for (word, tag), cells in zip(block.sides[side], block.cells(side), strict=True):
                words.append((word, style, cells))
                tags.append((tag, "tag", cells))
        yield _line(name, margin, words)
        if any(tag for tag, _, _ in tags):
            yield _line("", margin, tags)


def _line(name: str, margin: int, cells: Sequence[tuple[str, str, int]]) -> Text:
    line = _head(name, margin)
    for text, style, width in cells:
        line.append(text, style=STYLES[style])
        line.append(" " * (width - cell_len(text) + GAP))
    line.rstrip()
    return line


def _head(name: str, margin: int) -> Text:
    return Text.assemble((name, STYLES["name"]), " " * (margin - cell_len(name)))

"""Draws the standards of an analysis in rows, like the lines of a couplet, with the tree below them.

Columns are the smallest groups of characters with boundaries that all standards share. Groups in which the
standards disagree about words are marked.
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
MIN_WIDTH = 20
STYLES = {"word": "bold", "different": "bold yellow", "tag": "cyan", "name": "dim"}
MARK = "╌"  # under words that the standards segment differently; visible without colours


@dataclasses.dataclass(frozen=True)
class Block:
    """A group of characters: the words and tags of each standard."""

    sides: Sequence[Sequence[tuple[str, str]]]

    @property
    def is_different(self) -> bool:
        return len({tuple(word for word, _ in side) for side in self.sides}) > 1

    def cells(self, side: int) -> list[int]:
        """The widths of one side's words; the last word is padded to the width of the widest side."""
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
    """Draw each sentence with its standards in rows, wrapped at `width` cells, and its tree below.

    >>> import duilian
    >>> print(couplet(duilian.load()("他来了。", ask=duilian.Ask(trees=False))))
    pku  他    来    了    。
         r     v     y     w
    ud   他    来    了    。
         PRON  VERB  PART  PUNCT
    """
    names = doc.standards
    indent = max((cell_len(name) for name in names), default=0) + GAP
    drawn = []
    for sides in zip(*(doc.sentences(name) for name in names), strict=True):
        rows = _rows(blocks_of(sides), max(width - indent, MIN_WIDTH))
        drawn.append(Text("\n\n").join(Text("\n").join(_row_lines(row, names, indent)) for row in rows))
        if doc.tree_standard is not None:
            tree = tree_lines(sides[names.index(doc.tree_standard)])
            for k, line in enumerate(tree):
                drawn[-1].append("\n").append_text(_head("" if k else doc.tree_standard, indent) + line)
    return Text("\n\n").join(drawn)


def blocks_of(sides: Sequence[Sequence[Token]]) -> list[Block]:
    """The groups of one sentence, whose last word ends at the same character in all standards."""
    shared = set.intersection(*({token.end for token in tokens} for tokens in sides))
    cuts = [[0, *(k + 1 for k, token in enumerate(tokens) if token.end in shared)] for tokens in sides]
    return [
        Block(
            [
                [(token.text, token.tag or "") for token in tokens[a:b]]
                for tokens, (a, b) in zip(sides, parts, strict=True)
            ]
        )
        for parts in zip(*(itertools.pairwise(each) for each in cuts), strict=True)
    ]


def _rows(blocks: Sequence[Block], width: int) -> list[list[Block]]:
    rows: list[list[Block]] = [[]]
    used = 0
    for block in blocks:
        if rows[-1] and used + block.width > width:
            rows.append([])
            used = 0
        rows[-1].append(block)
        used += block.width + GAP
    return rows


def _row_lines(row: Sequence[Block], names: Sequence[str], indent: int) -> Iterator[Text]:
    marks = [(MARK * block.width if block.is_different else "", "name", block.width) for block in row]
    for side, name in enumerate(names):
        if side and any(mark for mark, _, _ in marks):
            yield _line("", indent, marks)
        words, tags = [], []
        for block in row:
            style = "different" if block.is_different else "word"
            for (word, tag), cells in zip(block.sides[side], block.cells(side), strict=True):
                words.append((word, style, cells))
                tags.append((tag, "tag", cells))
        yield _line(name, indent, words)
        if any(tag for tag, _, _ in tags):
            yield _line("", indent, tags)


def _line(name: str, indent: int, cells: Sequence[tuple[str, str, int]]) -> Text:
    line = _head(name, indent)
    for text, style, width in cells:
        line.append(text, style=STYLES[style])
        line.append(" " * (width - cell_len(text) + GAP))
    line.rstrip()
    return line


def _head(name: str, indent: int) -> Text:
    return Text.assemble((name, STYLES["name"]), " " * (indent - cell_len(name)))

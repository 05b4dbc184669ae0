"""A dependency tree in box-drawing characters, one word per line: a head, then its dependents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from duilian.document import Token

STYLES = {"branch": "dim", "word": "bold", "tag": "cyan", "relation": "green"}


def tree_lines(tokens: Sequence[Token]) -> list[Text]:
    """Draw the tree of one sentence; words without a head are roots too."""
    below: list[list[int]] = [[] for _ in range(len(tokens) + 1)]
    for number, token in enumerate(tokens, start=1):
        below[token.head or 0].append(number)
    drawn = [(branch, tokens[number - 1]) for branch, number in _walk(below)]
    words = max((cell_len(branch + token.text) for branch, token in drawn), default=0)
    tags = max((cell_len(token.tag or "") for token in tokens), default=0)
    return [_line(branch, token, words, tags) for branch, token in drawn]


def _line(branch: str, token: Token, words: int, tags: int) -> Text:
    """One word, padded to `words` cells, its tag, padded to `tags` cells, and its relation."""
    tag = token.tag or ""
    line = Text.assemble(
        (branch, STYLES["branch"]),
        (token.text, STYLES["word"]),
        " " * (words - cell_len(branch + token.text) + 2),
        (tag, STYLES["tag"]),
        " " * (tags - cell_len(tag) + 2),
        (token.relation or "", STYLES["relation"]),
    )
    line.rstrip()
    return line


def _walk(below: Sequence[Sequence[int]]) -> Iterator[tuple[str, int]]:
    """Branch and word, from the roots down; not recursive, because a tree may be as deep as the sentence."""
    stack = [("", "", number) for number in reversed(below[0])]
    while stack:
        branch, indent, number = stack.pop()
        yield branch, number
        children = below[number]
        for k in range(len(children) - 1, -1, -1):
            is_last = k == len(children) - 1
            stack.append(
                (indent + ("└─ " if is_last else "├─ "), indent + ("   " if is_last else "│  "), children[k])
            )

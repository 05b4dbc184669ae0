"""A dependency tree in box characters, one word a line: a head, then its dependents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from duilian.doc import Token


def tree_lines(tokens: Sequence[Token]) -> list[str]:
    """The tree of one sentence; words that hang on nothing are roots too."""
    below: list[list[int]] = [[] for _ in range(len(tokens) + 1)]
    for number, token in enumerate(tokens, start=1):
        below[token.head or 0].append(number)
    drawn = [(f"{branch}{tokens[number - 1].text}", tokens[number - 1]) for branch, number in _walk(below)]
    width = max((cell_len(text) for text, _ in drawn), default=0)
    return [
        f"{text}{' ' * (width - cell_len(text))}  {token.tag or ''}  {token.relation or ''}".rstrip()
        for text, token in drawn
    ]


def _walk(below: Sequence[Sequence[int]]) -> Iterator[tuple[str, int]]:
    """Branch and word, from the roots down; without recursion, for a chain may be as long as a sentence."""
    stack = [("", "", number) for number in reversed(below[0])]
    while stack:
        branch, margin, number = stack.pop()
        yield branch, number
        children = below[number]
        for k in range(len(children) - 1, -1, -1):
            is_last = k == len(children) - 1
            stack.append(
                (margin + ("└─ " if is_last else "├─ "), margin + ("   " if is_last else "│  "), children[k])
            )

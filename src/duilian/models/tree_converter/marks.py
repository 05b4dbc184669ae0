"""Punctuation as UD version 2 attaches it: as high as possible without crossing an arc.

A mark depends on the lower of two words: the highest ancestor of its left neighbour that precedes the mark,
and the highest ancestor of its right neighbour that follows it. A pair of brackets or quotation marks depends
on the head of what it encloses, if there is only one head. No word depends on a mark.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence, Set

BRACKETS = {
    "(": ")", "（": "）", "[": "]", "［": "］", "【": "】", "〔": "〕", "{": "}", "｛": "｝",
    "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》", "〈": "〉",
}  # fmt: skip


def attach_marks(words: Sequence[str], marks: Set[int], heads: Sequence[int]) -> list[int]:
    """The heads (from 1) with these marks (from 1) attached again; other words keep their heads.

    >>> attach_marks(["来", "，", "看", "。"], {2, 4}, [0, 3, 1, 3])
    [0, 3, 1, 1]
    """
    if len(marks) >= len(heads):
        return list(heads)
    found = _without_marks(heads, marks)
    pairs = _pairs(words, marks, found)
    inside = {mark: top for start, end, top in pairs for mark in (start, end)}
    new = {mark: inside.get(mark) or _between(mark, marks, found, _span(mark, pairs)) for mark in marks}
    return [new.get(word, head) for word, head in enumerate(found, 1)]


def _without_marks(heads: Sequence[int], marks: Set[int]) -> list[int]:
    """The heads, with no word below a mark and only one root among the words that are not marks."""
    found = list(heads)
    for word in range(1, len(found) + 1):
        while found[word - 1] in marks:
            found[word - 1] = found[found[word - 1] - 1]
    roots = [word for word, head in enumerate(found, 1) if head == 0 and word not in marks]
    for other in roots[1:]:
        found[other - 1] = roots[0]
    return found


def _pairs(words: Sequence[str], marks: Set[int], heads: Sequence[int]) -> list[tuple[int, int, int]]:
    """Pairs of marks, each with the head of what it encloses; inner pairs first."""
    found, opened = [], list[int]()
    for mark in sorted(marks):
        form = words[mark - 1]
        if form in BRACKETS:
            opened.append(mark)
        elif opened and form == BRACKETS[words[opened[-1] - 1]]:
            start = opened.pop()
            top = _head_of_span(start, mark, marks, heads)
            if top:
                found.append((start, mark, top))
    return found


def _span(mark: int, pairs: Sequence[tuple[int, int, int]]) -> range:
    """Where the head of a mark may be: inside the innermost pair around the mark."""
    around = (range(start + 1, end) for start, end, _ in pairs if start < mark < end)
    return next(around, range(1, sys.maxsize))


def _head_of_span(start: int, end: int, marks: Set[int], heads: Sequence[int]) -> int:
    """The only word between two marks that is linked to words outside; 0 if there are several."""
    inside = {word for word in range(start + 1, end) if word not in marks}
    tops = {word for word in inside if heads[word - 1] not in inside}
    reached = {head for word, head in enumerate(heads, 1) if word not in inside | marks and head in inside}
    return min(tops) if len(tops) == 1 and reached <= tops else 0


def _between(mark: int, marks: Set[int], heads: Sequence[int], span: range) -> int:
    """The lower of the highest words to the left and to the right in a span."""
    left, right = mark - 1, mark + 1
    while left in marks:
        left -= 1
    while right in marks:
        right += 1
    left, right = (word if word in span and 0 < word <= len(heads) else 0 for word in (left, right))
    while left and heads[left - 1] < mark and heads[left - 1] in span:
        left = heads[left - 1]
    while right and heads[right - 1] > mark and heads[right - 1] in span:
        right = heads[right - 1]
    if not left or not right:
        return left or right
    return left if right in _path(heads, left) else right


def _path(heads: Sequence[int], word: int) -> list[int]:
    found = []
    while word:
        found.append(word)
        word = heads[word - 1]
    return found

"""Dependency trees as lists of heads: checking them, finding crossing arcs, making them projective.

Heads are counted from 1; 0 is the root and None is unknown. A tree is projective if no two of its arcs cross,
with the root placed before the first word. Parsers that search projective trees learn from trees in which
crossing arcs have been lifted to the head of their head until none cross (Nivre and Nilsson, 2005). Unlike
theirs, our relations do not encode the lift, and nothing is lifted back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Literal

from duilian.corpus.sentence import Layer
from duilian.wording import counted

Heads = Sequence[int | None]
TreeCheck = Literal["any", "partial", "whole"]
"""What a reader requires of heads: only well-formed ones; also at most one root; also none missing."""


@dataclasses.dataclass(frozen=True, slots=True)
class TreeFault:
    """What is wrong with a tree, and the word (from 0) where it shows."""

    word: int
    message: str
    hint: str = ""


def find_fault(heads: Heads, trees: TreeCheck = "whole") -> TreeFault | None:
    """Find the first reason why these heads are not (part of) one tree."""
    count = len(heads)
    for place, head in enumerate(heads):
        if head is not None and not 0 <= head <= count:
            return TreeFault(place, f"head {head} is outside the sentence ({counted(count, 'word')})")
        if head == place + 1:
            return TreeFault(place, f"word {head} is its own head")
    cycle = word_in_cycle(heads)
    if cycle is not None:
        return TreeFault(cycle, f"word {cycle + 1} depends on itself: its heads form a cycle")
    return None if trees == "any" else _fault_of_tree(heads, trees)


def _fault_of_tree(heads: Heads, trees: TreeCheck) -> TreeFault | None:
    roots = [place for place, head in enumerate(heads) if head == 0]
    if len(roots) > 1:
        message = f"word {roots[1] + 1} is a second root, after word {roots[0] + 1}"
        return TreeFault(roots[1], message, "a tree has one root; is a blank line between sentences missing?")
    if trees == "whole" and None in heads:
        place = list(heads).index(None)
        return TreeFault(place, f"word {place + 1} has no head", "a parser learns from complete trees")
    return None


def word_in_cycle(heads: Heads) -> int | None:
    """The index of a word whose heads lead back to it."""
    seen_from = [-1] * len(heads)  # the word whose walk to the root first passed here
    for start in range(len(heads)):
        word: int | None = start
        while word is not None and seen_from[word] < 0:
            seen_from[word] = start
            head = heads[word]
            word = head - 1 if head else None
        if word is not None and seen_from[word] == start:
            return word
    return None


def crossing(heads: Heads) -> list[int]:
    """The words (from 1) whose arcs cross another arc, sorted; unknown heads have no arc."""
    arcs = [
        (min(word, head), max(word, head), word) for word, head in enumerate(heads, 1) if head is not None
    ]
    arcs.sort()
    found = set()
    for place, (start, end, word) in enumerate(arcs):
        for other_start, other_end, other in arcs[place + 1 :]:
            if other_start >= end:
                break
            if start < other_start and end < other_end:
                found |= {word, other}
    return sorted(found)


def is_projective(heads: Heads) -> bool:
    """Whether no two arcs cross."""
    return not crossing(heads)


@dataclasses.dataclass(frozen=True, slots=True)
class ProjectiveTree:
    """A projective tree, and the words (from 1) that were lifted."""

    heads: tuple[int, ...]
    lifted: tuple[int, ...] = ()


def projectivise(heads: Sequence[int]) -> ProjectiveTree:
    """Lift the shortest arc that covers a word not below its head, until there is none."""
    found = list(heads)
    lifted: set[int] = set()
    while (word := _shortest_wrong(found)) is not None:
        found[word - 1] = found[found[word - 1] - 1]
        lifted.add(word)
    return ProjectiveTree(tuple(found), tuple(sorted(lifted)))


def _shortest_wrong(heads: list[int]) -> int | None:
    # Only an arc that crosses another can cover a word not below its head.
    wrong = [word for word in crossing(heads) if not _covers_its_own(heads, word)]
    return min(wrong, key=lambda word: (abs(word - heads[word - 1]), word), default=None)


def _covers_its_own(heads: list[int], word: int) -> bool:
    head = heads[word - 1]
    between = range(min(head, word) + 1, max(head, word))
    return all(head in _above(heads, other) for other in between)


def _above(heads: Sequence[int], word: int) -> Iterator[int]:
    while word:
        word = heads[word - 1]
        yield word


def projectivise_layer(layer: Layer) -> tuple[Layer, int]:
    """Return a layer, whose tree must be complete, made projective, and the number of lifted words."""
    projective = projectivise([head for head in layer.heads or () if head is not None])
    if not projective.lifted:
        return layer, 0
    return dataclasses.replace(layer, heads=projective.heads), len(projective.lifted)


@dataclasses.dataclass(frozen=True)
class TreeCounts:
    """The number of trees, of trees with crossing arcs, and of crossing arcs."""

    sentences: int
    crossing_sentences: int
    crossing_arcs: int


class TreeCounter:
    """Counts the trees of layers; layers without heads do not count."""

    def __init__(self) -> None:
        self._crossed: list[int] = []

    def add(self, layer: Layer) -> None:
        """Count the layer's tree, if it has one."""
        if layer.heads is not None:
            self._crossed.append(len(crossing(layer.heads)))

    def counts(self) -> TreeCounts | None:
        """The counts so far; None if there was no tree."""
        found = self._crossed
        return TreeCounts(len(found), sum(map(bool, found)), sum(found)) if found else None

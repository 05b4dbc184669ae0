"""Every question to a graph-based parser, answered by listing all projective trees (and all taggings).

A tree of words 1 to n is the row of their heads; 0 is the root, and -1 stands above it. Its score is the sum
over its parts (Li et al. 2014, Eq. 7): arcs; adjacent siblings and grandparents from order 2 on;
grandparent-siblings in order 3. A first child on its side has no inner sibling, and a last one no outer one:
both are parts of their own (Algorithm 3, lines 8 and 12). A joint model scores each part with the tags
of its words, and the tags as a chain does (Eq. 4). Nothing here shares a recursion with the charts.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from oracle.chain import log_sum_exp

Heads = tuple[int, ...]
"""For words 1 to n, the word above; 0 is the root."""

Tags = tuple[int, ...]
"""For words 1 to n, a tag; empty for a parser that is given its tags."""

ROOT = 0
ABOVE_ROOT = -1
NO_SIBLING = None
ROOT_TAG = -1  # of word 0 and of what is above it


@dataclasses.dataclass(frozen=True)
class Part:
    """What is scored at once.

    arc (h, m); sibling (h, s, m), s next to m on the same side of h and nearer to h; grandparent (g, h, m);
    grandsibling (g, h, s, m); tag (m,); tag-pair (m - 1, m). `tags` has one for each word, None if there is
    no word, and is empty for a parser that is given its tags.
    """

    kind: str
    words: tuple[int | None, ...]
    tags: tuple[int | None, ...] = ()


def is_tree(heads: Heads) -> bool:
    """Whether every word comes to the root by going up."""

    def reaches_root(word: int) -> bool:
        for _ in range(len(heads) + 1):
            if word == ROOT:
                return True
            word = heads[word - 1]
        return False

    return all(reaches_root(word) for word in range(1, len(heads) + 1))


def ancestors(heads: Heads, word: int) -> Iterator[int]:
    """The words above a word of a tree, up to the root."""
    while word != ROOT:
        word = heads[word - 1]
        yield word


def is_projective(heads: Heads) -> bool:
    """Whether all words between the ends of an arc are below its head."""
    return all(
        head in ancestors(heads, between)
        for word, head in enumerate(heads, 1)
        for between in range(min(head, word) + 1, max(head, word))
    )


@functools.cache
def projective_trees(length: int, single_root: bool = False) -> tuple[Heads, ...]:
    """All projective trees of so many words, in lexicographic order."""
    rows = itertools.product(range(length + 1), repeat=length)
    return tuple(
        heads
        for heads in rows
        if (not single_root or heads.count(ROOT) == 1) and is_tree(heads) and is_projective(heads)
    )


def children(heads: Heads, head: int) -> tuple[list[int], list[int]]:
    """The words below a word, on its left and on its right, from the inside outwards."""
    own = [word for word, above in enumerate(heads, 1) if above == head]
    return [word for word in reversed(own) if word < head], [word for word in own if word > head]


def parts(heads: Heads, order: int) -> list[Part]:
    """The parts of a tree that a parser of this order scores."""
    found = [Part("arc", (head, word)) for word, head in enumerate(heads, 1)]
    if order == 1:
        return found
    for head in range(len(heads) + 1):
        above = heads[head - 1] if head != ROOT else ABOVE_ROOT
        for side in children(heads, head):
            found += [Part("grandparent", (above, head, word)) for word in side]
            row = [NO_SIBLING, *side, NO_SIBLING] if side else []
            pairs = list(itertools.pairwise(row))
            found += [Part("sibling", (head, *pair)) for pair in pairs]
            if order == 3:
                found += [Part("grandsibling", (above, head, *pair)) for pair in pairs]
    return found


def joint_parts(heads: Heads, tags: Tags, order: int) -> list[Part]:
    """The parts of a tagged tree: those of the tree with the tags of their words, and those of the tags."""

    def tag_of(word: int | None) -> int | None:
        if word is None:
            return None
        return ROOT_TAG if word <= ROOT else tags[word - 1]

    found = [(part.kind, part.words) for part in parts(heads, order)]
    for word in range(1, len(heads) + 1):
        found += [("tag", (word,)), ("tag-pair", (word - 1, word))]
    return [Part(kind, words, tuple(map(tag_of, words))) for kind, words in found]


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A tree, its tags if they were searched for, and the score of both."""

    score: float
    heads: Heads
    tags: Tags = ()


class BruteForceTrees:
    """A sentence small enough to list all its trees.

    `candidates` are the tags that each word may have, for a joint search; `given` are heads that are known
    (None where they are not); `arcs`, if not None, are the only arcs (h, m) that a tree may have. A score of
    -inf forbids a part.
    """

    def __init__(
        self,
        length: int,
        order: int,
        score: Callable[[Part], float],
        *,
        single_root: bool = False,
        candidates: Sequence[Sequence[int]] | None = None,
        given: Sequence[int | None] | None = None,
        arcs: set[tuple[int, int]] | None = None,
    ) -> None:
        self.length = length
        self.order = order
        self.score_part = functools.cache(score)
        self.single_root = single_root
        self.candidates = candidates
        self.given = given or [None] * length
        self.arcs = arcs

    def score(self, heads: Heads, tags: Tags = ()) -> float:
        """The score of one analysis."""
        scored = joint_parts(heads, tags, self.order) if tags else parts(heads, self.order)
        return math.fsum(map(self.score_part, scored))

    def trees(self) -> list[Heads]:
        """The trees that are allowed."""
        return [
            heads
            for heads in projective_trees(self.length, self.single_root)
            if all(known in (None, head) for head, known in zip(heads, self.given, strict=True))
            and (
                self.arcs is None or self.arcs.issuperset(zip(heads, range(1, self.length + 1), strict=True))
            )
        ]

    @functools.cached_property
    def analyses(self) -> list[Analysis]:
        """All allowed trees, with all their taggings."""
        taggings: list[Tags] = [()]
        if self.candidates is not None:
            taggings = list(itertools.product(*self.candidates))
        every = [
            Analysis(self.score(heads, tags), heads, tags) for heads in self.trees() for tags in taggings
        ]
        return [each for each in every if each.score != -math.inf]

    def best(self, tolerance: float = 1e-9) -> list[Analysis]:
        """The analyses with the highest score, all of them; none if nothing is allowed."""
        highest = max((each.score for each in self.analyses), default=-math.inf)
        return [each for each in self.analyses if each.score >= highest - tolerance]

    def k_best(self, k: int) -> list[Analysis]:
        """The k highest, highest first."""
        return sorted(self.analyses, key=lambda each: -each.score)[:k]

    def log_partition(self) -> float:
        """log Σ exp(score) over all analyses."""
        return log_sum_exp(each.score for each in self.analyses)

    def arc_marginals(self) -> list[list[float]]:
        """[h][m]: the probability of the arc from h to m, for h and m of 0 to n."""
        log_z = self.log_partition()
        table = [[0.0] * (self.length + 1) for _ in range(self.length + 1)]
        for each in self.analyses:
            for word, head in enumerate(each.heads, 1):
                table[head][word] += math.exp(each.score - log_z)
        return table

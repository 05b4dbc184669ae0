"""Trees for sentences of any length, which keep given heads.

Parsing takes cubic time, so an overlong sentence is parsed in parts, and the trees are joined. Given heads
stay even if they fit into no projective tree: the search runs without them, and then they are put back.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.corpus.trees import crossing, word_in_cycle
from duilian.errors import StandardError
from duilian.models.parser.tree_packing import FoundTrees, Ids, Words, open_heads
from duilian.text import is_punctuation

MAX_PART = 60  # words in a part of an overlong sentence
Tags = npt.NDArray[Any]
"""The tags of the words of all sentences: their numbers, or which tags each word may have."""


class Searcher(Protocol):
    """The part of a parser that is needed here."""

    @property
    def max_length(self) -> int:
        """The number of words above which sentences are parsed in parts."""

    @property
    def part_relation(self) -> int:
        """The relation that joins parts."""

    def search(self, words: Words, tags: Tags, heads: Ids, threads: int) -> FoundTrees:
        """The best projective trees with these heads (-1: open)."""

    def choose_relations(self, words: Sequence[str], tree: FoundTrees, doubtful: Sequence[int]) -> None:
        """Give new relations to some words (counted from 0) of a tree of any shape."""


class _Part(NamedTuple):
    """A sentence or a part of one: words `start` to `end`, counted over all sentences."""

    sentence: int
    start: int
    end: int


class TreeFinder:
    """Finds the trees of a batch of sentences; `given` has their annotation, or is empty."""

    def __init__(self, searcher: Searcher, words: Words, tags: Tags, given: Sequence[Layer]) -> None:
        self._searcher, self._words, self._tags = searcher, words, tags
        self._first = [0, *itertools.accumulate(map(len, words))]
        self._given = given
        self._asked = _given_heads(given) if given else open_heads(self._first[-1])
        rows = np.full((3, self._first[-1]), -1, np.int32)
        self._found = FoundTrees(rows[0], rows[1], rows[2])
        self._doubtful: set[int] = set()  # words with relations that belong to other heads

    def find(self, is_open: Callable[[Layer], bool], threads: int) -> FoundTrees:
        """Find the trees; a given sentence that is not open stays as it is."""
        is_wanted = [is_open(layer) for layer in self._given] or [True] * len(self._words)
        wanted = [s for s, is_one in enumerate(is_wanted) if is_one]
        parts = list(itertools.chain.from_iterable(map(self._split, wanted)))
        loosened: set[int] = set()  # sentences searched without some of their given heads
        if self._given:
            self._found.heads[:] = self._asked
            loosened |= self._search_around_given(parts, threads)
        elif parts:
            words = list(map(self._words_of, parts))
            self._found = self._searcher.search(words, self._tags, self._asked, threads)
        if len(parts) > len(wanted):
            for sentence, own in itertools.groupby(parts, key=lambda part: part.sentence):
                if self._join(list(own)):
                    loosened.add(sentence)
        if self._given:
            self._put_back(loosened)
        self._settle_relations()
        return self._found

    def _split(self, sentence: int) -> Iterator[_Part]:
        begin = self._first[sentence]
        for start, end in parts_of(self._words[sentence], self._searcher.max_length):
            yield _Part(sentence, begin + start, begin + end)

    def _search_around_given(self, parts: Sequence[_Part], threads: int) -> set[int]:
        """Parse parts; return the sentences with given heads that fit into no projective tree."""
        # The parser finds no crossing arcs. If given heads do not fit, the search runs without those that
        # cross, then without any.
        loosened: set[int] = set()
        for loosen in (list, _without_crossing, lambda heads: [-1] * len(heads)):
            if not parts:
                break
            asked = [loosen(self._heads_inside(part)) for part in parts]
            rows = np.concatenate([np.arange(part.start, part.end) for part in parts])
            found = self._searcher.search(
                [self._words_of(part) for part in parts],
                self._tags[rows],
                np.array(list(itertools.chain.from_iterable(asked)), np.int32),
                threads,
            )
            for mine, theirs in zip(self._found[:3], found[:3], strict=True):
                mine[rows] = theirs
            parts = [parts[k] for k in found.impossible]
            loosened |= {part.sentence for part in parts}
        return loosened

    def _words_of(self, part: _Part) -> Sequence[str]:
        begin = self._first[part.sentence]
        return self._words[part.sentence][part.start - begin : part.end - begin]

    def _heads_inside(self, part: _Part) -> list[int]:
        """The given heads of a part, counted in it; a head outside it is open."""
        before = part.start - self._first[part.sentence]
        return heads_inside(self._asked[part.start : part.end], before)

    def _join(self, parts: Sequence[_Part]) -> bool:
        """Join several parts into one tree, in which later roots depend on the root of the first part."""
        if len(parts) == 1:
            return False
        begin = parts[0].start
        root = int(np.flatnonzero(self._found.heads[begin : parts[0].end] == 0)[0]) + 1
        for part in parts[1:]:
            heads, relations = (row[part.start : part.end] for row in self._found[1:3])
            is_root = heads == 0
            heads[:] = np.where(is_root, root, heads + (part.start - begin))
            relations[is_root] = self._searcher.part_relation
        return True

    def _put_back(self, sentences: Iterable[int]) -> None:
        for s in sentences:
            begin, end = self._first[s], self._first[s + 1]
            found, asked = self._found.heads[begin:end], self._asked[begin:end].tolist()
            heads = np.array(with_given_heads(found.tolist(), asked), np.int32)
            self._doubtful.update((np.flatnonzero(heads != found) + begin).tolist())
            found[:] = heads

    def _settle_relations(self) -> None:
        """Choose relations again where heads have changed."""
        doubtful = sorted(self._doubtful)
        for s, own in itertools.groupby(
            doubtful, key=lambda word: bisect.bisect_right(self._first, word) - 1
        ):
            begin, end = self._first[s], self._first[s + 1]
            tags, heads, relations = (row[begin:end] for row in self._found[:3])
            tree = FoundTrees(tags, heads, relations)
            self._searcher.choose_relations(self._words[s], tree, [word - begin for word in own])


def parts_of(words: Sequence[str], longest: int) -> Iterator[tuple[int, int]]:
    """Cut a sentence that is too long, if possible after punctuation; yield the edges of its parts."""
    at, end = 0, len(words)
    while end > longest and end - at > MAX_PART:
        marks = [k for k in range(at + MAX_PART // 2, at + MAX_PART) if is_punctuation(words[k])]
        cut = marks[-1] + 1 if marks else at + MAX_PART
        yield at, cut
        at = cut
    yield at, end


def heads_inside(heads: Ids, before: int) -> list[int]:
    """The heads of a part, counted in it, with `before` words before it; a head outside it is open."""
    is_inside = (heads > before) & (heads <= before + len(heads))
    found: list[int] = np.where(is_inside, heads - before, np.where(heads == 0, 0, -1)).tolist()
    return found


def _given_heads(given: Sequence[Layer]) -> Ids:
    rows = (layer.heads or (None,) * len(layer) for layer in given)
    return np.array([-1 if head is None else head for row in rows for head in row], np.int32)


def lacks_tree(layer: Layer) -> bool:
    """Whether a head or relation is missing."""
    return None in (layer.heads or (None,)) or None in (layer.relations or (None,))


def _without_crossing(given: Sequence[int]) -> list[int]:
    """Open (-1) the given heads whose arcs cross another, and all roots but the first."""
    crossed = set(crossing([None if head < 0 else head for head in given]))
    root = given.index(0) if 0 in given else None
    return [
        -1 if word + 1 in crossed or (head == 0 and word != root) else head for word, head in enumerate(given)
    ]


def with_given_heads(found: Sequence[int], given: Sequence[int]) -> list[int]:
    """A tree with the given heads (-1: open) and the heads found, as far as it stays a tree."""
    heads = [own if own >= 0 else head for own, head in zip(given, found, strict=True)]
    is_open = [head < 0 for head in given]
    if 0 not in heads and any(is_open):
        heads[is_open.index(True)] = 0
    root = given.index(0) + 1 if 0 in given else heads.index(0) + 1 if 0 in heads else 0
    for word, head in enumerate(heads):
        if head == 0 and is_open[word] and word + 1 != root:
            heads[word] = root
    while (first := word_in_cycle(heads)) is not None:
        at = first
        while not is_open[at]:
            at = heads[at] - 1
            if at == first:
                return heads  # the given heads are a cycle
        heads[at] = root
    return heads


def allowed_tags(layers: Sequence[Layer], tags: Sequence[str]) -> npt.NDArray[np.bool_]:
    """[words, tags] which tags partial annotation allows; none for a word that it leaves open."""
    place = {tag: k for k, tag in enumerate(tags)}
    rows = [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
    allowed = np.zeros((len(rows), len(tags)), np.bool_)
    for word, tag in enumerate(rows):
        if tag is None:
            continue
        names = (tag,) if isinstance(tag, str) else sorted(tag)
        known = [place[name] for name in names if name in place]
        if not known:
            ours = ", ".join(tags[:5])
            raise StandardError(
                f"the tag {names[0]!r} is not known to the parser, which has {ours} …",
                "give tags of its own standard, or none",
            )
        allowed[word, known] = True
    return allowed

"""What the formats of annotation tools share: a text, labelled spans and arcs, which become sentences.

Every span is a word. Several spans over the same characters are one word with several possible tags;
`UNTAGGED` marks a word whose tag is unknown. The head of a word without an arc is unknown; if there is only
one such word in a sentence, it is the root. So unfinished work is partial annotation. Words must cover the
text, because a layer cannot represent unsegmented text.
"""

from __future__ import annotations

import dataclasses
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from duilian.corpus.lines import Malformed, shown
from duilian.corpus.sentence import Layer, Sentence, Tag
from duilian.corpus.trees import TreeCheck, find_fault
from duilian.text import sentences, units
from duilian.wording import counted

UNTAGGED = "WORD"  # the label of a word where there is no tag
ROOT = "root"


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a text, with all labels that they may have."""

    start: int
    end: int
    labels: frozenset[str]


class Arc(NamedTuple):
    """From a head to its dependent; both are names of spans."""

    head: str
    dependent: str
    relation: str | None


class _Head(NamedTuple):
    number: int  # of a word of the text, counted from 0
    relation: str | None


@dataclasses.dataclass(frozen=True)
class AnnotatedText:
    """A text with spans by name, and arcs between them."""

    text: str
    spans: dict[str, Span]
    arcs: Sequence[Arc] = ()
    id: str = ""

    def sentences(self, standard: str, trees: TreeCheck = "any") -> Iterator[Sentence]:
        """Cut the text into sentences, but never inside a word or a tree."""
        words = self._words()
        place = {(word.start, word.end): number for number, word in enumerate(words)}
        numbers = {name: place[span.start, span.end] for name, span in self.spans.items()}
        heads = self._heads(numbers)
        cuts = self._cuts(words, heads)
        for number, (a, b) in enumerate(itertools.pairwise(cuts), start=1):
            id = f"{self.id}.{number}" if self.id and len(cuts) > 2 else self.id
            found = [heads.get(word) for word in range(a, b)]
            yield Sentence({standard: self._layer(words[a:b], found, a, trees)}, id)

    def _words(self) -> list[Span]:
        """The spans in text order; spans over the same characters are merged."""
        merged: dict[tuple[int, int], frozenset[str]] = {}
        for start, end, labels in self.spans.values():
            if not 0 <= start < end <= len(self.text):
                size = len(self.text)
                raise Malformed(
                    f"a span from {start} to {end} is not in the text ({counted(size, 'character')})"
                )
            merged[start, end] = merged.get((start, end), frozenset()) | labels
        words = [Span(start, end, labels) for (start, end), labels in sorted(merged.items())]
        self._check_cover(words)
        return words

    def _check_cover(self, words: Sequence[Span]) -> None:
        last = 0
        for word in [*words, Span(len(self.text), len(self.text), frozenset())]:
            if word.start < last:
                raise Malformed(f"{shown(self.text[word.start : word.end])} overlaps the word before it")
            gap = self.text[last : word.start]
            if len(units(gap)):
                hint = f"label it {UNTAGGED} to leave its tag open"
                raise Malformed(f"no word has {shown(gap.strip())} at {last} to {word.start}", hint)
            last = word.end

    def _heads(self, numbers: dict[str, int]) -> dict[int, _Head]:
        found: dict[int, _Head] = {}
        for arc in self.arcs:
            for name in (arc.head, arc.dependent):
                if name not in numbers:
                    raise Malformed(f"an arc leads to {shown(name)}, which is no word")
            number = numbers[arc.dependent]
            if number in found:
                word = self.spans[arc.dependent]
                raise Malformed(f"{shown(self.text[word.start : word.end])} has two heads")
            found[number] = _Head(numbers[arc.head], arc.relation)
        return found

    def _cuts(self, words: Sequence[Span], heads: dict[int, _Head]) -> list[int]:
        """The numbers of the first words of sentences, and the number of words."""
        starts = [word.start for word in words]
        edges = {bisect_left(starts, start) for start, _ in sentences(self.text).tolist()}
        inside = {
            edge
            for dependent, head in heads.items()
            for edge in range(min(dependent, head.number) + 1, max(dependent, head.number) + 1)
        }
        return sorted(({0, len(words)} | edges) - (inside & edges))

    def _layer(
        self, words: Sequence[Span], found: Sequence[_Head | None], first: int, trees: TreeCheck
    ) -> Layer:
        gaps = [self.text[a.end : b.start] for a, b in itertools.pairwise(words)]
        heads = [None if head is None else head.number - first + 1 for head in found]
        relations = [None if head is None else head.relation for head in found]
        if self.arcs and heads.count(None) == 1:
            root = heads.index(None)
            heads[root], relations[root] = 0, ROOT
        fault = find_fault(heads, trees)
        if fault is not None:
            raise Malformed(fault.message, fault.hint)
        tags = tuple(map(_tag, words))
        return Layer(
            tuple(self.text[word.start : word.end] for word in words),
            None if all(tag is None for tag in tags) else tags,
            None if heads.count(None) == len(heads) else tuple(heads),
            None if relations.count(None) == len(relations) else tuple(relations),
            (*gaps, "") if any(gaps) else None,
        )


def _tag(word: Span) -> Tag:
    labels = word.labels - {UNTAGGED}
    if len(labels) < len(word.labels) or not labels:
        return None
    return next(iter(labels)) if len(labels) == 1 else labels


def is_span(start: Any, end: Any) -> bool:
    """Whether these are two offsets, not something else that JSON may hold."""
    return type(start) is int and type(end) is int


def text_field(found: dict[str, Any], *keys: str) -> str:
    """The first of these fields that is text."""
    for key in keys:
        if isinstance(found.get(key), str):
            return str(found[key])
    raise Malformed(f"expected text in the field {keys[0]}")


def label_names(found: Iterable[Any]) -> frozenset[str]:
    """The labels of a span, which must be text."""
    labels = list(found)
    if not all(isinstance(label, str) and label for label in labels):
        raise Malformed(f"expected labels, found {shown(labels)}")
    return frozenset(labels)

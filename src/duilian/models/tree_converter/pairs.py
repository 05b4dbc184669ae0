"""Sentences annotated in two standards: the source's tree on the target's words, aligned by characters."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

from duilian.corpus import Layer, Tag
from duilian.corpus.trees import find_fault
from duilian.errors import ConfigError, StandardError
from duilian.text import Folding

JOINT = "|"  # between a universal tag and a specific one
SPLIT = "split"  # the relation between parts of a source word that the target cuts
SPELLING = Folding(script="simplified")
LEAST_SAME = 0.5  # minimum share of identical words if spellings differ


@dataclasses.dataclass(frozen=True, slots=True)
class GuidedLayer(Layer):
    """A sentence with the source's tags, a tree of the target or none, and the tree of the source."""

    guide_heads: tuple[int, ...] = ()
    guide_relations: tuple[str, ...] = ()
    wanted: tuple[str | None, ...] = ()  # the target's tags


def guided(source: Layer, target: Layer | None = None) -> GuidedLayer:
    """A sentence with words, tags and tree of the source, and tree and tags of the target, if known."""
    fault = None if source.heads is None else find_fault(source.heads)
    if source.heads is None or source.relations is None or None in source.relations or fault:
        raise StandardError(
            "a sentence of the source has no complete tree" + (f": {fault.message}" if fault else "")
        )
    if not source.tags or not all(isinstance(tag, str) for tag in source.tags):
        raise StandardError("a sentence of the source has words without a tag")
    wanted = (target.tags if target else None) or (None,) * len(source)
    return GuidedLayer(
        source.words,
        joint_tags(source),
        target.heads if target else None,
        target.relations if target else None,
        guide_heads=tuple(head for head in source.heads if head is not None),
        guide_relations=tuple(map(str, source.relations)),
        wanted=tuple(tag if isinstance(tag, str) else None for tag in wanted),
    )


def joint_tags(layer: Layer) -> tuple[Tag, ...]:
    """The tags that features see: the universal and the specific tag together, if both are known."""
    tags, fine = layer.tags or (), layer.columns.get("xpos")
    if fine is None or set(fine) == {"_"}:
        return tags
    return tuple(f"{tag}{JOINT}{other}" for tag, other in zip(tags, fine, strict=True))


@dataclasses.dataclass(frozen=True)
class Unaligned:
    """A pair of different sentences: its number, counted from 1, and how both begin."""

    number: int
    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Aligned:
    """The pairs to learn from, and those that do not align."""

    pairs: list[tuple[Layer, Layer]]
    unaligned: list[Unaligned]


def align(sources: Sequence[Layer], targets: Sequence[Layer]) -> Aligned:
    """Pair sentences in order, and move the source's annotation to the target's words.

    >>> one = Layer(("小", "狗"), ("JJ", "NN"), (2, 0), ("amod", "root"))
    >>> align([one], [Layer(("小狗",), ("NOUN",), (0,), ("root",))]).pairs[0][0].heads
    (0,)
    """
    if len(sources) != len(targets):
        raise ConfigError(
            f"the source has {len(sources)} sentences and the target {len(targets)}",
            "both sides must have the same sentences in the same order",
        )
    found = Aligned([], [])
    for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
        moved = on_words(source, target.words)
        if moved is None:
            found.unaligned.append(Unaligned(number, source.text[:40], target.text[:40]))
        else:
            found.pairs.append((moved, target))
    return found


def on_words(source: Layer, words: Sequence[str]) -> Layer | None:
    """Move the source's annotation to other words with the same characters; None if these differ.

    Width may differ and, if the number of words is the same, also some of the words.
    """
    ours, theirs = _spelled(source.words), _spelled(words)
    if len(ours) == len(theirs):
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        if same >= LEAST_SAME * len(words):
            return source
    if "".join(ours) != "".join(theirs):
        return None
    return _moved(source, words, _overlaps(ours, theirs))


def _spelled(words: Sequence[str]) -> list[str]:
    return [SPELLING(word) for word in words]


def _overlaps(ours: Sequence[str], theirs: Sequence[str]) -> list[list[int]]:
    """For each of their words, the words of ours that share characters with it."""
    ends = list(itertools.accumulate(map(len, ours)))
    found, start, first = [], 0, 0
    for word in theirs:
        end = start + len(word)
        while ends[first] <= start:
            first += 1
        last = first
        while ends[last] < end:
            last += 1
        found.append(list(range(first, last + 1)))
        start = end
    return found


def _moved(source: Layer, words: Sequence[str], overlaps: Sequence[list[int]]) -> Layer:
    """Each word takes the place of its highest part; further parts of a cut word depend on the first."""
    heads, relations = list(source.heads or ()), source.relations or (None,) * len(source)
    depth = [sum(1 for _ in _above(heads, word)) for word in range(len(heads))]
    owner: dict[int, int] = {}  # the new word that contains an old one
    top = [min(own, key=lambda word: (depth[word], word)) for own in overlaps]
    for new, own in enumerate(overlaps):
        for old in own:
            owner.setdefault(old, new)
    rows: list[tuple[int | None, str | None]] = []
    for new, old in enumerate(top):
        if owner[old] != new:
            rows.append((owner[old] + 1, SPLIT))
            continue
        head, relation = heads[old], relations[old]
        rows.append((owner[head - 1] + 1 if head else head, relation))
    tags = source.tags or (None,) * len(source)
    columns = {name: tuple(row[old] for old in top) for name, row in source.columns.items() if name == "xpos"}
    return Layer(
        tuple(words),
        tuple(tags[old] for old in top),
        tuple(head for head, _ in rows),
        tuple(relation for _, relation in rows),
        columns=columns,
    )


def _above(heads: Sequence[int | None], word: int) -> Iterator[int]:
    head = heads[word]
    while head:
        yield head
        head = heads[head - 1]

"""What annotation that is given leaves open, and what is wrong with it when it cannot be completed."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from duilian.corpus import Layer, Tag
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.corpus.trees import crossing, word_in_cycle
from duilian.errors import AnnotationError, DuilianError
from duilian.standards import universal_tags


class OpenAnnotation:
    """The open tags of a standard that an encoding has these `tags` for."""

    def __init__(self, standard: str, tags: Collection[str]) -> None:
        self._standard = standard
        self._tags = frozenset(tags)
        by_universal: dict[str, set[str]] = {}
        for tag, universal in universal_tags(standard).items():
            if tag in self._tags:
                by_universal.setdefault(universal, set()).add(tag)
        self._of_universal = {name: frozenset(found) for name, found in by_universal.items()}

    def bound(self, layer: Layer) -> Layer:
        """The layer, where an unknown tag is one of those that have the universal tag beside it."""
        universal = layer.columns.get("upos")
        if universal is None or not self._of_universal or set(universal) == {UNKNOWN_FIELD}:
            return layer
        given: tuple[Tag, ...] = layer.tags or (None,) * len(layer)
        return dataclasses.replace(
            layer,
            tags=tuple(
                [
                    self._of_universal.get(name) if tag is None else tag
                    for tag, name in zip(given, universal, strict=True)
                ]
            ),
        )

    def fault(self, sentence: int, layer: Layer, error: DuilianError) -> AnnotationError:
        """The error with the word that it is about, as far as that can be told."""
        for word, tag in enumerate(layer.tags or ()):
            names = tag if isinstance(tag, frozenset) else frozenset([tag] if tag else [])
            unknown = sorted(names - self._tags)
            if unknown:
                message = f"the tag {unknown[0]!r} is not among the model's tags of {self._standard!r}"
                return AnnotationError(sentence, word, message, "the standard must be that of the tags")
        return AnnotationError(sentence, 0, error.message, error.hint)


def without_crossing(given: Sequence[int]) -> list[int]:
    """Given heads (-1: open), without those whose arcs cross another, and with one root."""
    wrong = set(crossing([None if head < 0 else head for head in given]))
    root = given.index(0) if 0 in given else None
    return [
        -1 if word + 1 in wrong or (head == 0 and word != root) else head for word, head in enumerate(given)
    ]


def with_given_heads(found: Sequence[int], given: Sequence[int]) -> list[int]:
    """A tree with the heads that are given (-1: open) and, where that is one, those that were found."""
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
                return heads  # given as a circle
        heads[at] = root
    return heads

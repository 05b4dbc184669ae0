"""Completion of partial annotation: open tags, and errors that prevent it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from itertools import starmap

from duilian.corpus import Layer, Tag
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.errors import AnnotationError, DuilianError
from duilian.standards import is_pair, paired, universal_of, universal_tags, with_parts


class OpenAnnotation:
    """Partial annotation in a standard of which a model knows these `tags`."""

    def __init__(self, standard: str, tags: Collection[str]) -> None:
        self._standard = standard
        self._tags = with_parts(tags)
        by_universal: dict[str, set[str]] = {}
        of_pairs = {tag: universal_of(tag) for tag in tags if is_pair(tag)}
        for tag, universal in {**universal_tags(standard), **of_pairs}.items():
            if tag in self._tags:
                by_universal.setdefault(universal, set()).add(tag)
        self._of_universal = {name: frozenset(found) for name, found in by_universal.items()}

    def restrict(self, layer: Layer) -> Layer:
        """Restrict each unknown tag to those compatible with the universal tag of its word, and a universal
        tag to the pair with the specific tag beside it.
        """
        specific = layer.columns.get("xpos")
        if specific is not None:
            pairs = zip(layer.tags or (None,) * len(layer), specific, strict=True)
            return dataclasses.replace(layer, tags=tuple(starmap(self._pair, pairs)))
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

    def _pair(self, tag: Tag, specific: str) -> Tag:
        if tag is None and specific in self._tags:
            return specific
        pair = paired(tag, specific) if isinstance(tag, str) else None
        return pair if pair in self._tags else tag

    def locate(self, sentence: int, layer: Layer, error: DuilianError) -> AnnotationError:
        """Return the error with its sentence and, if possible, its word."""
        for word, tag in enumerate(layer.tags or ()):
            names = tag if isinstance(tag, frozenset) else frozenset([tag] if tag else [])
            unknown = sorted(names - self._tags)
            if unknown:
                message = f"the tag {unknown[0]!r} is not among the model's tags of {self._standard!r}"
                return AnnotationError(sentence, word, message, "name the standard of the tags")
        return AnnotationError(sentence, 0, error.message, error.hint)

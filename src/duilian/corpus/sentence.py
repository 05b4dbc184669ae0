"""Sentences: any number of annotation layers over the same characters.

A layer is the annotation in one standard: words, tags, a tree. The layers of a sentence may segment it
differently, but contain the same characters. What is not annotated is None, so partial annotation (a set of
allowed tags, an unknown head) is the general case, not an exception.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from duilian.errors import ConfigError

Tag = str | frozenset[str] | None
"""A gold tag; one of these tags; unknown."""

NO_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclasses.dataclass(frozen=True, slots=True)
class Entity:
    """Words `start` to `end` (exclusive), which together are a name or phrase of this kind."""

    start: int
    end: int
    label: str


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """The annotation of a sentence in one standard.

    >>> layer = Layer(("我们", "去"), tags=("r", None))  # None: unknown
    >>> layer.text, len(layer)
    ('我们去', 2)
    """

    words: tuple[str, ...]
    tags: tuple[Tag, ...] | None = None
    heads: tuple[int | None, ...] | None = None  # counted from 1; 0 is the root, None unknown
    relations: tuple[str | None, ...] | None = None
    spaces: tuple[str, ...] | None = None  # the white space after each word; None if there is none
    # Further columns of the format, by name. (A factory, because Python 3.11 thinks a proxy is mutable.)
    columns: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=lambda: NO_COLUMNS)
    entities: tuple[Entity, ...] = ()
    extra_rows: tuple[tuple[int, str], ...] = ()  # (words before it, the row): multiword tokens, empty nodes

    def __len__(self) -> int:
        return len(self.words)

    def __reduce__(self) -> tuple[object, ...]:
        # A proxy cannot be pickled, and sentences are sent between processes.
        fields = (self.words, self.tags, self.heads, self.relations, self.spaces)
        return Layer, (*fields, dict(self.columns), self.entities, self.extra_rows)

    @property
    def text(self) -> str:
        """The text of the sentence, with the white space of the source."""
        if self.spaces is None:
            return "".join(self.words)
        return "".join(part for pair in zip(self.words, self.spaces, strict=True) for part in pair)

    def spans(self) -> list[tuple[int, int]]:
        """Start and end of every word in `text`."""
        spaces = self.spaces or ("",) * len(self.words)
        found, start = [], 0
        for word, space in zip(self.words, spaces, strict=True):
            found.append((start, start + len(word)))
            start += len(word) + len(space)
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """Layers by standard name, over one text.

    >>> Sentence({"pku": Layer(("我们", "去"))})["pku"].words
    ('我们', '去')
    """

    layers: Mapping[str, Layer]
    id: str = ""
    comments: tuple[str, ...] = ()

    def __getitem__(self, standard: str) -> Layer:
        try:
            return self.layers[standard]
        except (KeyError, TypeError):  # not there, or no name at all
            have = ", ".join(self.layers) or "none"
            raise ConfigError(f"the sentence has no layer {standard!r} (it has: {have})") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.layers)

    @property
    def text(self) -> str:
        """The text of the first layer."""
        for layer in self.layers.values():
            return layer.text
        return ""

    def with_layer(self, standard: str, layer: Layer) -> Sentence:
        """The same sentence with one more layer, which must have the same characters."""
        if self.layers and "".join(layer.words) != "".join(next(iter(self.layers.values())).words):
            raise ConfigError(f"layer {standard!r} does not have the same characters as the sentence")
        return dataclasses.replace(self, layers={**self.layers, standard: layer})

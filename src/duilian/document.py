"""The analysis of a text: words, tags and a tree in each standard, as offsets into that text.

Words are spans of the user's own text: `text[token.start:token.end] == token.text` holds for every token, and
only white space and invisible characters lie between tokens. So the text can always be reconstructed.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.text import is_traditional

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
MAX_WORDS_IN_REPR = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """A word of a text in one standard."""

    text: str
    start: int  # in characters of the text
    end: int
    tag: str | None = None
    confidence: float | None = None  # probability of word and tag: that of the least certain character
    head: int | None = None  # number of the head in the sentence, counted from 1; 0 for the root
    relation: str | None = None
    marginals: Mapping[str, float] | None = None  # the probability of each likely tag, if requested


@dataclasses.dataclass(frozen=True, eq=False)
class WordTable:
    """All words of a text in one standard, as columns of equal length."""

    start: Ints
    end: Ints
    sentence: Ints  # [sentences + 1]  index of the first word of each sentence
    tags: Sequence[str] | None = None
    confidence: Doubles | None = None
    heads: Sequence[int | None] | None = None
    relations: Sequence[str | None] | None = None
    marginals: Sequence[Mapping[str, float]] | None = None  # of each word with each of its likely tags

    def __len__(self) -> int:
        return len(self.start)


class Group(NamedTuple):
    """The words `a` of one standard and `b` of another that cover the same characters; as few as possible."""

    a: range
    b: range


class Doc:
    """A text with its words in every standard of the analyser; the first standard is the default."""

    def __init__(
        self, text: str, layers: Mapping[str, WordTable], *, probability: float | None = None
    ) -> None:
        self.text = text
        self.probability = probability  # if this is one of several analyses
        self.given: Sentence | None = None  # the partly annotated sentence that this analysis completes
        self._layers = dict(layers)

    def __repr__(self) -> str:
        shown = [f"{name}={_abbreviated(self.tokens(name))!r}" for name in self.standards]
        if self.probability is not None:
            shown.append(f"probability={self.probability:.4g}")
        return f"Doc({', '.join(shown or [repr(self.text)])})"

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards of this analysis."""
        return tuple(self._layers)

    @property
    def is_traditional(self) -> bool:
        """Whether the text is in traditional characters."""
        return is_traditional(self.text)

    def layer(self, standard: str | None = None) -> WordTable:
        """The words of one standard, as arrays."""
        if not self._layers:
            raise ConfigError("the text has not been analysed")
        name = next(iter(self._layers)) if standard is None else standard
        if name not in self._layers:
            raise ConfigError(f"there is no standard {name!r}, only {', '.join(self._layers)}")
        return self._layers[name]

    def only(self, standard: str) -> Doc:
        """The same text in one standard only."""
        doc = Doc(self.text, {standard: self.layer(standard)}, probability=self.probability)
        doc.given = self.given
        return doc

    def words(self, standard: str | None = None) -> list[str]:
        """The words."""
        layer = self.layer(standard)
        text = self.text
        return [text[a:b] for a, b in zip(layer.start.tolist(), layer.end.tolist(), strict=True)]

    def tags(self, standard: str | None = None) -> list[str]:
        """The tags of the words."""
        found = self.layer(standard).tags
        if found is None:
            raise ConfigError("the analyser was trained without tags")
        return list(found)

    def tokens(self, standard: str | None = None) -> list[Token]:
        """The words with everything known about them."""
        layer = self.layer(standard)
        missing = [None] * len(layer)
        columns = (
            self.words(standard),
            layer.start.tolist(),
            layer.end.tolist(),
            missing if layer.tags is None else layer.tags,
            missing if layer.confidence is None else layer.confidence.tolist(),
            missing if layer.heads is None else layer.heads,
            missing if layer.relations is None else layer.relations,
            missing if layer.marginals is None else layer.marginals,
        )
        return [Token(*each) for each in zip(*columns, strict=True)]

    def sentences(self, standard: str | None = None) -> Iterator[list[Token]]:
        """The tokens of each sentence."""
        tokens = self.tokens(standard)
        edges = self.layer(standard).sentence.tolist()
        for a, b in itertools.pairwise(edges):
            yield tokens[a:b]

    @cached_property
    def tree_standard(self) -> str | None:
        """The standard whose words have heads."""
        return next((name for name, layer in self._layers.items() if layer.heads is not None), None)

    @property
    def heads(self) -> list[int | None]:
        """For each word of `tree_standard`: the number of its head in the sentence, 0 for the root."""
        return list(self._tree().heads or ())

    @property
    def relations(self) -> list[str | None]:
        """For each word of `tree_standard`: its relation to its head."""
        return list(self._tree().relations or ())

    def _tree(self) -> WordTable:
        if self.tree_standard is None:
            raise ConfigError("the analyser has no parser")
        return self._layers[self.tree_standard]

    def align(self, a: str, b: str) -> list[Group]:
        """Align the words of two standards: the smallest groups that cover the same characters."""
        one, other = self.layer(a), self.layer(b)
        groups, i, j = [], 0, 0
        # Both segment the same characters, so every sentence ends with a word of each.
        shared = np.isin(one.end, other.end)
        ends = {end: k + 1 for k, end in enumerate(other.end.tolist())}
        for k in np.flatnonzero(shared).tolist():
            stop = ends[int(one.end[k])]
            groups.append(Group(range(i, k + 1), range(j, stop)))
            i, j = k + 1, stop
        return groups

    def to_sentences(self) -> list[Sentence]:
        """The sentences as a corpus has them, each with a layer for every standard; a given sentence keeps
        all its annotation.

        White space before the first word of a sentence is only in `text`.
        """
        parts = {name: self._sentence_layers(name) for name in self.standards}
        if self.given is not None:
            found = {name: layer for name, layers in parts.items() for layer in layers}
            return [dataclasses.replace(self.given, layers={**found, **_completed(self.given, found)})]
        return [
            Sentence(dict(zip(parts, layers, strict=True))) for layers in zip(*parts.values(), strict=True)
        ]

    def _sentence_layers(self, standard: str) -> list[Layer]:
        layer, words = self.layer(standard), self.words(standard)
        gaps = [self.text[a:b] for a, b in zip(layer.end.tolist(), layer.start[1:].tolist(), strict=False)]
        gaps.append(self.text[int(layer.end[-1]) :] if len(layer) else "")
        edges = layer.sentence.tolist()
        found = []
        for a, b in itertools.pairwise(edges):
            spaces = [*gaps[a : b - 1], ""] if b > a else []
            found.append(
                Layer(
                    tuple(words[a:b]),
                    None if layer.tags is None else tuple(layer.tags[a:b]),
                    None if layer.heads is None else tuple(layer.heads[a:b]),
                    None if layer.relations is None else tuple(layer.relations[a:b]),
                    tuple(spaces) if any(spaces) else None,
                )
            )
        return found


def _abbreviated(tokens: Sequence[Token]) -> str:
    first = tokens[:MAX_WORDS_IN_REPR]
    words = [token.text if token.tag is None else f"{token.text}/{token.tag}" for token in first]
    return " ".join(words) + (" …" if len(tokens) > MAX_WORDS_IN_REPR else "")


def _completed(given: Sentence, found: Mapping[str, Layer]) -> dict[str, Layer]:
    """The layers of a partly annotated sentence, completed by what was found."""
    layers = dict(given.layers)
    for name, layer in found.items():
        if name in layers and layers[name].words == layer.words:
            own = layers[name]
            layers[name] = dataclasses.replace(
                own,
                tags=_merged(own.tags, layer.tags),
                heads=_merged(own.heads, layer.heads),
                relations=_merged(own.relations, layer.relations),
            )
    return layers


def _merged(given: tuple[Any, ...] | None, found: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The given values; where one is missing or a set of alternatives, the value found."""
    if given is None or found is None:
        return found if given is None else given
    is_open = [each is None or isinstance(each, frozenset) for each in given]
    return tuple([new if choose else old for old, new, choose in zip(given, found, is_open, strict=True)])

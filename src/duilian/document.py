"""What an analyser says of a text: words, tags and a tree, after each standard, as places in that text.

Words are spans of the user's own text: `text[token.start:token.end] == token.text` holds for every token, and
what lies between two tokens is white space or invisible. So the text can always be put together again.
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
SHOWN = 20  # words in a repr


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """A word of a text after one standard."""

    text: str
    start: int  # in characters of the text
    end: int
    tag: str | None = None
    confidence: float | None = None  # probability of the word with its tag: that of its least sure character
    head: int | None = None  # number of the head in its sentence, counted from 1; 0: the root
    relation: str | None = None
    marginals: Mapping[str, float] | None = None  # the probabilities of its tags, if they were asked for


@dataclasses.dataclass(frozen=True, eq=False)
class WordTable:
    """All words of a text after one standard, in rows of equal length."""

    start: Ints
    end: Ints
    sentence: Ints  # [sentences + 1]  number of the first word of each sentence
    tags: Sequence[str] | None = None
    confidence: Doubles | None = None
    heads: Sequence[int | None] | None = None
    relations: Sequence[str | None] | None = None
    marginals: Sequence[Mapping[str, float]] | None = None  # of the words with each of their likely tags

    def __len__(self) -> int:
        return len(self.start)


class Group(NamedTuple):
    """Words `a` of one standard and `b` of another that cover the same characters, as few as can be."""

    a: range
    b: range


class Doc:
    """A text with its words after every standard of the analyser; the first standard is the usual one."""

    def __init__(
        self, text: str, layers: Mapping[str, WordTable], *, probability: float | None = None
    ) -> None:
        self.text = text
        self.probability = probability  # of one of several analyses
        self.given: Sentence | None = None  # the annotated sentence whose gaps are filled here
        self._layers = dict(layers)

    def __repr__(self) -> str:
        shown = [f"{name}={_in_short(self.tokens(name))!r}" for name in self.standards]
        if self.probability is not None:
            shown.append(f"probability={self.probability:.4g}")
        return f"Doc({', '.join(shown or [repr(self.text)])})"

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards that have words here."""
        return tuple(self._layers)

    @property
    def is_traditional(self) -> bool:
        """Whether the text is in traditional script."""
        return is_traditional(self.text)

    def layer(self, standard: str | None = None) -> WordTable:
        """Everything of one standard, as arrays."""
        if not self._layers:
            raise ConfigError("the text has not been analysed")
        name = next(iter(self._layers)) if standard is None else standard
        if name not in self._layers:
            raise ConfigError(f"there is no standard {name!r}, only {', '.join(self._layers)}")
        return self._layers[name]

    def only(self, standard: str) -> Doc:
        """The same text after one standard."""
        doc = Doc(self.text, {standard: self.layer(standard)}, probability=self.probability)
        doc.given = self.given
        return doc

    def words(self, standard: str | None = None) -> list[str]:
        """The words."""
        layer = self.layer(standard)
        text = self.text
        return [text[a:b] for a, b in zip(layer.start.tolist(), layer.end.tolist(), strict=True)]

    def tags(self, standard: str | None = None) -> list[str]:
        """The words' tags."""
        found = self.layer(standard).tags
        if found is None:
            raise ConfigError("the analyser was trained without tags")
        return list(found)

    def tokens(self, standard: str | None = None) -> list[Token]:
        """The words with all that is known of them."""
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
        """For each word of the standard with the tree: its head's number in the sentence, 0 for the root."""
        return list(self._tree().heads or ())

    @property
    def relations(self) -> list[str | None]:
        """For each word of the standard with the tree: its relation to the head."""
        return list(self._tree().relations or ())

    def _tree(self) -> WordTable:
        if self.tree_standard is None:
            raise ConfigError("the analyser has no parser")
        return self._layers[self.tree_standard]

    def align(self, a: str, b: str) -> list[Group]:
        """Which words of standard `a` go with which of `b`: the smallest groups with the same characters."""
        one, other = self.layer(a), self.layer(b)
        groups, i, j = [], 0, 0
        # Both cut the same characters, so that the words of every sentence end together at last.
        shared = np.isin(one.end, other.end)
        ends = {end: k + 1 for k, end in enumerate(other.end.tolist())}
        for k in np.flatnonzero(shared).tolist():
            stop = ends[int(one.end[k])]
            groups.append(Group(range(i, k + 1), range(j, stop)))
            i, j = k + 1, stop
        return groups

    def to_sentences(self) -> list[Sentence]:
        """The sentences as corpora have them, each with a layer for every standard; one that was given keeps
        all that it had.

        White space that stands before the first word of a sentence is only in `text`.
        """
        parts = {name: self._sentence_layers(name) for name in self.standards}
        if self.given is not None:
            found = {name: layer for name, layers in parts.items() for layer in layers}
            return [dataclasses.replace(self.given, layers={**found, **_filled(self.given, found)})]
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


def _in_short(tokens: Sequence[Token]) -> str:
    words = [token.text if token.tag is None else f"{token.text}/{token.tag}" for token in tokens[:SHOWN]]
    return " ".join(words) + (" …" if len(tokens) > SHOWN else "")


def _filled(given: Sentence, found: Mapping[str, Layer]) -> dict[str, Layer]:
    """The layers of an annotated sentence with what was found for their gaps."""
    layers = dict(given.layers)
    for name, layer in found.items():
        if name in layers and layers[name].words == layer.words:
            own = layers[name]
            layers[name] = dataclasses.replace(
                own,
                tags=_decided(own.tags, layer.tags),
                heads=_decided(own.heads, layer.heads),
                relations=_decided(own.relations, layer.relations),
            )
    return layers


def _decided(given: tuple[Any, ...] | None, found: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """What is given, and where that is nothing or one of several, what was found."""
    if given is None or found is None:
        return found if given is None else given
    is_open = [each is None or isinstance(each, frozenset) for each in given]
    return tuple([new if gap else old for old, new, gap in zip(given, found, is_open, strict=True)])

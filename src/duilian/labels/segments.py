"""Segments of units as two sequences of labels, boundary letters and tags.

At character level, units are characters and segments are words with their tags. At word level, units are
words and segments are chunks with their types; a word outside any chunk is a segment of its own, of type `O`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import are_chunk_labels, chunk_score, chunks, main_score
from duilian.labels.encoding import Encoding
from duilian.lattice import Succession
from duilian.standards import BoundaryScheme

OUTSIDE = "O"
UNKNOWN = -1
Ints = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Segmented:
    """The units of sentences with the sizes and tags of their segments; a missing tag is UNKNOWN."""

    units: list[list[str]]
    sizes: list[list[int]]
    tags: list[list[int]]


def two_chain_scheme(scheme: str) -> BoundaryScheme:
    """The scheme of this name; its letters must show whether a unit continues a word."""
    found = BoundaryScheme.named(scheme)
    if {found.begin, found.single} & {found.inside, found.end}:
        raise ConfigError(f"two-chain models cannot use the scheme {scheme!r}", hint="use BIES, BMES or BI")
    return found


def label_letters(scheme: str) -> tuple[str, ...]:
    """The letters in label order, as in `Encoding`."""
    b = two_chain_scheme(scheme)
    return tuple(dict.fromkeys((b.end, b.single, b.begin, b.inside)))


def letter_numbers(scheme: str, sizes: Sequence[Sequence[int]]) -> Ints:
    """The letters of all units, for segments of these sizes."""
    number, b = {letter: k for k, letter in enumerate(label_letters(scheme))}, two_chain_scheme(scheme)
    flat = np.array([size for row in sizes for size in row], np.int64)
    out = np.full(int(flat.sum()), number[b.inside], np.int32)
    ends = np.cumsum(flat)
    out[ends - 1] = number[b.end]
    out[ends - flat] = number[b.begin]
    out[(ends - 1)[flat == 1]] = number[b.single]
    return out


def letter_rules(scheme: str) -> tuple[Succession, list[bool]]:
    """The rules for which letter may follow which, and the letters that continue a segment."""
    b, letters = two_chain_scheme(scheme), label_letters(scheme)
    rules = Succession(b.allowed(letters), b.allowed_start(letters), b.allowed_end(letters))
    return rules, [letter in (b.inside, b.end) for letter in letters]


@dataclasses.dataclass(frozen=True)
class WordSegments(Encoding):
    """Segments that are words with tags: labels are those of `Encoding`."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The tags of words."""
        return self.tags or ()

    @cached_property
    def _kind(self) -> dict[object, int]:
        return {tag: k for k, tag in enumerate(self.kinds)}

    def segment(self, layers: Iterable[Layer], *, is_given: bool = False) -> Segmented:
        """Convert layers to segments; a set of tags counts as unknown. If `is_given`, tags are ignored."""
        out = Segmented([], [], [])
        for number, layer in enumerate(layers, 1):
            units, sizes = self.split(layer.words)
            if 0 in sizes:
                word = layer.words[sizes.index(0)]
                raise ConfigError(f"sentence {number}: the word {word!r} has no visible character")
            out.units.append(units)
            out.sizes.append(sizes)
            known = () if is_given or layer.tags is None else layer.tags
            out.tags.append([self._kind_number(tag) for tag in known] or [UNKNOWN] * len(sizes))
        return out

    def _kind_number(self, tag: object) -> int:
        if not isinstance(tag, str):
            return UNKNOWN
        if tag not in self._kind:
            raise StandardError(f"the tag {tag!r} is not among the model's tags")
        return self._kind[tag]

    def label_marginals(self, found: Doubles) -> Doubles:
        """[T, S · T] probabilities of letters with tags: these are the labels, so they stay as they are."""
        return found

    def score(self, gold: Sequence[Layer], guess: Sequence[Layer]) -> float:
        """The F1 of words, with their tags if there are any, in percent."""
        return main_score(gold, guess, is_cut=True)


@dataclasses.dataclass(frozen=True)
class ChunkSegments:
    """Segments that are chunks of words: users see one label per word, such as `B-NP`, `I-NP` or `O`."""

    kinds: tuple[str, ...]
    scheme: str = "BIES"
    level: str = "word"
    join_letters: bool = False  # words are units as they are
    join_digits: bool = False

    @property
    def boundaries(self) -> BoundaryScheme:
        """The scheme of boundary letters."""
        return two_chain_scheme(self.scheme)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The labels that words can get."""
        types = [kind for kind in self.kinds if kind != OUTSIDE]
        return (*(f"{sign}-{kind}" for kind in types for sign in "BI"), OUTSIDE)

    @property
    def labels(self) -> tuple[str, ...]:
        """The same, under the name that other encodings use."""
        return self.tags

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each label."""
        return {label: k for k, label in enumerate(self.tags)}

    @cached_property
    def _kind(self) -> dict[str, int]:
        return {kind: k for k, kind in enumerate(self.kinds)}

    def names(self, *, is_alone: bool = False) -> list[list[str]]:
        """[S][T] the label for a letter and a tag, or for a letter alone."""
        b = two_chain_scheme(self.scheme)
        signs = ["B" if each in (b.begin, b.single) else "I" for each in label_letters(self.scheme)]
        if is_alone:
            return [[sign] * len(self.kinds) for sign in signs]
        return [[kind if kind == OUTSIDE else f"{sign}-{kind}" for kind in self.kinds] for sign in signs]

    def split(self, words: Sequence[str]) -> tuple[list[str], list[int]]:
        """Units are the words themselves."""
        return list(words), [1] * len(words)

    def segment(self, layers: Iterable[Layer], *, is_given: bool = False) -> Segmented:
        """Convert layers to segments. Bare letters (`B`, `I`) are boundaries without a type."""
        out = Segmented([], [], [])
        for number, layer in enumerate(layers, 1):
            labels = self._labels(layer, number, is_given)
            found = {chunk.start: chunk for chunk in chunks(labels)}
            is_typed = are_chunk_labels(labels) or all(label == OUTSIDE for label in labels)
            sizes, tags, start = [], [], 0
            while start < len(labels):
                chunk = found.get(start)
                sizes.append(1 if chunk is None else chunk.end - start)
                kind = OUTSIDE if chunk is None else chunk.label
                tags.append(self._kind_number(kind) if kind and is_typed and not is_given else UNKNOWN)
                start += sizes[-1]
            out.units.append(list(layer.words))
            out.sizes.append(sizes)
            out.tags.append(tags)
        return out

    def _labels(self, layer: Layer, number: int, is_given: bool) -> list[str]:
        labels = [label for label in layer.tags or () if isinstance(label, str)]
        if len(labels) == len(layer.words):
            return labels
        if not labels:
            wrong = "has no boundaries" if is_given else "has neither boundaries nor chunk types"
            raise StandardError(f"sentence {number} {wrong}", "give labels such as B-NP, or bare B, I and O")
        place = next(k for k, label in enumerate(layer.tags or ()) if not isinstance(label, str))
        raise StandardError(
            f"sentence {number}: the word {layer.words[place]!r} has no chunk label, but others have one",
            "use the bare letters B, I and O where the type is unknown",
        )

    def _kind_number(self, kind: str) -> int:
        if kind not in self._kind:
            raise StandardError(f"the chunk type {kind!r} is not among the model's")
        return self._kind[kind]

    def label_marginals(self, found: Doubles) -> Doubles:
        """Sum the probabilities of letters that users see as the same label."""
        flat = [self.number[name] for row in self.names() for name in row]
        out = np.zeros((len(found), len(self.tags)))
        for column, label in enumerate(flat):
            out[:, label] += found[:, column]
        return out

    def score(self, gold: Sequence[Layer], guess: Sequence[Layer]) -> float:
        """The F1 of chunks, as conlleval counts them, in percent."""
        return chunk_score(
            [list(map(str, x.tags or ())) for x in gold], [list(map(str, x.tags or ())) for x in guess]
        ).overall.f1

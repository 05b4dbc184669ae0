"""Layers as labels on units: words with their tags, or characters with boundary labels.

At word level a unit is a word and a label its tag. At character level a unit is a character (or a run of
letters or digits), and a label is its position in the word and, if there are tags, the word's tag: `B@NN`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.corpus import Layer, Tag
from duilian.errors import ConfigError, StandardError
from duilian.lattice import Succession
from duilian.standards import BoundaryScheme, LabelMeaning, pairs_with, universal_of
from duilian.text import check_text

Level = Literal["word", "char"]
MAX_LABELS = 4096  # transition tables grow with its square


def check_tags(tags: Sequence[object]) -> None:
    """Raise ConfigError unless tags are distinct names; in a model file made by hand they may not be."""
    if len(tags) > MAX_LABELS:
        raise ConfigError(f"there are {len(tags):,} tags; a model has at most {MAX_LABELS:,}")
    for tag in tags:
        if not isinstance(tag, str) or not tag:
            raise ConfigError(f"a tag must be a string that is not empty, got {tag!r:.100}")
    if len(set(tags)) != len(tags):
        raise ConfigError("a tag is listed twice")


def names_of(listed: Any) -> tuple[str, ...]:
    """The tags or relations of a model file, checked to be a list of distinct names."""
    if not isinstance(listed, list | tuple):
        raise ConfigError(f"tags and relations must be lists of names, got {listed!r:.50}")
    check_tags(listed)
    return tuple(listed)


@dataclasses.dataclass(frozen=True)
class EncodedSentences:
    """Units of sentences with their labels; a label is -1 if it is unknown or one of several in `sets`."""

    units: list[list[str]]
    label: npt.NDArray[np.int32]  # [units]
    sets: _native.TagSets  # [units], or empty if every label is known


@dataclasses.dataclass(frozen=True)
class Encoding:
    """Converts layers to labels, which `Segmentation` turns into words. Without tags, it only segments."""

    level: Level
    tags: tuple[str, ...] | None
    scheme: str = "BIES"
    join_letters: bool = False
    join_digits: bool = False

    def __post_init__(self) -> None:
        if self.level not in ("word", "char"):
            raise ConfigError(f"level must be 'word' or 'char', got {self.level!r}")
        if self.level == "word" and self.tags is None:
            raise ConfigError("there must be tags at word level; use level='char' for segmentation only")
        if self.tags is not None:
            check_tags(self.tags)
        if self.label_count > MAX_LABELS:
            raise ConfigError(f"there are {self.label_count:,} labels; a tagger has at most {MAX_LABELS:,}")

    @property
    def label_count(self) -> int:
        """The number of labels."""
        letters = 1 if self.level == "word" else len(self.letters)
        return letters * (1 if self.tags is None else len(self.tags))

    @cached_property
    def boundaries(self) -> BoundaryScheme:
        """The scheme of boundary letters."""
        return BoundaryScheme.named(self.scheme)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Letters in label order: enders first, starters adjacent (see label_transitions.hpp)."""
        b = self.boundaries
        return tuple(dict.fromkeys((b.end, b.single, b.begin, b.inside)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """All labels; letter by letter at character level, so that legal pairs form blocks."""
        if self.level == "word":
            return self.tags or ()
        if self.tags is None:
            return self.letters
        return tuple(f"{letter}@{tag}" for letter in self.letters for tag in self.tags)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each label."""
        return {label: k for k, label in enumerate(self.labels)}

    @cached_property
    def succession(self) -> Succession:
        """Which label may follow which."""
        if self.level == "word":
            return Succession.free(len(self.labels))
        b = self.boundaries
        return Succession(b.allowed(self.labels), b.allowed_start(self.labels), b.allowed_end(self.labels))

    @cached_property
    def meaning(self) -> LabelMeaning:
        """What labels say about words, for scoring."""
        is_word = self.level == "word"
        tags = self.labels if is_word else [self.boundaries.split(label)[1] for label in self.labels]
        return LabelMeaning(tags, self.succession.start, self.succession.end)

    def barred_by(self, classes: Mapping[str, Collection[str]] | None = None) -> npt.NDArray[np.uint16]:
        """For each label, the facts about a unit (see `text.Split`) that rule it out; `classes` has the tags
        of punctuation, numbers and foreign words.
        """
        barred = np.where(self.succession.start, texts.GOES_ON, texts.BEGINS)
        barred |= np.where(self.succession.end, 0, texts.ENDS)
        for name, flag in (
            ("punctuation", texts.NO_MARK),
            ("number", texts.NO_NUMBER),
            ("foreign", texts.NOT_FOREIGN),
        ):
            own = (classes or {}).get(name, ())
            is_own = np.array([tag is not None and universal_of(tag) in own for tag in self.meaning.tags])
            barred |= np.where(is_own & ~is_own.all(), flag, 0)
            if name == "foreign" and is_own.any():
                barred |= np.where(is_own, 0, texts.ONLY_FOREIGN)
            if name == "punctuation" and is_own.any():
                first, last = self.succession.start, self.succession.end
                barred |= np.where(~is_own & first & last, texts.MARK, 0)
                barred |= np.where(~is_own & (first | last), texts.MARKS, 0)
                barred |= np.where(is_own, 0, texts.CLAUSE)
        return barred.astype(np.uint16)

    def split(self, words: Sequence[str]) -> tuple[list[str], list[int]]:
        """Split words into units; return the units and the number in each word."""
        if self.level == "word":
            return list(words), [1] * len(words)
        check_text("".join(words))
        units, counts = _native.split_words(list(words), self.join_letters, self.join_digits)
        return units, counts

    def encode(self, layers: Iterable[Layer]) -> EncodedSentences:
        """Convert annotated sentences to units and labels."""
        if self.level == "word":
            return self._encode_words(list(layers))
        units: list[list[str]] = []
        labels: list[int] = []
        sets: dict[int, list[int]] = {}
        known: dict[tuple[Tag, int], list[int]] = {}  # labels of words with this tag and length
        unique: dict[str, str] = {}  # millions of units are some thousand strings
        for layer in layers:
            found, counts = self.split(layer.words)
            units.append(list(map(unique.setdefault, found, found)))
            if 0 in counts:
                raise ConfigError(f"the word {layer.words[counts.index(0)]!r} has no visible character")
            tags = layer.tags or (None,) * len(layer)
            for tag, count in zip(map(self._known, tags), counts, strict=True):
                if (numbers := known.get((tag, count))) is not None:
                    labels += numbers
                elif isinstance(tag, str) or self.tags is None:
                    known[tag, count] = [self._number(label) for label in self._labels_of(tag, count)]
                    labels += known[tag, count]
                else:
                    self._add_partial(tag, count, labels, sets)
        return EncodedSentences(units, np.array(labels, np.int32), _tag_sets(sets, len(labels)))

    def limits(self, layers: Iterable[Layer]) -> _native.TagSets:
        """The labels that annotation allows for each unit: one, several, or all (an empty set)."""
        encoded = self.encode(layers)
        is_known, first = encoded.label >= 0, encoded.sets.first
        sizes = np.where(is_known, 1, np.diff(first) if len(first) > 1 else 0)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        flat = np.zeros(starts[-1], np.int32)
        flat[starts[:-1][is_known]] = encoded.label[is_known]
        flat[~np.repeat(is_known, sizes)] = encoded.sets.tags
        return _native.TagSets(starts, flat)

    def _encode_words(self, layers: Sequence[Layer]) -> EncodedSentences:
        flat = [self._known(tag) for layer in layers for tag in layer.tags or (None,) * len(layer)]
        known = {tag: self._number(tag) if isinstance(tag, str) else -1 for tag in dict.fromkeys(flat)}
        several = {tag: sorted(map(self._number, tag)) for tag in known if isinstance(tag, frozenset)}
        sets = {k: several[tag] for k, tag in enumerate(flat) if tag in several} if several else {}
        label = np.fromiter(map(known.__getitem__, flat), np.int32, len(flat))
        return EncodedSentences([list(layer.words) for layer in layers], label, _tag_sets(sets, len(flat)))

    @cached_property
    def _meanings(self) -> dict[Tag, Tag]:
        return {None: None, **{tag: tag for tag in self.tags or ()}}

    def _known(self, tag: Tag) -> Tag:
        """The tag itself, or all pairs that contain it."""
        if tag not in self._meanings:
            names = [tag] if isinstance(tag, str) else tag or ()
            found = frozenset(each for name in names for each in pairs_with(name, self.tags or ()) or (name,))
            self._meanings[tag] = next(iter(found)) if len(found) == 1 else found
        return self._meanings[tag]

    def _add_partial(
        self, tag: frozenset[str] | None, count: int, labels: list[int], sets: dict[int, list[int]]
    ) -> None:
        names = sorted(tag) if tag is not None else (self.tags or ())
        columns = zip(*(self._labels_of(name, count) for name in names), strict=True)
        for column in columns:
            sets[len(labels)] = sorted(self._number(label) for label in column)
            labels.append(-1)

    def letters_of(self, count: int) -> list[str]:
        """The boundary letters of a word of `count` units."""
        return self.boundaries.encode([count])

    def _labels_of(self, tag: Tag, count: int) -> list[str]:
        if self.tags is None:
            return self.letters_of(count)
        return [f"{letter}@{tag}" for letter in self.letters_of(count)]

    def _number(self, label: str) -> int:
        try:
            return self.number[label]
        except KeyError:
            raise StandardError(
                f"the tag {label.rpartition('@')[2]!r} is not among the model's tags"
            ) from None


def no_sets() -> _native.TagSets:
    """Sets that allow everything.

    They are made anew because a native object among a module's globals may outlive the interpreter.
    """
    return _native.TagSets(np.array([0], np.int32), np.array([], np.int32))


def _tag_sets(sets: dict[int, list[int]], units: int) -> _native.TagSets:
    if not sets:
        return no_sets()
    sizes = np.zeros(units + 1, np.int32)
    for unit, allowed in sets.items():
        sizes[unit + 1] = len(allowed)
    flat = [label for unit in sorted(sets) for label in sets[unit]]
    return _native.TagSets(np.cumsum(sizes, dtype=np.int32), np.array(flat, np.int32))

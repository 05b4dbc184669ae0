"""Conversion from one standard to another: what all kinds of models have in common.

A plan is made once for a direction and then converts any number of batches. Guidelines differ in what a word
is, but a word of one is nearly always part of a word of the other or joins whole ones: of the 344 words that
are cut differently in `tests/data/news`, none begins inside one given word and ends inside another. If a
model finds such a word, it labels the sentence again, and a word must begin where the given one does.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import StandardError
from duilian.labels.encoding import Encoding, Level, no_sets
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import Ints, UnitBatch, units_of_layers
from duilian.models.base.sentences import Sentences, layers_of
from duilian.models.coupled.label_pairs import on_labels, table_mapping
from duilian.models.coupled.sides import Labels, Sides, blank_unknown
from duilian.models.roles import Ask, SideLabels
from duilian.standards import Mapping, table_names, with_parts
from duilian.standards.mapping_table import TABLE_KINDS

Bools = npt.NDArray[np.bool_]
COMPLETE = "complete"  # the mapping that allows all pairs of tags


class LabelLimits(NamedTuple):
    """The labels that each unit may have, in both standards."""

    source: _native.TagSets
    target: _native.TagSets


class ConversionPlan(abc.ABC):
    """Converts layers in one direction; for `mapping`, see `Converting.conversion`."""

    def __init__(
        self, standards: tuple[str, str], encodings: tuple[Encoding, Encoding], mapping: str | Mapping | None
    ) -> None:
        self.source, self.target = standards
        self.encodings = encodings
        self.mapping = usual_mapping(standards, encodings) if mapping is None else mapping
        self._allows = allowed_labels(self.mapping, standards, encodings)

    @abc.abstractmethod
    def label_limited(self, units: UnitBatch, limits: LabelLimits, ask: Ask, threads: int) -> SideLabels:
        """Label sentences in the target's standard."""

    def unknown_tags(self, layers: Sequence[Layer]) -> list[tuple[int, int, str]]:
        """The tags that the model has never seen in the source's standard: sentence, word, tag."""
        if self.encodings[0].tags is None:
            return []
        known = with_parts(self.encodings[0].tags)
        return [
            (s, w, tag)
            for s, layer in enumerate(layers)
            for w, tag in enumerate(layer.tags or ())
            if isinstance(tag, str) and tag not in known
        ]

    def label(self, units: UnitBatch, ask: Ask, threads: int = 1) -> SideLabels:
        """Label annotated sentences in the target's standard; unknown tags count as open."""
        found = self.label_limited(units, self._limits(units, np.zeros(len(units), np.bool_)), ask, threads)
        crossed = self._crossed(units, found.label)
        begins = crossed.copy()
        while crossed.any():
            sentences = np.unique(np.searchsorted(units.sentence, np.flatnonzero(crossed), "right") - 1)
            some, places = units.take(sentences)
            again = self.label_limited(some, self._limits(some, begins[places]), ask, threads)
            found = found.updated(places, again, len(self.encodings[1].labels))
            crossed[:] = False
            crossed[places] = self._crossed(some, again.label)
            begins |= crossed
        return found

    def _limits(self, units: UnitBatch, begins: Bools) -> LabelLimits:
        """The labels that annotation allows if words begin at some units."""
        encoding, target = self.encodings
        given = encoding.limits(blank_unknown(encoding, units.layers))
        sets = no_sets() if self._allows is None else mapped_sets(given, self._allows)
        if begins.any():
            sets = begin_words(sets, begins, target.succession.start)
        return LabelLimits(given, sets)

    def _crossed(self, units: UnitBatch, labels: Labels) -> Bools:
        """Where given words begin inside a word that crosses them."""
        if self.encodings[0].level == "word":
            return np.zeros(len(units), np.bool_)
        assert units.word is not None
        found = Segmentation.from_labels(self.encodings[1].meaning, units.joined(), labels, None)
        return crossed_starts(units.word, found.first, len(units))


class Converting(abc.ABC):
    """A model that converts sentences from one of its standards to another."""

    level: Level

    @property
    @abc.abstractmethod
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The conversions it can do, as pairs of source and target."""

    @abc.abstractmethod
    def conversion(self, source: str, target: str, *, mapping: str | Mapping | None = None) -> ConversionPlan:
        """Plan a conversion of many batches.

        `mapping` says which tags of source and target may go together: strict, tight, relaxed, complete
        (all), the path of a table, or a `Mapping`; None is the strictest built-in table of the two standards
        if there is one, otherwise complete.
        """

    def convert(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        source: str,
        target: str,
        *,
        mapping: str | Mapping | None = None,
        unknown_tags: bool = False,
        threads: int = 1,
    ) -> list[Layer]:
        """Convert sentences annotated in `source` to `target`, by decoding with the source side given.

        At character level, word boundaries are converted, too. For `mapping`, see `conversion`. A tag that
        the model has never seen is an error, unless `unknown_tags` allows it; then it counts as open.
        """
        plan = self.conversion(source, target, mapping=mapping)
        layers = layers_of(X, source)
        for sentence, _, tag in () if unknown_tags else plan.unknown_tags(layers):
            message = f"sentence {sentence + 1}: the model has never seen the tag {tag!r} of {source!r}"
            raise StandardError(message)
        units = units_of_layers(layers, plan.encodings[0])
        labels = plan.label(units, Ask(), threads).label
        return Segmentation.from_labels(plan.encodings[1].meaning, units.joined(), labels, None).layers()


def conversion_limits(
    sides: Sides, layers: Sequence[Layer], source: int, target: int, mapping: str | Mapping | None = None
) -> list[_native.TagSets]:
    """The labels of a side that its annotation allows, and those of the target that a mapping allows then."""
    allowed = sides.given(layers, source)
    pair = (sides.standards[source], sides.standards[target])
    allows = allowed_labels(mapping, pair, (sides.encodings[source], sides.encodings[target]))
    if allows is not None and source != target:
        allowed[target] = mapped_sets(allowed[source], allows)
    return allowed


def allowed_labels(
    mapping: str | Mapping | None, standards: tuple[str, str], encodings: tuple[Encoding, Encoding]
) -> Bools | None:
    """Which labels of source and target may go together; None if all may."""
    if mapping is None:
        mapping = usual_mapping(standards, encodings)
    if mapping == COMPLETE:
        return None
    tags = (each.tags or () for each in encodings)
    matrix = table_mapping(mapping, standards, *tags).matrix
    matrix = matrix | ~matrix.any(axis=1, keepdims=True)  # all tags may go with one that the table lacks
    return on_labels(matrix, *encodings)


def usual_mapping(standards: tuple[str, str], encodings: tuple[Encoding, Encoding]) -> str:
    """The name of the default mapping for a conversion."""
    if any(each.tags is None for each in encodings):
        return COMPLETE
    for kind in TABLE_KINDS:
        names = {f"{a}-{b}.{kind}" for a, b in (standards, standards[::-1])}
        if not names.isdisjoint(table_names()):
            return kind
    return COMPLETE


def mapped_sets(given: _native.TagSets, allows: Bools) -> _native.TagSets:
    """The labels that one side may have, given those of the other; empty sets where nothing is given."""
    sizes = np.diff(given.first)
    table = np.zeros((len(sizes), allows.shape[1]), np.bool_)
    if len(given.tags):
        table[sizes > 0] = np.logical_or.reduceat(allows[given.tags], given.first[:-1][sizes > 0])
    return _sets_of(table)


def begin_words(sets: _native.TagSets, begins: Bools, starts: Bools) -> _native.TagSets:
    """The same sets, with only labels that begin words at some units."""
    length = len(begins)
    table = np.zeros((length, len(starts)), np.bool_)
    sizes = np.diff(sets.first) if len(sets.first) > 1 else np.zeros(length, np.int64)
    table[np.repeat(np.arange(length), sizes), sets.tags] = True
    table[begins] = (table[begins] | ~table[begins].any(axis=1, keepdims=True)) & starts
    return _sets_of(table)


def _sets_of(table: Bools) -> _native.TagSets:
    first = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return _native.TagSets(first.astype(np.int32), np.nonzero(table)[1].astype(np.int32))


def crossed_starts(given: Ints, found: npt.NDArray[np.integer[Any]], length: int) -> Bools:
    """Which of `length` units begin given words inside found ones that begin or end inside a given word.

    Words are represented by their first units. If a found word is cut at all the units returned, it no longer
    crosses a given word.
    """
    is_given = np.zeros(length + 1, np.bool_)
    is_given[given] = is_given[length] = True
    ends = np.append(found[1:], length)
    is_across = ~(is_given[found] & is_given[ends])
    crossed: Bools = is_given[:-1] & np.repeat(is_across, ends - found)
    crossed[found] = False
    return crossed

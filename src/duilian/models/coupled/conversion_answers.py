"""Conversion from one standard to another, as far as it is the same for every kind of model.

A plan is made once for a direction and then converts any number of batches. Guidelines differ in what a word
is, but a word of one is nearly always part of a word of the other or joins whole ones: of the 344 words that
are cut differently in `tests/data/news`, none begins inside one given word and ends inside another. A model
that does so is asked again, with words that begin where its own went across the end of a given one.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import StandardError
from duilian.labels.encoding import Encoding, word_ends
from duilian.models.base.packing import decode_layers
from duilian.models.base.sentences import Sentences, layers_of
from duilian.models.coupled.label_pairs import on_labels, table_mapping
from duilian.models.coupled.sides import NO_SETS, Sides, blank_unknown
from duilian.standards import Mapping, table_names

Bools = npt.NDArray[np.bool_]
Table = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted sentence: its words and tags in the target's standard, and how sure each is."""

    layer: Layer
    confidence: tuple[float, ...]
    ends: tuple[int, ...]  # the number of units before the end of each word
    # [T, L]  probability of the target's labels at every unit, if asked for
    marginals: Table | None = dataclasses.field(default=None, compare=False)


class TargetLabels(NamedTuple):
    """What a model says of a batch in the target's standard."""

    units: Sequence[Sequence[str]]
    first: npt.NDArray[np.int64]  # [sentences + 1]  in units
    label: npt.NDArray[np.int32]  # [units]
    p: npt.NDArray[np.floating]  # [units]  probability of each label
    marginals: Sequence[Table] | None  # of each sentence, if asked for


class LabelLimits(NamedTuple):
    """The labels that every unit may have, in both standards."""

    source: _native.TagSets
    target: _native.TagSets


class ConversionPlan(abc.ABC):
    """Converts layers in one direction. `mapping` is that of `Converting.conversion`."""

    def __init__(
        self, standards: tuple[str, str], encodings: tuple[Encoding, Encoding], mapping: str | Mapping | None
    ) -> None:
        self.source, self.target = standards
        self.encodings = encodings
        self._allows = allowed_labels(mapping, standards, encodings)

    @abc.abstractmethod
    def _label(
        self, layers: Sequence[Layer], limits: LabelLimits, *, with_marginals: bool, threads: int
    ) -> TargetLabels:
        """Label sentences in the target's standard."""

    def unknown_tags(self, layers: Sequence[Layer]) -> list[tuple[int, int, str]]:
        """Tags of the source's standard that the model has never seen: sentence, word, tag."""
        if self.encodings[0].tags is None:
            return []
        known = set(self.encodings[0].tags)
        return [
            (s, w, tag)
            for s, layer in enumerate(layers)
            for w, tag in enumerate(layer.tags or ())
            if isinstance(tag, str) and tag not in known
        ]

    def convert(
        self,
        layers: Sequence[Layer],
        *,
        unknown_tags: bool = False,
        with_marginals: bool = False,
        threads: int = 1,
    ) -> list[Converted]:
        """Convert sentences; see `Converting.convert`."""
        unknown = self.unknown_tags(layers)
        if unknown and not unknown_tags:
            where, _, tag = unknown[0]
            raise StandardError(
                f"sentence {where + 1}: the model has never seen the tag {tag!r} of {self.source!r}"
            )
        found = self._answers(layers, [()] * len(layers), with_marginals, threads)
        begins: dict[int, set[int]] = {}
        pending = self._crossed(layers, found, range(len(layers)))
        while pending:
            for k, ends in pending.items():
                begins.setdefault(k, set()).update(ends)
            batch = [layers[k] for k in pending]
            again = self._answers(batch, [begins[k] for k in pending], with_marginals, threads)
            for k, answer in zip(pending, again, strict=True):
                found[k] = answer
            pending = self._crossed(layers, found, pending)
        return found

    def _answers(
        self,
        layers: Sequence[Layer],
        begins: Sequence[Collection[int]],
        with_marginals: bool,
        threads: int,
    ) -> list[Converted]:
        """Convert sentences, with words that begin at these units."""
        limits = self._limits(layers, begins)
        labels = self._label(layers, limits, with_marginals=with_marginals, threads=threads)
        found = decode_layers(self.encodings[1], labels.units, labels.label, labels.first)
        sure, at = labels.p.tolist(), labels.first.tolist()
        answers = []
        for k, layer in enumerate(found):
            ends = tuple(word_ends(layer.words, [len(unit) for unit in labels.units[k]]))
            confidence = word_confidence(ends, sure[at[k] : at[k + 1]])
            marginals = None if labels.marginals is None else labels.marginals[k]
            answers.append(Converted(layer, confidence, ends, marginals))
        return answers

    def _limits(self, layers: Sequence[Layer], begins: Sequence[Collection[int]]) -> LabelLimits:
        encoding, target = self.encodings
        given = encoding.limits(blank_unknown(encoding, layers))
        sets = NO_SETS if self._allows is None else mapped_sets(given, self._allows)
        if any(begins):
            first = np.cumsum([0, *(len(encoding.split(layer.words)[0]) for layer in layers)])
            units = [int(first[k]) + unit for k, each in enumerate(begins) for unit in sorted(each)]
            sets = begin_words(sets, units, int(first[-1]), target.succession.start)
        return LabelLimits(given, sets)

    def _crossed(
        self, layers: Sequence[Layer], found: Sequence[Converted], among: Iterable[int]
    ) -> dict[int, list[int]]:
        """For each of these sentences that has any, the ends of given words that a word goes across."""
        if self.encodings[0].level == "word":
            return {}
        crossed = {}
        for k in among:
            if layers[k].words != found[k].layer.words:
                given = np.cumsum(self.encodings[0].split(layers[k].words)[1]).tolist()
                if ends := crossed_ends(given, found[k].ends):
                    crossed[k] = ends
        return crossed


class Converting(abc.ABC):
    """A model that converts sentences from one of its standards to another."""

    @property
    @abc.abstractmethod
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The directions in which it converts: pairs of source and target."""

    @abc.abstractmethod
    def conversion(self, source: str, target: str, *, mapping: str | Mapping | None = None) -> ConversionPlan:
        """Plan a conversion of many batches.

        `mapping` says which tags of the target may stand for which of the source: tight, relaxed, complete
        (all may), the path of a table or a `Mapping`; None is the tight table of the two standards where one
        is shipped, else complete.
        """

    def convert(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        source: str,
        target: str,
        *,
        mapping: str | Mapping | None = None,
        unknown_tags: bool = False,
        with_marginals: bool = False,
        threads: int = 1,
    ) -> list[Converted]:
        """Sentences annotated in `source`, in the style of `target`: decoding with the source side given.

        At character level word boundaries are converted too. `mapping` is that of `conversion`. A tag that
        the model has never seen is an error; with `unknown_tags` it counts as unknown.
        """
        plan = self.conversion(source, target, mapping=mapping)
        layers = layers_of(X, source)
        return plan.convert(layers, unknown_tags=unknown_tags, with_marginals=with_marginals, threads=threads)


def conversion_limits(
    sides: Sides, layers: Sequence[Layer], source: int, target: int
) -> list[_native.TagSets]:
    """What one side's annotation says of its own labels, and through the usual mapping of the target's."""
    allowed = sides.given(layers, source)
    pair = (sides.standards[source], sides.standards[target])
    allows = allowed_labels(None, pair, (sides.encodings[source], sides.encodings[target]))
    if allows is not None and source != target:
        allowed[target] = mapped_sets(allowed[source], allows)
    return allowed


def allowed_labels(
    mapping: str | Mapping | None, standards: tuple[str, str], encodings: tuple[Encoding, Encoding]
) -> Bools | None:
    """Which labels of the target may stand for which of the source; None if all may."""
    if mapping is None:
        names = {f"{a}-{b}.tight" for a, b in (standards, standards[::-1])}
        has_tags = all(each.tags is not None for each in encodings)
        mapping = "tight" if has_tags and not names.isdisjoint(table_names()) else "complete"
    if mapping == "complete":
        return None
    tags = (each.tags or () for each in encodings)
    matrix = table_mapping(mapping, standards, *tags).matrix
    matrix = matrix | ~matrix.any(axis=1, keepdims=True)  # a tag that the table does not know: all may
    return on_labels(matrix, *encodings)


def mapped_sets(given: _native.TagSets, allows: Bools) -> _native.TagSets:
    """What the labels that one side may have leave to the other; nothing is said where nothing was given."""
    sizes = np.diff(given.first)
    table = np.zeros((len(sizes), allows.shape[1]), np.bool_)
    if len(given.tags):
        table[sizes > 0] = np.logical_or.reduceat(allows[given.tags], given.first[:-1][sizes > 0])
    return _sets_of(table)


def begin_words(sets: _native.TagSets, units: Sequence[int], length: int, starts: Bools) -> _native.TagSets:
    """The same sets for `length` units, but only labels that begin words at some of them."""
    table = np.zeros((length, len(starts)), np.bool_)
    sizes = np.diff(sets.first) if len(sets.first) > 1 else np.zeros(length, np.int64)
    table[np.repeat(np.arange(length), sizes), sets.tags] = True
    table[units] = (table[units] | ~table[units].any(axis=1, keepdims=True)) & starts
    return _sets_of(table)


def _sets_of(table: Bools) -> _native.TagSets:
    first = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return _native.TagSets(first.astype(np.int32), np.nonzero(table)[1].astype(np.int32))


def crossed_ends(given: Sequence[int], found: Sequence[int]) -> list[int]:
    """The ends of given words inside found ones that begin or end inside a given word; words by their ends.

    If a found word is cut at all of them, nothing is left to cross.
    """
    edges = {0, *given}
    across = [
        (start, end)
        for start, end in itertools.pairwise((0, *found))
        if start not in edges or end not in edges
    ]
    return [unit for start, end in across for unit in range(start + 1, end) if unit in edges]


def word_confidence(ends: Sequence[int], sure: Sequence[float]) -> tuple[float, ...]:
    """How sure each word is: as sure as its least certain unit."""
    return tuple(min(sure[start:end]) for start, end in itertools.pairwise((0, *ends)))


def marginal_tables(
    found: _native.CoupledAnswers, side: int, first: npt.NDArray[np.int64], labels: int
) -> list[Table]:
    """Of each sentence a table [T, L] from what its candidates have."""
    if len(first) < 2:
        return []
    sets, units = found.candidates(side), int(first[-1])
    table = np.zeros((units, labels))
    table[np.repeat(np.arange(units), np.diff(sets.first)), sets.tags] = found.candidate_p(side)
    return np.split(table, first[1:-1])

"""The training data of a coupled tagger."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Reading, Templates, pack
from duilian.labels.encoding import Encoding, no_sets
from duilian.models.base.feature_settings import Features
from duilian.models.coupled.held_labels import HeldLabels
from duilian.models.coupled.sides import Sides

Ids = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class TrainingData:
    """The sentences of all sides, one side after the other, with their features."""

    encodings: Sequence[Encoding]
    keys: npt.NDArray[np.uint64]
    rows: _native.FeatureRows
    shared: _native.FeatureRows  # without the features of the guide
    first: npt.NDArray[np.int64]  # [sentences + 1]  in units
    side: npt.NDArray[np.int32]  # [sentences]
    label: npt.NDArray[np.int32]  # [units]  of the sentence's own side
    sets: _native.TagSets
    held: Sequence[_native.TagSets]  # [sides][units]  known labels of the other sides; or empty

    def sentences(self, side: int) -> Ids:
        """The numbers of one side's sentences."""
        return np.flatnonzero(self.side == side).astype(np.int64)

    def held_sentences(self, side: int) -> Ids:
        """The numbers of other sides' sentences in which some labels of this side are known."""
        if not self.held or len(self.held[side].first) == 1:
            return np.zeros(0, np.int64)
        known = self.held[side].first[self.first]
        return np.flatnonzero(np.diff(known) > 0).astype(np.int64)

    def own_labels(self, side: int) -> npt.NDArray[np.int32]:
        """The labels of this side where they are known, else -1."""
        own = np.repeat(self.side, np.diff(self.first)) == side
        labels = np.where(own, self.label, -1).astype(np.int32)
        if self.held and len(self.held[side].first) > 1:
            labels[np.diff(self.held[side].first) > 0] = self.held[side].tags
        return labels

    def own_sets(self, side: int) -> _native.TagSets:
        """The label sets of this side's sentences; empty sets elsewhere."""
        if len(self.sets.first) == 1:
            return no_sets()
        own = np.repeat(self.side, np.diff(self.first)) == side
        sizes = np.diff(self.sets.first)
        kept = self.sets.tags[np.repeat(own, sizes)]
        first = np.concatenate([[0], np.cumsum(np.where(own, sizes, 0))])
        return _native.TagSets(first.astype(np.int32), kept)

    def digest(self) -> str:
        """A hash of the features and labels."""
        digest = hashlib.blake2b(digest_size=16)
        arrays = (self.keys, self.first, self.side, self.label, self.sets.first, self.sets.tags)
        for part in (*arrays, self.rows.first, self.rows.rows):
            digest.update(np.ascontiguousarray(part).tobytes())
        for part in (array for sets in self.held for array in (sets.first, sets.tags)):
            digest.update(np.ascontiguousarray(part).tobytes())
        for encoding in self.encodings:
            digest.update(repr(encoding.labels).encode())
        return digest.hexdigest()


@dataclasses.dataclass(frozen=True)
class Guide:
    """Labels in the guide's standard, one column per sentence, and templates without them."""

    columns: Sequence[Sequence[str]]
    shared_templates: Templates


def extract_training_data(
    corpora: Sequence[Sequence[Layer]],
    sides: Sides,
    templates: Templates,
    features: Features,
    reading: Reading,
    guide: Guide | None,
    held: HeldLabels | None,
) -> TrainingData:
    """Extract the labels and features of the sentences of all sides."""
    encoded = [encoding.encode(layers) for encoding, layers in zip(sides.encodings, corpora, strict=True)]
    units = [each for side in encoded for each in side.units]
    columns = None if guide is None else [{"guide": labels} for labels in guide.columns]
    packed = pack(units, reading, columns)
    keys = _native.count_keys(templates.native, packed, features.min_count)
    index = _native.FeatureIndex(keys)
    rows = shared = _native.extract_rows(templates.native, packed, index, 1)
    if guide is not None:
        shared = _native.extract_rows(guide.shared_templates.native, pack(units, reading), index, 1)
    return TrainingData(
        sides.encodings,
        keys,
        rows,
        shared,
        packed.first,
        np.repeat(np.arange(len(sides), dtype=np.int32), [len(layers) for layers in corpora]),
        np.concatenate([each.label for each in encoded]),
        _join_sets([each.sets for each in encoded], [len(each.label) for each in encoded]),
        [] if held is None else held.on_units([len(each.label) for each in encoded]),
    )


def _join_sets(sets: Sequence[_native.TagSets], units: Sequence[int]) -> _native.TagSets:
    if all(len(each.first) == 1 for each in sets):
        return no_sets()
    empty = [_native.TagSets(np.zeros(count + 1, np.int32), np.zeros(0, np.int32)) for count in units]
    return chain_sets([a if len(a.first) > 1 else b for a, b in zip(sets, empty, strict=True)])


def chain_sets(parts: Sequence[_native.TagSets]) -> _native.TagSets:
    """Concatenate label sets."""
    sizes = np.concatenate([np.diff(part.first) for part in parts])
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return _native.TagSets(first, np.concatenate([part.tags for part in parts]))

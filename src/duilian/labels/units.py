"""Texts as models see them: units, sentence by sentence, with offsets."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.corpus import Layer
from duilian.labels.encoding import Encoding

Ints = npt.NDArray[np.int64]
_NO_SPANS = np.zeros((0, 2), np.int64)


class Whole(NamedTuple):
    """Units from `start` to `end` (exclusive), counted within their sentence, that are never cut."""

    start: int
    end: int
    kind: texts.WholeKind


@dataclasses.dataclass(frozen=True)
class UnitBatch:
    """The units of a batch of texts, sentence by sentence."""

    batch: Sequence[str]
    spans: texts.Spans  # [units, 2]  offsets in their texts
    sentence: Ints  # [sentences + 1]  units before each sentence
    text: Ints  # [texts + 1]  first sentence of each text
    known: npt.NDArray[np.uint8]  # [units]  what is known before any model runs, see `text.Split`
    is_apart: npt.NDArray[np.bool_]  # [units]  whether white space precedes the unit
    has_gap: npt.NDArray[np.bool_]  # [units]  whether characters outside units precede it
    wholes: dict[int, list[Whole]]  # by sentence

    def __len__(self) -> int:
        return len(self.spans)

    @functools.cached_property
    def start(self) -> Ints:
        """The start offset of each unit in its text."""
        return np.ascontiguousarray(self.spans[:, 0])

    @functools.cached_property
    def end(self) -> Ints:
        """The end offset of each unit in its text."""
        return np.ascontiguousarray(self.spans[:, 1])

    @functools.cached_property
    def pieces(self) -> list[list[str]]:
        """The units of each sentence as strings."""
        edges, found = self.sentence.tolist(), []
        for text, (a, b) in zip(self.batch, itertools.pairwise(self.text.tolist()), strict=True):
            pieces = texts.cut(text, self.spans[edges[a] : edges[b]])
            found += [pieces[i - edges[a] : j - edges[a]] for i, j in itertools.pairwise(edges[a : b + 1])]
        return found

    def packed(self, folding: texts.Folding) -> _native.Sentences:
        """Pack the sentences for the native core."""
        found = _native.Sentences(folding.native, [])
        found.add_texts(list(self.batch), self.spans, self.sentence, self.text)
        return found

    def sentences(self) -> Iterator[UnitBatch]:
        """Yield each sentence as a batch of its own."""
        owner = np.searchsorted(self.text, np.arange(len(self.sentence) - 1), "right") - 1
        for s, (a, b) in enumerate(itertools.pairwise(self.sentence.tolist())):
            yield UnitBatch(
                [self.batch[owner[s]]],
                self.spans[a:b],
                np.array([0, b - a]),
                np.array([0, 1]),
                self.known[a:b],
                self.is_apart[a:b],
                self.has_gap[a:b],
                {0: self.wholes[s]} if s in self.wholes else {},
            )


def units_of_texts(batch: Sequence[str], encoding: Encoding, kinds: Sequence[texts.WholeKind]) -> UnitBatch:
    """Split texts into sentences and units."""
    return _make_batch(batch, texts.split(batch, (encoding.join_letters, encoding.join_digits), kinds))


def units_of_layers(layers: Sequence[Layer], encoding: Encoding) -> UnitBatch:
    """Split the words of annotated sentences into units; each layer stays one sentence, even if empty."""
    found = [
        np.concatenate(
            [
                _NO_SPANS,
                *(
                    a + _word_units(word, encoding)
                    for word, (a, _) in zip(layer.words, layer.spans(), strict=True)
                ),
            ]
        )
        for layer in layers
    ]
    first = np.cumsum([0, *map(len, found)])
    known = np.zeros(int(first[-1]), np.uint8)
    split = texts.Split(np.concatenate([_NO_SPANS, *found]), first, np.arange(len(layers) + 1), known, [])
    return _make_batch([layer.text for layer in layers], split)


def _word_units(text: str, encoding: Encoding) -> texts.Spans:
    return texts.units(text, join_letters=encoding.join_letters, join_digits=encoding.join_digits)


def _make_batch(batch: Sequence[str], found: texts.Split) -> UnitBatch:
    start, end = found.spans[:, 0], found.spans[:, 1]
    has_gap = np.zeros(len(start), np.bool_)
    has_gap[1:] = start[1:] > end[:-1]
    has_gap[found.first[:-1][found.first[:-1] < len(start)]] = False
    is_apart = has_gap.copy()
    # Gaps inside sentences are rare.
    for unit in np.flatnonzero(has_gap).tolist():
        owner = np.searchsorted(found.text, np.searchsorted(found.first, unit, "right") - 1, "right") - 1
        gap = batch[int(owner)][int(end[unit - 1]) : int(start[unit])]
        is_apart[unit] = any(map(str.isspace, gap))
    return UnitBatch(
        batch, found.spans, found.first, found.text, found.known, is_apart, has_gap, _wholes_of(found)
    )


def _wholes_of(found: texts.Split) -> dict[int, list[Whole]]:
    """Group the spans that stay whole by sentence, counted within it."""
    owners = np.searchsorted(found.first, [each.start for each in found.wholes], "right") - 1
    wholes: dict[int, list[Whole]] = {}
    for (start, end, kind), s, at in zip(
        found.wholes, owners.tolist(), found.first[owners].tolist(), strict=True
    ):
        wholes.setdefault(s, []).append(Whole(start - at, end - at, kind))
    return wholes

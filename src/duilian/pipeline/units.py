"""Texts as the analyser's stages see them: rows of units, sentence by sentence, with their places."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import text as texts
from duilian.corpus import Layer
from duilian.models.encoding import Encoding

Ints = npt.NDArray[np.int64]
_NO_SPANS = np.zeros((0, 2), np.int64)


class Whole(NamedTuple):
    """Units from `start` to `end` (exclusive), counted in their sentence, that are never cut."""

    start: int
    end: int
    kind: texts.WholeKind


@dataclasses.dataclass(frozen=True)
class Units:
    """The units of some texts, sentence by sentence."""

    start: Ints  # in characters of its text
    end: Ints
    sentence: Ints  # [sentences + 1]
    text: Ints  # [texts + 1]  number of the first sentence of each text
    pieces: list[list[str]]  # the units of each sentence
    known: npt.NDArray[np.uint8]  # what is known of each before any model speaks, see `text.Split`
    is_apart: npt.NDArray[np.bool_]  # whether white space stands before the unit
    has_gap: npt.NDArray[np.bool_]  # whether anything stands there that is in no unit
    wholes: dict[int, list[Whole]]  # by sentence

    def __len__(self) -> int:
        return len(self.start)

    def sentences(self) -> Iterator[Units]:
        """Each sentence by itself."""
        for s, (a, b) in enumerate(itertools.pairwise(self.sentence.tolist())):
            yield Units(
                self.start[a:b],
                self.end[a:b],
                np.array([0, b - a]),
                np.array([0, 1]),
                [self.pieces[s]],
                self.known[a:b],
                self.is_apart[a:b],
                self.has_gap[a:b],
                {0: self.wholes[s]} if s in self.wholes else {},
            )


def units_of_texts(batch: Sequence[str], encoding: Encoding, kinds: Sequence[texts.WholeKind]) -> Units:
    """Sentences are found here."""
    gathered = _Gathered()
    joins = encoding.join_letters, encoding.join_digits
    for text in batch:
        gathered.add(text, texts.split(text, joins, kinds))
    return gathered.units(batch)


def units_of_layers(layers: Sequence[Layer], encoding: Encoding) -> Units:
    """An annotated sentence is one sentence, even if it has no words."""
    gathered = _Gathered()
    for layer in layers:
        places = zip(layer.words, layer.spans(), strict=True)
        found = np.concatenate([_NO_SPANS, *(a + _split(word, encoding) for word, (a, _) in places)])
        first = np.array([0, len(found)], np.int64)
        gathered.add(layer.text, texts.Split(found, first, np.zeros(len(found), np.uint8), []))
    return gathered.units([layer.text for layer in layers])


def _split(text: str, encoding: Encoding) -> texts.Spans:
    return texts.units(text, join_letters=encoding.join_letters, join_digits=encoding.join_digits)


class _Gathered:
    """Units as they come, text by text."""

    def __init__(self) -> None:
        self._found: list[texts.Split] = []
        self._pieces: list[list[str]] = []
        self._first = [0]
        self._wholes: dict[int, list[Whole]] = {}

    def add(self, text: str, found: texts.Split) -> None:
        first = found.first.tolist()
        pieces = texts.cut(text, found.spans)
        if found.wholes:
            owners = np.searchsorted(found.first, [each.start for each in found.wholes], "right") - 1
            for each, s in zip(found.wholes, owners.tolist(), strict=True):
                part = Whole(each.start - first[s], each.end - first[s], each.kind)
                self._wholes.setdefault(len(self._pieces) + s, []).append(part)
        self._pieces += [pieces[a:b] for a, b in itertools.pairwise(first)]
        self._found.append(found)
        self._first.append(len(self._pieces))

    def units(self, batch: Sequence[str]) -> Units:
        joined = np.concatenate([_NO_SPANS, *(each.spans for each in self._found)])
        known = np.concatenate([np.zeros(0, np.uint8), *(each.known for each in self._found)])
        start, end = np.ascontiguousarray(joined[:, 0]), np.ascontiguousarray(joined[:, 1])
        sentence = np.cumsum([0, *map(len, self._pieces)])
        text = np.array(self._first, np.int64)
        has_gap = np.zeros(len(start), np.bool_)
        has_gap[1:] = start[1:] > end[:-1]
        has_gap[sentence[:-1][sentence[:-1] < len(start)]] = False
        is_apart = has_gap.copy()
        # Gaps inside sentences are rare, so that only they are looked at.
        for unit in np.flatnonzero(has_gap).tolist():
            owner = np.searchsorted(text, np.searchsorted(sentence, unit, "right") - 1, "right") - 1
            gap = batch[int(owner)][int(end[unit - 1]) : int(start[unit])]
            is_apart[unit] = any(map(str.isspace, gap))
        return Units(start, end, sentence, text, self._pieces, known, is_apart, has_gap, self._wholes)

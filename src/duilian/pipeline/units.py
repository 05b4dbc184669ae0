"""Texts as the analyser's stages see them: rows of units, sentence by sentence, with their places."""

from __future__ import annotations

import dataclasses
import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from duilian import text as texts
from duilian.corpus import Layer
from duilian.models.encoding import Encoding

Ints = npt.NDArray[np.int64]
_NO_SPANS = np.zeros((0, 2), np.int64)


@dataclasses.dataclass(frozen=True)
class Whole:
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
                self.is_apart[a:b],
                self.has_gap[a:b],
                {0: self.wholes[s]} if s in self.wholes else {},
            )


def units_of_texts(batch: Sequence[str], encoding: Encoding, kinds: Sequence[texts.WholeKind]) -> Units:
    """Sentences are found here; none ends inside a part that stays whole."""
    gathered = _Gathered()
    for text in batch:
        wholes = texts.whole_spans(text, kinds) if kinds else []
        starts = [each.start for each in wholes]
        for a, b in _sentences(text, wholes):
            found = a + _split(text[a:b], encoding)
            if len(found):
                gathered.add(text, found, wholes[bisect_left(starts, a) : bisect_left(starts, b)])
        gathered.end_text()
    return gathered.units(batch)


def units_of_layers(layers: Sequence[Layer], encoding: Encoding) -> Units:
    """An annotated sentence is one sentence, even if it has no words."""
    gathered = _Gathered()
    for layer in layers:
        places = zip(layer.words, layer.spans(), strict=True)
        found = [a + _split(word, encoding) for word, (a, _) in places]
        gathered.add(layer.text, np.concatenate([_NO_SPANS, *found]), [])
        gathered.end_text()
    return gathered.units([layer.text for layer in layers])


def _split(text: str, encoding: Encoding) -> texts.Spans:
    return texts.units(text, join_letters=encoding.join_letters, join_digits=encoding.join_digits)


def _sentences(text: str, wholes: Sequence[texts.WholeSpan]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    ends = iter(wholes)
    last = next(ends, None)
    for a, b in texts.sentences(text).tolist():
        while last is not None and last.end <= a:
            last = next(ends, None)
        if found and last is not None and last.start < a:  # a ？ in an address ends no sentence
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


class _Gathered:
    """Units as they come."""

    def __init__(self) -> None:
        self._spans: list[texts.Spans] = [_NO_SPANS]
        self._pieces: list[list[str]] = []
        self._first = [0]
        self._wholes: dict[int, list[Whole]] = {}

    def add(self, text: str, spans: texts.Spans, wholes: Sequence[texts.WholeSpan]) -> None:
        if wholes:
            found = list(_whole_units(spans, wholes))
            if found:
                self._wholes[len(self._pieces)] = found
        self._spans.append(spans)
        self._pieces.append(texts.cut(text, spans))

    def end_text(self) -> None:
        self._first.append(len(self._pieces))

    def units(self, batch: Sequence[str]) -> Units:
        joined = np.concatenate(self._spans)
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
        return Units(start, end, sentence, text, self._pieces, is_apart, has_gap, self._wholes)


def _whole_units(spans: texts.Spans, wholes: Sequence[texts.WholeSpan]) -> list[Whole]:
    """Parts of one unit need no protection; a part whose edges cut a unit has none."""
    first = np.searchsorted(spans[:, 0], [each.start for each in wholes]).tolist()
    last = np.searchsorted(spans[:, 1], [each.end for each in wholes]).tolist()
    return [
        Whole(a, b + 1, each.kind)
        for a, b, each in zip(first, last, wholes, strict=True)
        if b < len(spans) and spans[a, 0] == each.start and spans[b, 1] == each.end
    ]

"""Texts as models see them: units, sentence by sentence, with offsets."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.corpus import Layer
from duilian.features import Reading
from duilian.labels.encoding import Encoding

Ints = npt.NDArray[np.int64]
SEPARATORS = re.compile("[ \t\r\u3000]+")  # of words in segmented text
_NO_SPANS = np.zeros((0, 2), np.int64)


class Whole(NamedTuple):
    """Units from `start` to `end` (exclusive), counted within their sentence, that are never cut."""

    start: int
    end: int
    kind: texts.WholeKind


@dataclasses.dataclass(eq=False)  # freezing takes longer than splitting a short text
class UnitBatch:
    """The units of a batch of texts, sentence by sentence."""

    batch: Sequence[str]
    spans: texts.Spans  # [units, 2]  offsets in their texts
    sentence: Ints  # [sentences + 1]  units before each sentence
    text: Ints  # [texts + 1]  first sentence of each text
    known: npt.NDArray[np.uint16]  # [units]  what is known before any model runs, see `text.Split`
    wholes: dict[int, list[Whole]]  # by sentence
    layers: Sequence[Layer] = ()  # the sentences as annotated, if they are
    word: Ints | None = None  # [words]  first unit of each word given, if the sentences are annotated

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

    def pieces_of(self, sentence: int) -> list[str]:
        """Return the units of one sentence as strings."""
        owner = int(np.searchsorted(self.text, sentence, "right")) - 1
        a, b = self.sentence[sentence : sentence + 2].tolist()
        return texts.cut(self.batch[owner], self.spans[a:b])

    @property
    def is_apart(self) -> npt.NDArray[np.bool_]:
        """Whether white space precedes each unit."""
        found: npt.NDArray[np.bool_] = (self.known & texts.APART) != 0
        return found

    @property
    def has_gap(self) -> npt.NDArray[np.bool_]:
        """Whether characters that are in no unit precede each unit."""
        found: npt.NDArray[np.bool_] = (self.known & texts.GAP) != 0
        return found

    def joined(self) -> UnitBatch:
        """Return the same units as if there were no white space between them."""
        return dataclasses.replace(self, known=self.known & ~np.uint16(texts.APART | texts.BEGINS))

    def packed(self, reading: Reading | texts.Folding) -> _native.Sentences:
        """Pack the sentences for the native core."""
        found = _native.Sentences(Reading.of(reading).native, [])
        found.add_texts(list(self.batch), self.spans, self.sentence, self.text)
        return found

    def sentences(self) -> Iterator[UnitBatch]:
        """Yield each sentence as a batch of its own."""
        for s in range(len(self.sentence) - 1):
            yield self.take(np.array([s]))[0]

    def take(self, sentences: Ints) -> tuple[UnitBatch, Ints]:
        """Return some of the sentences, in order, each a text of its own; and the numbers of their units."""
        owner = np.searchsorted(self.text, sentences, "right") - 1
        begin, end = self.sentence[sentences], self.sentence[sentences + 1]
        units, word = _ranges(begin, end), None
        if self.word is not None:
            first, stop = np.searchsorted(self.word, begin), np.searchsorted(self.word, end)
            word = np.searchsorted(units, self.word[_ranges(first, stop)])
        found = UnitBatch(
            [self.batch[k] for k in owner.tolist()],
            self.spans[units],
            np.append(0, np.cumsum(end - begin)),
            np.arange(len(sentences) + 1),
            self.known[units],
            {k: self.wholes[s] for k, s in enumerate(sentences.tolist()) if s in self.wholes},
            [self.layers[s] for s in sentences.tolist()] if self.layers else (),
            word,
        )
        return found, units


def units_of_texts(batch: Sequence[str], encoding: Encoding, kinds: Sequence[texts.WholeKind]) -> UnitBatch:
    """Split texts into sentences and units."""
    return _make_batch(batch, texts.split(batch, (encoding.join_letters, encoding.join_digits), kinds))


def units_of_layers(
    layers: Sequence[Layer], encoding: Encoding, sentences: Sequence[Sequence[Layer]] | None = None
) -> UnitBatch:
    """Split the words of annotated texts into units.

    Each layer, even an empty one, is one sentence, unless `sentences` lists the sentences of each.
    """
    flat = list(itertools.chain.from_iterable([layer.words for layer in layers]))
    starts, lengths = _word_starts(layers, flat)
    text, own = np.arange(len(layers) + 1), layers
    if sentences is not None:
        text, own = np.cumsum([0, *map(len, sentences)]), list(itertools.chain.from_iterable(sentences))
    words, batch = np.cumsum([0, *map(len, own)]), [layer.text for layer in layers]
    if encoding.level == "word":
        spans = np.stack([starts, starts + lengths], axis=1)
        known = np.zeros(len(spans), np.uint16)
        return UnitBatch(batch, spans, words, text, known, {}, own, np.arange(len(flat)))
    texts.check_text("".join(flat))
    units, counts = _native.split_words(flat, encoding.join_letters, encoding.join_digits)
    edges = np.cumsum([0, *counts])
    if sum(map(len, units)) == int(lengths.sum()):
        size = np.fromiter(map(len, units), np.int64, len(units))
        within = np.cumsum(size) - size
        begins = within + np.repeat(starts - (np.cumsum(lengths) - lengths), counts)
        spans = np.stack([begins, begins + size], axis=1)
    else:  # invisible characters are in no unit
        joins = {"join_letters": encoding.join_letters, "join_digits": encoding.join_digits}
        found = [texts.units(word, **joins) + at for word, at in zip(flat, starts.tolist(), strict=True)]
        spans = np.concatenate([_NO_SPANS, *found])
    known = _gaps_of(batch, spans, edges[words], text)
    return UnitBatch(batch, spans, edges[words], text, known, {}, own, edges[:-1])


def words_of(line: str) -> tuple[str, ...]:
    """Return the words of a line of segmented text."""
    return tuple([word for word in SEPARATORS.split(line) if word])


def units_of_words(batch: Sequence[str], encoding: Encoding) -> UnitBatch:
    """Split texts whose words are separated by blanks into units; each line is a sentence."""
    layers, lines, text, offset = [], [], [0], []
    for each in batch:
        at = 0
        for line in each.split("\n"):
            words = words_of(line)
            if words:
                layers.append(Layer(words))
                lines.append(line)
                offset.append(at)
            at += len(line) + 1
        text.append(len(layers))
    found = units_of_layers(layers, encoding)
    places = zip(lines, layers, offset, strict=True)
    starts = [_places_of_words(line, layer, at) for line, layer, at in places]
    assert found.word is not None
    flat = np.concatenate([np.zeros(0, np.int64), *starts])
    first = np.append(found.word, len(found))
    shift = np.repeat(flat - found.start[found.word], np.diff(first)) if len(flat) else flat
    spans = found.spans + shift[:, None]
    known = np.zeros(len(spans), np.uint16)  # words are given, so the blanks tell nothing new
    return UnitBatch(batch, spans, found.sentence, np.array(text), known, {}, layers, found.word)


def _places_of_words(line: str, layer: Layer, at: int) -> Ints:
    """Return where each word of a line begins; `at` is where the line does."""
    sizes = np.fromiter(map(len, layer.words), np.int64, len(layer))
    if int(sizes.sum()) + len(sizes) - 1 == len(line):  # one blank between words
        return at + np.cumsum(sizes + 1) - sizes - 1
    ends = [match.end() for match in SEPARATORS.finditer(line) if match.end() < len(line)]
    return at + np.array(ends if line[:1].isspace() and SEPARATORS.match(line) else [0, *ends], np.int64)


def _word_starts(layers: Sequence[Layer], flat: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the start of each word in the text of its layer, and its length."""
    lengths = np.fromiter(map(len, flat), np.int64, len(flat))
    advance = lengths
    if any(layer.spaces is not None for layer in layers):
        spaces = [len(each) for layer in layers for each in layer.spaces or ("",) * len(layer)]
        advance = lengths + np.array(spaces, np.int64)
    through = np.cumsum(advance) - advance
    sizes = [len(layer) for layer in layers]
    first = np.cumsum([0, *sizes])[:-1]
    before = (
        through[np.minimum(first, max(len(flat) - 1, 0))] if len(flat) else np.zeros(len(layers), np.int64)
    )
    return through - np.repeat(before, sizes), lengths


def _make_batch(batch: Sequence[str], found: texts.Split) -> UnitBatch:
    return UnitBatch(batch, found.spans, found.first, found.text, found.known, _wholes_of(found))


def _ranges(first: Ints, stop: Ints) -> Ints:
    """Return the ranges from each `first` to before its `stop`, concatenated."""
    sizes = stop - first
    return np.repeat(stop - np.cumsum(sizes), sizes) + np.arange(int(sizes.sum()))


def _gaps_of(batch: Sequence[str], spans: texts.Spans, sentence: Ints, text: Ints) -> npt.NDArray[np.uint16]:
    """Return the facts that gaps between units tell."""
    known = np.zeros(len(spans), np.uint16)
    known[1:][spans[1:, 0] != spans[:-1, 1]] = texts.GAP
    known[sentence[:-1][sentence[:-1] < len(spans)]] = 0
    units = np.flatnonzero(known)
    owners = (np.searchsorted(sentence[text], units, "right") - 1).tolist()
    edges = zip(spans[units - 1, 1].tolist(), spans[units, 0].tolist(), strict=True)
    is_apart = [any(map(str.isspace, batch[k][a:b])) for k, (a, b) in zip(owners, edges, strict=True)]
    known[units[is_apart]] |= texts.APART | texts.BEGINS
    return known


def _wholes_of(found: texts.Split) -> dict[int, list[Whole]]:
    """Group the protected spans by sentence, counted within it."""
    if not found.wholes:
        return {}
    owners = np.searchsorted(found.first, [each.start for each in found.wholes], "right") - 1
    wholes: dict[int, list[Whole]] = {}
    for (start, end, kind), s, at in zip(
        found.wholes, owners.tolist(), found.first[owners].tolist(), strict=True
    ):
        wholes.setdefault(s, []).append(Whole(start - at, end - at, kind))
    return wholes

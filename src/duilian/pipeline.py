"""Text in, `Doc` out: the analyser that users call.

An analyser stands on a character-level tagger, plain (one standard) or coupled (several). Texts go through it
in batches; which texts share a batch, and how many threads there are, never shows in the answers.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.corpus import Layer, Sentence
from duilian.doc import Doc, Words
from duilian.errors import ConfigError
from duilian.evaluation import LabelMeaning
from duilian.features.templates import pack
from duilian.models import CoupledTagger, MultitaskTagger, Tagger, TwoChainTagger, standards_of
from duilian.models import load as load_model
from duilian.models.encoding import Encoding

BATCH_CHARACTERS = 100_000
NO_LIMITS = _native.TagSets(np.array([0], np.int32), np.array([], np.int32))

Item = TypeVar("Item")
Labels = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True)
class _Units:
    """The units of some texts, sentence by sentence."""

    start: npt.NDArray[np.int64]  # in characters of its text
    end: npt.NDArray[np.int64]
    sentence: npt.NDArray[np.int64]  # [sentences + 1]
    is_apart: npt.NDArray[np.bool_]  # whether white space stands before the unit
    text: npt.NDArray[np.int64]  # [texts + 1]  number of the first sentence of each text
    pieces: list[list[str]]  # the units of each sentence


class Analyzer:
    """Words and tags of raw text after every standard of a model.

    It holds no state between calls: one analyser serves any number of threads.
    """

    def __init__(self, model: Tagger | CoupledTagger) -> None:
        if model.level != "char":
            raise ConfigError(
                "an analyser needs a character-level model, for it finds the words itself",
                hint="train with level = 'char', or use `duilian tag` on words",
            )
        self.model = model
        self.standards = standards_of(model)
        encodings = model.encodings_ if isinstance(model, CoupledTagger) else [model.encoding_]
        self._encodings: list[Encoding] = list(encodings)
        self._meanings: list[LabelMeaning] = [each.meaning for each in self._encodings]

    def __call__(self, text: str) -> Doc:
        """The analysis of a text of any length."""
        return self._analyse([text], 1)[0]

    def pipe(self, texts: Iterable[str], *, threads: int = 1) -> Iterator[Doc]:
        """The analyses of many texts, in their order; memory stays flat however many there are."""
        if threads < 1:
            raise ConfigError(f"threads must be at least 1, got {threads}")
        for batch in _batches(texts, len):
            yield from self._analyse(batch, threads)

    def fill(
        self, sentences: Iterable[Sentence], standard: str | None = None, *, threads: int = 1
    ) -> Iterator[Doc]:
        """Annotated sentences with their gaps filled: words and tags that they have in a standard stay as
        they are, tags that are unknown or one of several are decided, and other standards follow from them.
        """
        name = self.standards[0] if standard is None else standard
        if name not in self.standards:
            raise ConfigError(f"there is no standard {name!r}, only {', '.join(self.standards)}")
        for batch in _batches((sentence[name] for sentence in sentences), lambda layer: len(layer.text)):
            yield from self._fill(batch, self.standards.index(name), threads)

    def _fill(self, layers: Sequence[Layer], side: int, threads: int) -> list[Doc]:
        spans: list[texts.Spans] = [_NO_SPANS]
        pieces: list[list[str]] = []
        for layer in layers:
            found = [a + self._split(word) for word, (a, _) in zip(layer.words, layer.spans(), strict=True)]
            spans += found
            pieces.append(texts.cut(layer.text, np.concatenate([_NO_SPANS, *found])))
        given = [layer.text for layer in layers]
        # An annotated sentence is one sentence, even if it has no words.
        units = _gather(given, spans, pieces, list(range(len(pieces) + 1)))
        limits = [_limits(meaning, units) for meaning in self._meanings]
        limits[side] = self._encodings[side].limits(layers)
        return self._docs(given, units, limits, threads)

    def _analyse(self, batch: Sequence[str], threads: int) -> list[Doc]:
        units = self._units(batch)
        return self._docs(batch, units, [_limits(meaning, units) for meaning in self._meanings], threads)

    def _docs(
        self, batch: Sequence[str], units: _Units, limits: Sequence[_native.TagSets], threads: int
    ) -> list[Doc]:
        if not len(units.start):
            return [Doc(text, dict.fromkeys(self.standards, _NO_WORDS)) for text in batch]
        found = self._label(units, limits, threads)
        sides = [
            _words(meaning, units, labels, sure, batch)
            for meaning, (labels, sure) in zip(self._meanings, found, strict=True)
        ]
        return [
            Doc(text, dict(zip(self.standards, layers, strict=True)))
            for text, layers in zip(batch, zip(*sides, strict=True), strict=True)
        ]

    def _split(self, text: str) -> texts.Spans:
        encoding = self._encodings[0]
        return texts.units(text, join_letters=encoding.join_letters, join_digits=encoding.join_digits)

    def _units(self, batch: Sequence[str]) -> _Units:
        spans: list[texts.Spans] = [_NO_SPANS]
        pieces: list[list[str]] = []
        first = [0]
        for text in batch:
            for a, b in texts.sentences(text).tolist():
                found = a + self._split(text[a:b])
                if len(found):
                    spans.append(found)
                    pieces.append(texts.cut(text, found))
            first.append(len(pieces))
        return _gather(batch, spans, pieces, first)

    def _label(
        self, units: _Units, limits: Sequence[_native.TagSets], threads: int
    ) -> list[tuple[Labels, npt.NDArray[np.float32] | None]]:
        """For each standard the labels of all units, and how sure they are if the model says it for free."""
        if isinstance(self.model, CoupledTagger):
            answers = self.model.label_units(units.pieces, limits, threads)
            return [(answers.label(side), answers.p(side)) for side in range(len(self.standards))]
        packed = pack(units.pieces, self.model.folding_)
        nothing = (np.array([], np.int64), np.array([], np.int32), np.array([], np.float32))
        labels, _ = self.model.predictor_.predict(packed, _native.Wishes(limits[0], *nothing), threads)
        return [(labels, None)]


_NO_SPANS = np.zeros((0, 2), np.int64)
_NO_WORDS = Words(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64), (), None)


def _batches(items: Iterable[Item], size: Callable[[Item], int]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item) + 1
        if total >= BATCH_CHARACTERS:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _gather(
    batch: Sequence[str], spans: Sequence[texts.Spans], pieces: list[list[str]], first: Sequence[int]
) -> _Units:
    joined = np.concatenate(spans)
    start, end = np.ascontiguousarray(joined[:, 0]), np.ascontiguousarray(joined[:, 1])
    sentence, text = np.cumsum([0, *map(len, pieces)]), np.array(first, np.int64)
    return _Units(start, end, sentence, _apart(batch, start, end, sentence, text), text, pieces)


def _apart(
    batch: Sequence[str],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    sentence: npt.NDArray[np.int64],
    text: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Gaps inside sentences are rare, so that only they are looked at."""
    is_apart = np.zeros(len(start), np.bool_)
    has_gap = np.zeros(len(start), np.bool_)
    has_gap[1:] = start[1:] > end[:-1]
    has_gap[sentence[:-1]] = False
    for unit in np.flatnonzero(has_gap).tolist():
        owner = np.searchsorted(text, np.searchsorted(sentence, unit, "right") - 1, "right") - 1
        gap = batch[int(owner)][int(end[unit - 1]) : int(start[unit])]
        is_apart[unit] = any(map(str.isspace, gap))
    return is_apart


def _limits(meaning: LabelMeaning, units: _Units) -> _native.TagSets:
    """White space ends a word: the labels allowed on both sides of it."""
    behind = np.flatnonzero(units.is_apart)
    if not len(behind):
        return NO_LIMITS
    starts, ends = np.flatnonzero(meaning.starts), np.flatnonzero(meaning.ends)
    both = np.flatnonzero(np.asarray(meaning.starts) & np.asarray(meaning.ends))
    allowed: dict[int, npt.NDArray[np.int64]] = dict.fromkeys(behind.tolist(), starts)
    for unit in (behind - 1).tolist():
        allowed[unit] = both if unit in allowed else ends
    sizes = np.zeros(len(units.start) + 1, np.int64)
    for unit, labels in allowed.items():
        sizes[unit + 1] = len(labels)
    flat = np.concatenate([allowed[unit] for unit in sorted(allowed)])
    return _native.TagSets(np.cumsum(sizes).astype(np.int32), flat.astype(np.int32))


def _words(
    meaning: LabelMeaning,
    units: _Units,
    labels: Labels,
    sure: npt.NDArray[np.float32] | None,
    batch: Sequence[str],
) -> list[Words]:
    """The words of every text after one standard."""
    begins = np.asarray(meaning.starts)[labels]
    begins[1:] &= np.asarray(meaning.ends)[labels[:-1]]
    begins |= units.is_apart
    begins[units.sentence[:-1]] = True
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(labels)) - 1
    start, end = units.start[first], units.end[last]
    names = None if None in meaning.tags else [str(tag) for tag in meaning.tags]
    tags = None if names is None else [names[label] for label in labels[first].tolist()]
    confidence = None if sure is None else np.minimum.reduceat(sure, first).astype(np.float64)
    words_before = np.searchsorted(first, units.sentence)  # [sentences + 1]
    found = []
    for a, b in itertools.pairwise(units.text.tolist()):
        edges = words_before[a : b + 1]
        part = slice(int(edges[0]), int(edges[-1]))
        found.append(
            Words(
                start[part],
                end[part],
                edges - edges[0],
                None if tags is None else tags[part],
                None if confidence is None else confidence[part],
            )
        )
    return found


def load(path: str | Path) -> Analyzer:
    """The analyser in a model file."""
    model = load_model(path)
    if isinstance(model, MultitaskTagger | TwoChainTagger):
        raise ConfigError(
            f"{path}: an analyser cannot stand on a model of kind {model.kind} yet",
            "use `duilian tag` or `duilian segment`",
        )
    return Analyzer(model)

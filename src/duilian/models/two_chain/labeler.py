"""Two chains in the role of a labeler: the letter and the tag of a unit form one label."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np

from duilian import _native
from duilian.errors import ConfigError
from duilian.labels.encoding import Encoding
from duilian.labels.segments import ChunkSegments, Ints, WordSegments, label_letters, letter_numbers
from duilian.labels.units import UnitBatch
from duilian.models.crf.predictor import PROBABILITIES, abilities_of
from duilian.models.roles import Ability, Ask, Constraints, Labels, Ranked, SideLabels, with_first
from duilian.models.two_chain.predictor import NO_LETTERS, TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel


class LetterTagLabels:
    """The labels of letters with tags, or of letters alone."""

    def __init__(self, segments: WordSegments | ChunkSegments, *, is_alone: bool) -> None:
        self._is_alone = is_alone
        letters, kinds = len(label_letters(segments.scheme)), len(segments.kinds)
        if isinstance(segments, WordSegments):
            joins = (segments.join_letters, segments.join_digits)
            self.encoding = Encoding("char", None, segments.scheme, *joins) if is_alone else segments
            table = np.arange(letters * kinds).reshape(letters, kinds)
            self._label = (table // kinds if is_alone else table).astype(np.int32)  # [letters, tags]
            return
        self.encoding = Encoding("word", ("B", "I") if is_alone else segments.tags)
        names = segments.names(is_alone=is_alone)
        self._label = np.array([[self.encoding.number[name] for name in row] for row in names], np.int32)

    def __call__(self, letters: Ints, tags: Ints) -> Ints:
        """The labels of letters with tags; if letters are alone, tags are ignored."""
        found: Ints = self._label[letters, 0 if self._is_alone else tags]
        return found


class TwoChainLabeler:
    """Labels units with two chains in one mode. At word level, the labels are those of chunks."""

    kind = TwoChainModel.kind

    def __init__(self, predictor: TwoChainPredictor) -> None:
        self._predictor, self._packer = predictor, predictor.packer
        self.standards = (predictor.standard,)

    def __reduce__(self) -> tuple[Any, ...]:
        return TwoChainLabeler, (self._predictor,)

    @property
    def reads(self) -> Literal["text", "words"]:
        """Words if boundaries are given, or at word level; else text."""
        is_words = self._predictor.level == "word" or self._predictor.mode == "tag"
        return "words" if is_words else "text"

    @property
    def abilities(self) -> frozenset[Ability]:
        """No constraints, and probabilities only in mode `joint`."""
        own = abilities_of(self._labels.encoding)
        if self._predictor.mode == "tag":
            return own - {Ability.WORDS}
        return own | (PROBABILITIES if self._predictor.mode == "joint" else {Ability.NBEST})

    @property
    def way_out(self) -> str:
        """A hint for requests that it cannot answer."""
        return "use a model of kind crf" if self._predictor.mode == "joint" else "use mode 'joint'"

    @cached_property
    def _labels(self) -> LetterTagLabels:
        return LetterTagLabels(self._packer.encoding, is_alone=self._predictor.segment_only)

    def encoding(self, standard: str) -> Encoding:
        """How annotation becomes labels."""
        return self._labels.encoding

    def _pack(self, batch: UnitBatch) -> _native.Sentences:
        if self._packer.templates.columns:
            return self._packer.pack(batch.pieces, batch.layers)
        return batch.packed(self._packer.reading)

    def _given_letters(self, batch: UnitBatch) -> Ints:
        if self._predictor.mode != "tag":
            return NO_LETTERS
        encoding = self._packer.encoding
        if isinstance(encoding, WordSegments):
            assert batch.word is not None
            sizes = [np.diff(batch.word, append=len(batch)).tolist()]
            if 0 in sizes[0]:
                words = [(s, word) for s, layer in enumerate(batch.layers, start=1) for word in layer.words]
                s, word = words[sizes[0].index(0)]
                raise ConfigError(f"sentence {s}: the word {word!r} has no visible character")
        else:
            sizes = encoding.segment(batch.layers, is_given=True).sizes
        return letter_numbers(encoding.scheme, sizes)

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units; constraints are not supported."""
        packed = self._pack(batch)
        letters, tags = self._predictor.label(packed, self._given_letters(batch), threads=threads)
        label = self._labels(letters, tags)
        if ask.confidence or ask.marginals:
            table = self._predictor.label_marginals(packed, threads=threads)
            return Labels({self.standards[0]: SideLabels.with_table(label, table, ask)})
        return Labels({self.standards[0]: SideLabels(label)})

    def k_best_labels(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int, first: Ints | None = None
    ) -> list[Ranked[Ints]]:
        """The best analyses of a sentence; in mode `segment` they have no probabilities."""
        packed, native, scale = self._pack(sentence), self._predictor.native, self._predictor.model.scale
        is_alone = self._predictor.segment_only
        log_z = np.nan if is_alone else native.log_partition(packed, 0, scale)
        found = [
            Ranked(score, float(np.exp(scale * score - log_z)), self._labels(letters, tags))
            for score, letters, tags in native.k_best(packed, 0, k, is_alone)
        ]
        if first is not None and found and not np.array_equal(found[0].analysis, first):
            return with_first(found, Ranked(found[0].score, found[0].probability, first), k)
        return found

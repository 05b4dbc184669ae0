"""What a multi-task tagger learns from: the sentences of both sides as one body of features.

Each side has the weights of a plain tagger over these features, for the labels a feature was seen with and
for those that the other side's labels map to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import StandardError
from duilian.evaluation import LabelScorer
from duilian.features import pack
from duilian.learning import Scores

if TYPE_CHECKING:
    from duilian.models.multitask.model import MultitaskTagger

Weights = npt.NDArray[np.float32]


class Examples:
    """The sentences of both sides of a tagger that knows its labels and their mapping."""

    def __init__(self, tagger: MultitaskTagger, sides: Sequence[Sequence[Layer]]) -> None:
        self._tagger = tagger
        self.counts = [len(layers) for layers in sides]
        encoded = [encoding.encode(layers) for encoding, layers in zip(tagger.encodings_, sides, strict=True)]
        if any((each.label < 0).any() for each in encoded):
            raise StandardError("a multi-task tagger learns from whole annotations: every word needs one tag")
        packed = pack([units for each in encoded for units in each.units], tagger.folding_)
        self.keys, rows = _native.index_features(
            tagger.templates_.native, packed, tagger.min_count, tagger.threads
        )
        labels = [each.label for each in encoded]
        is_mean = tagger.expansion == "mean"
        self.training = _native.MultitaskTraining(
            self._layout(0, labels, rows),
            self._layout(1, labels, rows),
            tagger.mapping_.native(is_heard=tagger.hears(0), is_mean=is_mean),
            tagger.mapping_.T.native(is_heard=tagger.hears(1), is_mean=is_mean),
            tagger.expansion == "best",
            rows,
            packed.first,
            np.repeat(np.arange(2, dtype=np.int32), self.counts),
            np.concatenate(labels),
        )

    def _layout(
        self,
        side: int,
        label: Sequence[npt.NDArray[np.int32]],
        rows: _native.FeatureRows,
    ) -> _native.TaggerLayout:
        """A feature gets weights for the labels it was seen with, and for what the other side's map to."""
        tagger = self._tagger
        mapping = tagger.mapping_ if side == 1 else tagger.mapping_.T  # from the other side to this one
        other = label[1 - side]
        sizes, partners = mapping.matrix.sum(axis=1)[other], [np.flatnonzero(row) for row in mapping.matrix]
        mapped = np.concatenate([partners[each] for each in other] or [np.zeros(0)]).astype(np.int32)
        none, open_ = np.zeros(len(label[side]), np.int64), np.full(len(other), -1, np.int32)
        own_first = side == 0
        flat = np.concatenate([none, sizes] if own_first else [sizes, none])
        sets = _native.TagSets(np.concatenate([[0], np.cumsum(flat)]).astype(np.int32), mapped)
        known = np.concatenate([label[side], open_] if own_first else [open_, label[side]])
        first = np.array([0, len(known)], np.int64)  # as one long sentence: only units matter here
        data = _native.TaggingData(rows, first, known, sets)
        encoding = tagger.encodings_[side]
        return _native.lay_out_tagger(
            len(encoding.labels), encoding.succession.native(), len(self.keys), data, tagger.full_from
        )

    def draw(
        self, samples: Sequence[int | None] | None
    ) -> Callable[[np.random.Generator], npt.NDArray[np.int64]]:
        """What an iteration learns from: so many sentences of each side, all if there is no number."""
        most, counts = samples or (None, None), self.counts

        def draw(rng: np.random.Generator) -> npt.NDArray[np.int64]:
            first = rng.permutation(counts[0])[: most[0]]
            second = counts[0] + rng.permutation(counts[1])[: most[1]]
            return rng.permutation(np.concatenate([first, second])).astype(np.int64)

        return draw

    def fingerprint(self) -> str:
        """Tells this run of training from others."""
        hidden = ("threads", "iterations", "mapping")
        settings = [pair for pair in sorted(self._tagger.get_params().items()) if pair[0] not in hidden]
        digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
        for part in (self.keys, self._tagger.mapping_.matrix):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def evaluator(self, dev: Sequence[Sequence[Layer] | None]) -> Callable[[Weights], Scores]:
        """F1 of words with their tags on each side's dev set."""
        index = _native.FeatureIndex(self.keys)
        sides = {
            standard: self._side_evaluator(index, side, layers)
            for side, (standard, layers) in enumerate(zip(self._tagger.standards, dev, strict=True))
            if layers is not None
        }

        def evaluate(weights: Weights) -> Scores:
            found = {standard: score(weights) for standard, score in sides.items()}
            return Scores(tuple(found.values()), found)

        return evaluate

    def _side_evaluator(
        self, index: _native.FeatureIndex, side: int, layers: Sequence[Layer]
    ) -> Callable[[Weights], float]:
        tagger, training = self._tagger, self.training
        encoding = tagger.encodings_[side]
        split = [encoding.split(layer.words) for layer in layers]
        packed = pack([units for units, _ in split], tagger.folding_)
        rows = _native.extract_rows(tagger.templates_.native, packed, index, tagger.threads)
        tags = [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
        sizes = [size for _, counts in split for size in counts]
        scorer = LabelScorer(encoding.meaning, packed.first, sizes, tags)
        return lambda weights: (
            scorer.score(training.tag(weights, side, rows, packed.first, tagger.threads)).f1
        )

"""Probabilities of the tags of words, and of the best analyses.

The search for the best analysis tries few candidates and divides all probability among them. This one tries
more, in about twice the time, so that what is pruned hardly counts; the words and tags of a single analysis
still come from the other search.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.engine.segmentation import Segmentation
from duilian.labels.units import Ints, UnitBatch, packed_for
from duilian.errors import ConfigError
from duilian.labels.encoding import Encoding
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS
from duilian.models import CoupledTagger, Tagger
from duilian.models.coupled.predictor import CoupledPredictor
from duilian.models.crf.uncalibrated import UncalibratedTagger

MIN_PROBABILITY = 1e-4  # less probable tags are not reported


class LabelRows(NamedTuple):
    """Probable labels of units, one row per unit and label."""

    unit: Ints
    label: npt.NDArray[np.int32]
    p: npt.NDArray[np.float64]


class Marginals:
    """Probabilities of a model's labels."""

    def __init__(self, model: Tagger | CoupledTagger) -> None:
        self._model = model

    @functools.cached_property
    def _wide(self) -> CoupledPredictor:
        """A predictor that prunes less; it has its own copy of the tables."""
        assert isinstance(self._model, CoupledTagger)
        return self._model.predictor_.wide()

    def k_best(
        self, side: int, units: UnitBatch, constraints: Sequence[_native.Constraints], k: int
    ) -> list[tuple[float, npt.NDArray[np.int32]]]:
        """Return probability and labels of the best analyses of one sentence in one standard."""
        if not isinstance(self._model, CoupledTagger):
            return self._model.predictor_.k_best_labels(units.pieces[0], constraints, k)
        return self._wide.k_best_labels(packed_for(self._model, units), side, constraints, k)

    def rows(
        self, units: UnitBatch, constraints: Sequence[_native.Constraints], threads: int
    ) -> list[LabelRows]:
        """Return the rows of each standard."""
        if isinstance(self._model, UncalibratedTagger):
            kind = self._model.kind
            raise ConfigError(f"a model of kind {kind!r} has no probabilities", "use a model of kind crf")
        if not isinstance(self._model, CoupledTagger):
            packed = packed_for(self._model, units)
            native = self._model.predictor_.native
            table = native.predict_marginals(packed, [*constraints, NO_CONSTRAINTS][0], threads)
            unit, label = np.nonzero(table)
            return [LabelRows(unit, label.astype(np.int32), table[unit, label])]
        packed = packed_for(self._model, units)
        answers, _ = self._wide.label_packed(packed, constraints, threads, with_candidates=True)
        return [_label_rows(answers, side) for side in range(len(self._model.standards))]


def _label_rows(answers: _native.CoupledAnswers, side: int) -> LabelRows:
    sets = answers.candidates(side)
    unit = np.repeat(np.arange(len(sets.first) - 1), np.diff(sets.first))
    return LabelRows(unit, sets.tags, answers.candidate_p(side).astype(np.float64))


def with_marginals(found: Segmentation, encoding: Encoding, rows: LabelRows) -> Segmentation:
    """Add the probabilities of all possible tags of each word as segmented, best first.

    The probability of a word with a tag is that of its least certain unit, as everywhere.
    """
    if encoding.tags is None:
        return found
    tags, width = encoding.tags, len(encoding.tags)  # label = letter · width + tag
    lengths = np.diff(found.first, append=len(found.units))
    letter = found.unit_labels // width
    rows = LabelRows(*(each[rows.label // width == letter[rows.unit]] for each in rows))
    key = np.repeat(np.arange(len(found.first)), lengths)[rows.unit] * width + rows.label % width
    order = np.argsort(key, kind="stable")
    kinds, begin, count = np.unique(key[order], return_index=True, return_counts=True)
    p = np.minimum.reduceat(rows.p[order], begin) if len(begin) else rows.p
    word, tag = kinds // width, kinds % width
    # All units of a word must allow its tag; the tag that was found is always kept.
    is_found = found.labels[word] % width == tag
    is_kept = (count == lengths[word]) & ((p >= MIN_PROBABILITY) | is_found)
    best = np.flatnonzero(is_kept)[np.lexsort((-p[is_kept], word[is_kept]))]
    marginals: list[dict[str, float]] = [{} for _ in range(len(found.first))]
    for k, name, each in zip(word[best].tolist(), tag[best].tolist(), p[best].tolist(), strict=True):
        marginals[k][tags[name]] = each
    names = [tags[label] for label in (found.labels % width).tolist()]
    confidence = np.array([each.setdefault(name, 0.0) for each, name in zip(marginals, names, strict=True)])
    return dataclasses.replace(found, confidence=confidence, marginals=marginals)

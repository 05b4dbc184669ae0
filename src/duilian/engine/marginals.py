"""How probable the tags of words and the best analyses are, for those who ask.

A search for the best analysis tries few candidates, and gives them all the probability. Here more are tried,
in about twice the time, so that what is left out hardly counts; words and tags are still those of the other
search.
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
from duilian.engine.units import Ints, Units, packed_for
from duilian.errors import ConfigError
from duilian.labels.encoding import Encoding
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS
from duilian.models import CoupledTagger, Tagger
from duilian.models.coupled.predictor import CoupledPredictor
from duilian.models.crf.uncalibrated import UncalibratedTagger

MIN_PROBABILITY = 1e-4  # less probable tags are not told


class LabelRows(NamedTuple):
    """Labels with their probabilities, by unit."""

    unit: Ints
    label: npt.NDArray[np.int32]
    p: npt.NDArray[np.float64]


class Marginals:
    """The probabilities of a model's labels, of words with their tags."""

    def __init__(self, model: Tagger | CoupledTagger) -> None:
        self._model = model

    @functools.cached_property
    def _wide(self) -> CoupledPredictor:
        """The model with more candidates; its tables are made once more."""
        assert isinstance(self._model, CoupledTagger)
        return self._model.predictor_.wide()

    def k_best(
        self, side: int, units: Units, constraints: Sequence[_native.Wishes], k: int
    ) -> list[tuple[float, npt.NDArray[np.int32]]]:
        """Probability and labels of the best analyses of one sentence in the standard of this number."""
        if not isinstance(self._model, CoupledTagger):
            return self._model.predictor_.k_best_labels(units.pieces[0], constraints, k)
        return self._wide.k_best_labels(packed_for(self._model, units), side, constraints, k)

    def rows(self, units: Units, constraints: Sequence[_native.Wishes], threads: int) -> list[LabelRows]:
        """For each standard."""
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
        return [_rows(answers, side) for side in range(len(self._model.standards))]


def _rows(answers: _native.CoupledAnswers, side: int) -> LabelRows:
    sets = answers.candidates(side)
    unit = np.repeat(np.arange(len(sets.first) - 1), np.diff(sets.first))
    return LabelRows(unit, sets.tags, answers.candidate_p(side).astype(np.float64))


def with_marginals(found: Segmentation, encoding: Encoding, rows: LabelRows) -> Segmentation:
    """Words with the probabilities of all tags that they might have as they are cut, best first.

    The probability of a word with a tag is that of its least sure unit, as everywhere.
    """
    if encoding.tags is None:
        return found
    tags, width = encoding.tags, len(encoding.tags)  # labels are numbered letter by letter
    lengths = np.diff(found.first, append=len(found.units))
    letter = found.unit_labels // width
    rows = LabelRows(*(each[rows.label // width == letter[rows.unit]] for each in rows))
    key = np.repeat(np.arange(len(found.first)), lengths)[rows.unit] * width + rows.label % width
    order = np.argsort(key, kind="stable")
    kinds, begin, count = np.unique(key[order], return_index=True, return_counts=True)
    p = np.minimum.reduceat(rows.p[order], begin) if len(begin) else rows.p
    word, tag = kinds // width, kinds % width
    # A tag that some unit of the word cannot have is none of its tags; the one that was found always is.
    own = found.labels[word] % width == tag
    is_told = (count == lengths[word]) & ((p >= MIN_PROBABILITY) | own)
    best = np.flatnonzero(is_told)[np.lexsort((-p[is_told], word[is_told]))]
    marginals: list[dict[str, float]] = [{} for _ in range(len(found.first))]
    for k, name, each in zip(word[best].tolist(), tag[best].tolist(), p[best].tolist(), strict=True):
        marginals[k][tags[name]] = each
    names = [tags[label] for label in (found.labels % width).tolist()]
    sure = np.array([each.setdefault(name, 0.0) for each, name in zip(marginals, names, strict=True)])
    return dataclasses.replace(found, confidence=sure, marginals=marginals)

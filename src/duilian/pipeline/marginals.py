"""How probable the tags of words and the best analyses are, for those who ask.

A search for the best analysis tries few candidates, and gives them all probability. Here more are tried, in
about twice the time, so that what is left out hardly counts; words and tags of one analysis are those of the
other search.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.models import CoupledTagger, Tagger
from duilian.models.coupled_storage import AVERAGE
from duilian.models.encoding import Encoding
from duilian.models.margin import MarginTagger
from duilian.models.wishing import NO_WISHES
from duilian.pipeline.found import Found
from duilian.pipeline.units import Ints, Units, packed_for

MARGIN = 8.0  # bundles that look so much worse (in nats) than the best of their unit are not tried
LEAST = 1e-4  # less probable tags are not told


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
    def _wide(self) -> _native.CoupledPredictor:
        """The model with more candidates; its weights are kept once more."""
        assert isinstance(self._model, CoupledTagger)
        tagger, known = object.__new__(CoupledTagger), self._model.predictors_[AVERAGE]
        tagger.__dict__ |= self._model.__dict__ | {"mass": 1.0, "margin": MARGIN}
        return tagger.make_predictor(known.shape, known.weights)

    def k_best(
        self, side: int, units: Units, wishes: Sequence[_native.Constraints], k: int
    ) -> list[tuple[float, npt.NDArray[np.int32]]]:
        """Probability and labels of the best analyses of one sentence after the standard of this number."""
        if not isinstance(self._model, CoupledTagger):
            return self._model.k_best_labels(units.pieces[0], wishes, k)
        log_z, found = self._wide.k_best(packed_for(self._model, units), side, list(wishes), k)
        return [(float(np.exp(score - log_z)), labels) for score, labels in found]

    def rows(self, units: Units, wishes: Sequence[_native.Constraints], threads: int) -> list[LabelRows]:
        """For each standard."""
        if isinstance(self._model, MarginTagger):
            kind = self._model.kind
            raise ConfigError(f"a model of kind {kind!r} has no probabilities", "use a model of kind crf")
        if not isinstance(self._model, CoupledTagger):
            packed = packed_for(self._model, units)
            table = self._model.predictor_.predict_marginals(packed, [*wishes, NO_WISHES][0], threads)
            unit, label = np.nonzero(table)
            return [LabelRows(unit, label.astype(np.int32), table[unit, label])]
        packed = packed_for(self._model, units)
        answers, _ = self._wide.predict_constrained(packed, list(wishes), True, threads)
        return [_rows(answers, side) for side in range(len(self._model.standards))]


def _rows(answers: _native.CoupledAnswers, side: int) -> LabelRows:
    sets = answers.candidates(side)
    unit = np.repeat(np.arange(len(sets.first) - 1), np.diff(sets.first))
    return LabelRows(unit, sets.tags, answers.candidate_p(side).astype(np.float64))


def with_marginals(found: Found, encoding: Encoding, rows: LabelRows) -> Found:
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
    is_told = (count == lengths[word]) & ((p >= LEAST) | own)
    best = np.flatnonzero(is_told)[np.lexsort((-p[is_told], word[is_told]))]
    marginals: list[dict[str, float]] = [{} for _ in range(len(found.first))]
    for k, name, each in zip(word[best].tolist(), tag[best].tolist(), p[best].tolist(), strict=True):
        marginals[k][tags[name]] = each
    names = [tags[label] for label in (found.labels % width).tolist()]
    sure = np.array([each.setdefault(name, 0.0) for each, name in zip(marginals, names, strict=True)])
    return dataclasses.replace(found, confidence=sure, marginals=marginals)

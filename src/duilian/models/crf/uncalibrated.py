"""Taggers whose scores are not probabilities: all the answers of a plain tagger except those."""

from __future__ import annotations

from typing import Any, NoReturn

from duilian.errors import ConfigError
from duilian.models.crf.model import Tagger
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel


class UncalibratedPredictor(CrfPredictor):
    """Answers without probabilities."""

    def __init__(self, model: CrfModel) -> None:
        super().__init__(model)
        self._kind = model.kind

    def marginals(self, *_: Any, **__: Any) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"a model of kind {self._kind!r} has no probabilities", "use a model of kind crf")

    def k_best(self, *_: Any, **__: Any) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"a model of kind {self._kind!r} has no n best", "use a model of kind crf")

    k_best_labels = k_best


class UncalibratedTagger(Tagger):
    """A tagger whose scores are not probabilities."""

    predictor_type = UncalibratedPredictor

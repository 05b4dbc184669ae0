"""Taggers whose scores are not probabilities: all the answers of a plain tagger except those."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from duilian.errors import ConfigError
from duilian.models.crf.model import Tagger
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel


class UncalibratedPredictor(CrfPredictor):
    """Answers without probabilities."""

    detail: ClassVar[str] = ""  # which models of the kind have none
    way_out: ClassVar[str] = "use a model of kind crf"

    def __init__(self, model: CrfModel) -> None:
        super().__init__(model)
        self._name = f"a model of kind {model.kind!r}{self.detail}"

    def marginals(self, *_: Any, **__: Any) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"{self._name} has no probabilities", self.way_out)

    def k_best(self, *_: Any, **__: Any) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"{self._name} has no n best", self.way_out)

    k_best_labels = k_best


class UncalibratedTagger(Tagger):
    """A tagger whose scores are not probabilities."""

    predictor_type = UncalibratedPredictor

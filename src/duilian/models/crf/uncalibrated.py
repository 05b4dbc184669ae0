"""Taggers whose scores are not probabilities: all the answers of a plain tagger except those."""

from __future__ import annotations

from typing import ClassVar

from duilian.models.crf.model import Tagger
from duilian.models.crf.predictor import PROBABILITIES, CrfPredictor
from duilian.models.roles import Ability


class UncalibratedPredictor(CrfPredictor):
    """Answers without probabilities."""

    way_out: ClassVar[str] = "use a model of kind crf or coupled"

    @property
    def abilities(self) -> frozenset[Ability]:
        """Those of a plain tagger, without probabilities."""
        return super().abilities - PROBABILITIES


class UncalibratedTagger(Tagger):
    """A tagger whose scores are not probabilities."""

    predictor_type = UncalibratedPredictor

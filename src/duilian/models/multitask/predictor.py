"""One side of a multi-task tagger with expansion `best`, compiled for answering; others are plain taggers."""

from __future__ import annotations

from typing import ClassVar, cast

from duilian import _native
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.uncalibrated import UncalibratedPredictor
from duilian.models.multitask.storage import SideModel


class BestSidePredictor(UncalibratedPredictor):
    """Answers in one standard, with a search that picks the best of the mapped labels."""

    way_out: ClassVar[str] = "train it with expansion 'mean' or 'all'"

    def compile(self, model: CrfModel) -> _native.Predictor:
        other = cast(SideModel, model).other
        assert other is not None
        best = _native.BestExpansionPredictor(
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            model.weights,
            len(other.encoding.labels),
            other.encoding.succession.native(),
            other.weights,
            other.mapping,
            self.templates.native,
            self.packer.reading.native,
        )
        return cast(_native.Predictor, best)  # it has all that an uncalibrated tagger needs

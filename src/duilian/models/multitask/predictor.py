"""One side of a multi-task tagger compiled for answering."""

from __future__ import annotations

from typing import cast

from duilian import _native
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.uncalibrated import UncalibratedPredictor
from duilian.models.multitask.storage import SideModel


class SidePredictor(UncalibratedPredictor):
    """Answers in one standard: a plain tagger's, or a search that picks the best of the mapped labels."""

    def _compile(self, model: CrfModel) -> _native.Predictor:
        other = cast(SideModel, model).other
        if other is None:
            return super()._compile(model)
        best = _native.BestExpansionPredictor(
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            model.weights,
            len(other.encoding.labels),
            other.encoding.succession.native(),
            other.weights,
            other.mapping,
            self.templates.native,
            self.packer.folding.native,
        )
        return cast(_native.Predictor, best)  # it has all that an uncalibrated tagger asks

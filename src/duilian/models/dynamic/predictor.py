"""The tagger with dynamic features compiled for answering."""

from __future__ import annotations

from duilian import _native
from duilian.models.crf.uncalibrated import UncalibratedPredictor
from duilian.models.dynamic.packing import label_words, native_templates
from duilian.models.dynamic.storage import DynamicModel


class DynamicPredictor(UncalibratedPredictor):
    """Answers of a tagger with dynamic features: words and tags."""

    def _compile(self, model: DynamicModel) -> _native.DynamicPredictor:  # type: ignore[override]
        search = model.config.search
        return _native.DynamicPredictor(
            len(self.encoding.labels),
            self.encoding.succession.native(),
            model.weights,
            self.templates.native,
            native_templates(model.word_templates),
            self.packer.folding.native,
            label_words(self.encoding),
            search.beam,
            *search.limits(),
        )

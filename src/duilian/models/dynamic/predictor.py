"""The tagger with dynamic features compiled for answering."""

from __future__ import annotations

from duilian import _native
from duilian.features import Templates
from duilian.labels.encoding import Encoding
from duilian.models.crf.uncalibrated import UncalibratedPredictor
from duilian.models.dynamic.storage import DynamicModel


class DynamicPredictor(UncalibratedPredictor):
    """Answers of a tagger with dynamic features: words and tags."""

    def compile(self, model: DynamicModel) -> _native.DynamicPredictor:  # type: ignore[override]
        search = model.config.search
        return _native.DynamicPredictor(
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            model.weights,
            self.templates.native,
            native_templates(model.word_templates),
            self.packer.reading.native,
            label_words(self.encoding_),
            search.beam,
            *search.limits(),
        )


def label_words(encoding: Encoding) -> _native.LabelWords:
    """Which labels begin and end words, and the tags they stand for."""
    tags = [str(encoding.boundaries.split(label)[1]) for label in encoding.labels]
    return _native.LabelWords(encoding.succession.start.tolist(), encoding.succession.end.tolist(), tags)


def native_templates(templates: Templates | None) -> _native.TemplateSet:
    """The native templates; without templates, an empty set."""
    return _native.TemplateSet() if templates is None else templates.native

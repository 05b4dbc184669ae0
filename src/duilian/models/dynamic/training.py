"""Training the tagger with dynamic features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError, TemplateError
from duilian.features import Templates
from duilian.learning import AdaGrad, Learning, PassiveAggressive, PassiveAggressiveRule, Rule
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.training import CrfTrainer, Weights
from duilian.models.dynamic.config import DynamicConfig
from duilian.models.dynamic.english_uses import COLUMNS, DynamicPacker, EnglishUses
from duilian.models.dynamic.predictor import label_words, native_templates
from duilian.models.dynamic.storage import DynamicModel

TEMPLATES = "mixed-static"


class DynamicTrainer(CrfTrainer):
    """A training run of the tagger with dynamic features."""

    model_type: ClassVar[type[CrfModel]] = DynamicModel
    config: DynamicConfig
    packer: DynamicPacker

    def templates(self) -> Templates:
        return self.config.features.load_templates(TEMPLATES)

    def make_packer(self, layers: Sequence[Layer]) -> DynamicPacker:
        plain, features = super().make_packer(layers), self.config.features
        self.word_templates = _word_templates(features.word_templates)
        _check_columns(plain.templates, features.english)
        english = None if features.english is None else EnglishUses.read(features.english)
        return DynamicPacker(plain.encoding, plain.templates, plain.reading, english)

    def prepare(self, layers: Sequence[Layer]) -> tuple[_native.DynamicTraining, npt.NDArray[np.uint64]]:
        encoding, features = self.packer.encoding, self.config.features
        encoded = encoding.encode(layers)
        if (encoded.label < 0).any():
            raise StandardError("a dynamic tagger needs complete annotation: exactly one tag per word")
        self.data = _native.DynamicTraining(
            len(encoding.labels),
            encoding.succession.native(),
            label_words(encoding),
            self.packer.templates.native,
            native_templates(self.word_templates),
            self.pack_training(encoded.units, layers),
            encoded.label,
            features.min_count,
            features.min_word_count,
            features.full_from,
            *self.config.search.limits(),
            self.session.threads,
        )
        self.layout = self.data.layout
        return self.data, self.data.keys

    def make_rule(self, data: Any, examples: int, learning: Learning) -> Rule:
        if isinstance(learning, PassiveAggressive):
            return PassiveAggressiveRule(data, learning)
        assert isinstance(learning, AdaGrad)
        return learning.rule(_native.DynamicObjective(data), examples, self.session.threads)

    def label_dev(
        self, packed: _native.Sentences, keys: npt.NDArray[np.uint64]
    ) -> Callable[[Weights], npt.NDArray[np.int32]]:
        data, threads = self.data, self.session.threads
        rows = data.rows(self.packer.templates.native, packed, threads)
        return lambda weights: data.tag(weights, packed, rows, threads)

    def parts(self) -> dict[str, Any]:
        parts, features = super().parts(), self.config.features
        words = None if self.word_templates is None else features.named(self.word_templates)
        named = {
            "word_templates": None if words is None else words.name,
            "english": None if features.english is None else Path(features.english).name,
        }
        config = parts["config"].updated({"features": named})
        return parts | {"config": config, "word_templates": words, "english": self.packer.english}

    def model_maker(self, weights: Weights, keys: npt.NDArray[np.uint64]) -> Callable[[float], CrfModel]:
        """A function that makes the model; it drops weights of words up to five times the size."""
        layout, unit_rows, parts = self.layout, self.data.unit_rows, self.parts()
        words = label_words(self.packer.encoding)

        def make(min_weight: float) -> CrfModel:
            compiled = _native.compile_dynamic(layout, weights, keys, unit_rows, words, min_weight)
            return DynamicModel(**parts, weights=compiled)

        return make


def _check_columns(templates: Templates, english: str | None) -> None:
    asked = [name for name in templates.columns if name not in COLUMNS]
    if asked:
        raise TemplateError(f"{templates.name}: there is no column {asked[0]!r} for characters")
    if templates.columns and english is None:
        raise ConfigError(f"the templates {templates.name!r} need a dictionary", "name it with english = '…'")


def _word_templates(name: str | None) -> Templates | None:
    if name is None:
        return None
    found = Templates.load(name)
    if found.has_transitions:
        raise TemplateError(f"{found.name}: t[-1] is not about words; it belongs to the other templates")
    try:
        _native.word_template_columns(found.native)
    except ValueError as error:
        raise TemplateError(f"{found.name}: {error}") from None
    return found

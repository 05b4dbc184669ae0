"""Training the guided tagger, which learns from text with the labels of its guides."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Templates, pack
from duilian.learning import Session, jackknifed
from duilian.models.crf.model import Tagger
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.training import CrfTrainer, Weights
from duilian.models.guided.config import GuidedConfig
from duilian.models.guided.predictor import GuidedPacker
from duilian.models.guided.storage import GuidedModel

TEMPLATES = {"word": "guide-word", "char": "guide-char"}
TEMPLATES_WITH_OWN = {"word": "guide-own-word", "char": "guide-own-char"}


class GuidedTrainer(CrfTrainer):
    """A training run of the guided tagger, with a trained source tagger."""

    model_type: ClassVar[type[CrfModel]] = GuidedModel
    config: GuidedConfig
    packer: GuidedPacker

    def __init__(self, config: GuidedConfig, session: Session, source: Tagger) -> None:
        super().__init__(config, session)
        self.source = source

    def templates(self) -> Templates:
        usual = TEMPLATES_WITH_OWN if self.config.folds else TEMPLATES
        return self.config.features.load_templates(usual[self.config.level])

    def make_packer(self, layers: Sequence[Layer]) -> GuidedPacker:
        plain = super().make_packer(layers)
        self.own = _fit_own(self.config, layers, self.session.threads) if self.config.folds else None
        own = None if self.own is None else CrfPredictor(self.own)
        return GuidedPacker(plain.encoding, plain.templates, plain.reading, self.source.predictor_, own)

    def pack_training(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        packer, threads = self.packer, self.session.threads
        if packer.own is None or not packer.templates.columns:
            return super().pack_training(units, layers)
        columns = packer.columns_with(units, self._own_labels(layers), threads)
        return pack(units, self.readings.training, columns)

    def _own_labels(self, layers: Sequence[Layer]) -> list[list[str]]:
        """The labels of target taggers on training sentences that they have not seen."""
        config, threads = self.config, self.session.threads

        def answer(train: list[Layer], held_out: list[Layer]) -> list[list[str]]:
            predictor = CrfPredictor(_fit_own(config, train, threads))
            return predictor.predict_labels(predictor.packer.units(held_out), threads=threads)

        return list(itertools.chain.from_iterable(jackknifed(layers, config.folds, answer, self.session)))

    def parts(self) -> dict[str, Any]:
        return super().parts() | {"own": self.own}

    def model_maker(self, weights: Weights, keys: npt.NDArray[np.uint64]) -> Callable[[float], CrfModel]:
        """A function that makes the model, with the source as it is then: it may have been trimmed, too."""
        layout, parts, source = self.layout, self.parts(), self.source

        def make(min_weight: float) -> CrfModel:
            compiled = _native.compile_weights(layout, weights, keys, min_weight)
            return GuidedModel(**parts, weights=compiled, source=source.model_)

        return make


def _fit_own(config: GuidedConfig, layers: Sequence[Layer], threads: int) -> CrfModel:
    return CrfTrainer(config.own_config(), Session(threads=threads)).run(layers).model(0.0)

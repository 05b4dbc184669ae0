"""Training the plain tagger: features, a learning rule, the iterations, the best weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import LabelScorer
from duilian.features import Templates
from duilian.learning import (
    AdaGrad,
    ExponentiatedGradient,
    ExponentiatedRule,
    Learning,
    PassiveAggressive,
    PassiveAggressiveRule,
    Rule,
    Session,
    Sgd,
    Trainer,
    fingerprint,
)
from duilian.learning.weight_store import AllWeights
from duilian.models.base.feature_settings import DEFAULT_TEMPLATES
from duilian.models.base.packing import Packer
from duilian.models.base.sentences import tags_of
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel

Weights = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True)
class TrainedCrf:
    """The result of training: the best dev score, the iterations run, and the model."""

    score: float | None
    iterations: int
    model: Callable[[float], CrfModel]
    """Makes the model without state weights smaller than the argument."""


class CrfTrainer:
    """A training run of the plain tagger."""

    model_type: ClassVar[type[CrfModel]] = CrfModel

    def __init__(self, config: CrfConfig, session: Session) -> None:
        self.config, self.session = config, session

    def run(self, layers: Sequence[Layer], dev: Sequence[Layer] | None = None) -> TrainedCrf:
        """Learn from annotated sentences; with a dev set, keep the weights that do best on it."""
        if not layers:
            raise ConfigError("there are no sentences to learn from")
        config = self.config
        layers = config.features.with_copies(layers, config.standard, config.learning.seed)
        self.packer = self.make_packer(layers)
        learning = self.config.learning.with_batch(len(layers))
        data, keys = self.prepare(layers)
        rule, first = self.make_rule(data, len(layers), learning), np.zeros(self.layout.weights, np.float32)
        # Without a dev set, the last weights are kept, and nobody asks for their mean.
        store = AllWeights(first, averages=learning.average and dev is not None)
        trainer = Trainer(rule, self.layout.weights, len(layers), learning, start=store)
        evaluate = self._evaluator(dev, keys) if dev is not None else None
        trainer.run_kept(
            evaluate,
            lambda: fingerprint(self.config, (keys, self.layout.first, self.layout.listed)),
            self.session,
        )
        score = None if evaluate is None else float(trainer.best_score)
        weights, iterations = trainer.best, trainer.iteration
        del trainer, store, rule, first, data, evaluate  # frees memory for the compiled weights
        return TrainedCrf(score, iterations, self.model_maker(weights, keys))

    def model_maker(self, weights: Weights, keys: npt.NDArray[np.uint64]) -> Callable[[float], CrfModel]:
        """A function that makes the model; it holds nothing that only training needs."""
        layout, parts, model_type = self.layout, self.parts(), self.model_type

        def make(min_weight: float) -> CrfModel:
            compiled = _native.compile_weights(layout, weights, keys, min_weight)
            return model_type(**parts, weights=compiled)

        return make

    def parts(self) -> dict[str, Any]:
        """What a model has apart from its weights; templates have a name, but no path."""
        config, templates = self.config, self.config.features.named(self.packer.templates)
        if config.features.templates is not None:
            config = config.updated({"features": {"templates": templates.name}})
        return {
            "config": config.updated({"features": config.features.portable()}),
            "tags": self.packer.encoding.tags,
            "templates": templates,
            "dictionary": self.packer.reading.dictionary,
        }

    def templates(self) -> Templates:
        """The templates of the settings, or those of the kind."""
        return self.config.features.load_templates(DEFAULT_TEMPLATES[self.config.level])

    def make_packer(self, layers: Sequence[Layer]) -> Packer:
        """How the sentences are read, with the labels that their tags need."""
        config = self.config
        tags = None if config.segment_only else tags_of(layers, config.standard)
        encoding = config.features.encoding(config.level, tags)
        self.readings = config.features.readings(layers, config.learning.seed)
        return Packer(encoding, self.templates(), self.readings.full)

    def pack_training(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        """The training sentences as templates see them."""
        packer = dataclasses.replace(self.packer, reading=self.readings.training)
        return packer.pack(units, layers, self.session.threads)

    def prepare(self, layers: Sequence[Layer]) -> tuple[Any, npt.NDArray[np.uint64]]:
        """The training data, the keys of their features, and the layout of the weights."""
        encoding, features = self.packer.encoding, self.config.features
        encoded = encoding.encode(layers)
        packed = self.pack_training(encoded.units, layers)
        keys, rows = _native.index_features(
            self.packer.templates.native, packed, features.min_count, self.session.threads
        )
        data = _native.TaggingData(rows, packed.first, encoded.label, encoded.sets)
        rules = encoding.succession.native()
        self.layout = _native.lay_out_tagger(len(encoding.labels), rules, len(keys), data, features.full_from)
        return data, keys

    def make_rule(self, data: Any, examples: int, learning: Learning) -> Rule:
        """The learning rule of the settings, for these data."""
        if isinstance(learning, ExponentiatedGradient):
            make = lambda c: _native.ExponentiatedGradient(self.layout, data, c)  # noqa: E731
            return ExponentiatedRule(make, learning)
        if isinstance(learning, PassiveAggressive):
            return PassiveAggressiveRule(_structure(self.layout, data), learning)
        objective = _native.TaggingObjective(self.layout, data)
        assert isinstance(learning, AdaGrad | Sgd)
        return learning.rule(objective, examples, self.session.threads)

    def _evaluator(self, layers: Sequence[Layer], keys: npt.NDArray[np.uint64]) -> Callable[[Weights], float]:
        """A function from weights to the score on a dev set, for which features are extracted once."""
        encoding = self.packer.encoding
        split = [encoding.split(layer.words) for layer in layers]
        packed = self.packer.pack([units for units, _ in split], layers, self.session.threads)
        labels_by = self.label_dev(packed, keys)
        tags = None
        if not self.config.segment_only:
            tags = [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
        sizes = [size for _, counts in split for size in counts]
        scorer = LabelScorer(encoding.meaning, packed.first, sizes, tags)
        return lambda weights: scorer.score(labels_by(weights)).f1

    def label_dev(
        self, packed: _native.Sentences, keys: npt.NDArray[np.uint64]
    ) -> Callable[[Weights], npt.NDArray[np.int32]]:
        """A function from weights to the labels of a dev set."""
        layout, threads, index = self.layout, self.session.threads, _native.FeatureIndex(keys)
        rows = _native.extract_rows(self.packer.templates.native, packed, index, threads)
        return lambda weights: _native.tag_units(layout, weights, rows, packed.first, threads)


def _structure(layout: _native.TaggerLayout, data: _native.TaggingData) -> _native.TaggingStructure:
    try:
        return _native.TaggingStructure(layout, data)
    except ValueError as error:
        hint = "use algorithm = 'adagrad' for partly annotated sentences"
        raise ConfigError(str(error), hint) from None

"""Training two chains: sentences with their labels, passes of Algorithm 1, the best weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import are_chunk_labels
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segmentation import Segmentation
from duilian.labels.segments import OUTSIDE, Ints, Segmented, letter_numbers
from duilian.labels.units import units_of_layers
from duilian.learning import PassiveAggressive, PassiveAggressiveRule, Session, Trainer, fingerprint
from duilian.models.base.calibration import calibration_sample, fit_scale, label_loss
from duilian.models.two_chain.config import TwoChainConfig
from duilian.models.two_chain.labeler import LetterTagLabels
from duilian.models.two_chain.predictor import TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel, TwoChainPacker

Weights = npt.NDArray[np.float32]

DEFAULT_TEMPLATES = {"word": "chunk", "char": "segpos-char"}


@dataclasses.dataclass(frozen=True)
class TrainedTwoChain:
    """The result of training: the best dev score, the iterations run, and the model."""

    score: float | None
    iterations: int
    model: Callable[[float], TwoChainModel]
    """Makes the model without weights smaller than the argument."""


@dataclasses.dataclass(frozen=True)
class TwoChainExamples:
    """Training data of two chains: features and labels of sentences, and the layout of the weights."""

    packer: TwoChainPacker
    sentences: int
    keys: npt.NDArray[np.uint64]
    data: _native.TwoChainData
    layout: _native.TwoChainLayout

    @classmethod
    def of(
        cls, config: TwoChainConfig, annotated: Sequence[Layer], segmented: Sequence[Layer] = ()
    ) -> TwoChainExamples:
        """Examples from sentences with tags, and from the boundaries of `segmented` ones."""
        layers, further = informative(annotated, config.level), informative(segmented, config.level)
        if not layers:
            raise ConfigError("there are no annotated sentences to learn from")
        features = config.features
        layers = features.with_copies(layers, config.standard, config.learning.seed)
        kinds = segment_kinds(layers, config.level, config.standard)
        templates = features.asking(
            CliqueTemplates.load(features.templates or DEFAULT_TEMPLATES[config.level])
        )
        readings = features.readings([*layers, *further], config.learning.seed)
        packer = TwoChainPacker.of(config, kinds, templates, readings.full.dictionary)
        segment, shape = packer.encoding.segment, packer.shape
        a, b = segment(layers, is_given=False), segment(further, is_given=True)
        everything = Segmented(a.units + b.units, a.sizes + b.sizes, a.tags + b.tags)
        in_training = dataclasses.replace(packer, reading=readings.training)
        packed = in_training.pack(everything.units, [*layers, *further])
        keys, places, rows = _native.index_two_chain(shape, templates.native, packed, features.min_count)
        data = native_data(packer, everything, packed, rows)
        layout = _native.lay_out_two_chain(shape, data, places, features.full_from)
        return cls(packer, len(everything.units), keys, data, layout)


class TwoChainTrainer:
    """A training run of two chains."""

    def __init__(self, config: TwoChainConfig, session: Session) -> None:
        self.config, self.session = config, session

    def run(
        self, annotated: Sequence[Layer], segmented: Sequence[Layer], dev: Sequence[Layer] | None = None
    ) -> TrainedTwoChain:
        """Learn from annotated sentences, and boundaries from segmented ones; with a dev set, keep the
        weights that do best on it, and fit the scale of probabilities to it.
        """
        config, examples = self.config, TwoChainExamples.of(self.config, annotated, segmented)
        keys, layout = examples.keys, examples.layout
        learning = cast(PassiveAggressive, config.learning)
        modes = [_native.TwoChainMode[mode] for mode in config.modes]
        structure = _native.TwoChainStructure(layout, examples.data, modes, 1.0, config.cost == "label")
        # The rule averages over all rounds already: the mean over iterations would add nothing.
        passes = dataclasses.replace(learning, average=False)
        rule = PassiveAggressiveRule(structure, learning)
        trainer = Trainer(rule, layout.weights, examples.sentences, passes)
        trainer.run_kept(
            None if dev is None else self._evaluator(examples, dev),
            lambda: fingerprint(config, (keys, layout.first, layout.slot)),
            self.session,
        )
        score = None if dev is None else float(trainer.best_score)
        make = self._maker(examples, trainer.best)
        scale = 1.0 if dev is None else self._scale(make(0.0), dev)
        return TrainedTwoChain(
            score, trainer.iteration, lambda least: dataclasses.replace(make(least), scale=scale)
        )

    def _scale(self, model: TwoChainModel, dev: Sequence[Layer]) -> float:
        predictor, encoding = TwoChainPredictor.of(model), model.packer().encoding
        layers = calibration_sample(informative(dev, self.config.level), encoding.segment)
        segmented = encoding.segment(layers)
        packed = predictor.packer.pack(segmented.units, layers)
        letters, tags = unit_labels(predictor.packer, segmented)
        label = np.where(tags < 0, -1, letters * len(encoding.kinds) + tags)
        return fit_scale(
            lambda scale: label_loss(
                predictor.native.predict_marginals(packed, scale, self.session.threads), label
            )
        )

    def _maker(self, examples: TwoChainExamples, weights: Weights) -> Callable[[float], TwoChainModel]:
        """A function that makes the model; it holds nothing that only training needs, and no paths."""
        layout, keys, tags = examples.layout, examples.keys, examples.packer.encoding.kinds
        templates = examples.packer.templates
        named, config = CliqueTemplates(templates.text, Path(templates.name).name), self.config
        if config.features.templates is not None:
            config = config.updated({"features": {"templates": named.name}})
        config = config.updated({"features": config.features.portable()})
        dictionary = examples.packer.reading.dictionary

        def make(min_weight: float) -> TwoChainModel:
            compiled = _native.compile_two_chain(layout, weights, keys, min_weight)
            return TwoChainModel(config, tags, named, compiled, dictionary=dictionary)

        return make

    def _evaluator(self, examples: TwoChainExamples, dev: Sequence[Layer]) -> Callable[[Weights], float]:
        """A function from weights to the dev score in the first mode; features are extracted once."""
        gold = informative(dev, self.config.level)
        if not gold:
            raise ConfigError("there are no sentences to evaluate on")
        packer, mode, threads = examples.packer, self.config.modes[0], self.session.threads
        segmented = packer.encoding.segment(gold, is_given=True)
        packed = packer.pack(segmented.units, gold)
        labels = LetterTagLabels(packer.encoding, is_alone=mode == "segment")
        units = units_of_layers(gold, labels.encoding).joined()
        index = _native.FeatureIndex(examples.keys)
        rows = _native.find_two_chain(packer.shape, packer.templates.native, packed, index)
        data = native_data(packer, segmented, packed, rows)

        def evaluate(weights: Weights) -> float:
            found = _native.label_two_chain(
                examples.layout, weights, data, _native.TwoChainMode[mode], threads
            )
            guess = Segmentation.from_labels(labels.encoding.meaning, units, labels(*found), None).layers()
            return packer.encoding.score(gold, guess)

        return evaluate


def informative(layers: Sequence[Layer], level: Level) -> list[Layer]:
    """The sentences with boundaries: all at character level; at word level, those with chunk labels."""
    return [layer for layer in layers if level == "char" or any(tag is not None for tag in layer.tags or ())]


def native_data(
    packer: TwoChainPacker, segmented: Segmented, packed: _native.Sentences, rows: _native.FeatureRows
) -> _native.TwoChainData:
    """Features and labels of every unit, for the native core."""
    return _native.TwoChainData(packer.shape, rows, packed.first, *unit_labels(packer, segmented))


def unit_labels(packer: TwoChainPacker, segmented: Segmented) -> tuple[Ints, Ints]:
    """The letters and tags of all units."""
    sizes = np.array([size for row in segmented.sizes for size in row], np.int64)
    tags = np.array([tag for row in segmented.tags for tag in row], np.int32)
    return letter_numbers(packer.encoding.scheme, segmented.sizes), np.repeat(tags, sizes)


def segment_kinds(layers: Sequence[Layer], level: Level, standard: str) -> list[str]:
    """The tags of words, or the types of chunks and O."""
    if level == "char":
        seen = {tag for layer in layers for tag in layer.tags or () if isinstance(tag, str)}
    else:
        typed = [layer.tags for layer in layers if layer.tags and are_chunk_labels(layer.tags)]
        labels = [tag for tags in typed for tag in tags if isinstance(tag, str)]
        names = {tag.partition("-")[2] or tag.partition("@")[2] for tag in labels} - {""}
        seen = names | {OUTSIDE} if names else set()
    if not seen:
        raise StandardError(f"the corpus has no tags in {standard!r} to learn from")
    return sorted(seen)

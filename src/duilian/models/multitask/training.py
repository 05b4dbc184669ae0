"""Training the multi-task tagger on the sentences of both sides, with common features.

Each side has the weights of a plain tagger over these features: for the labels that a feature was seen with,
and for those that the other side's labels map to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import LabelScorer
from duilian.features import Templates, pack
from duilian.labels.encoding import Encoding
from duilian.learning import (
    AdaGrad,
    Learning,
    PassiveAggressive,
    PassiveAggressiveRule,
    Rule,
    Scores,
    Session,
    Trainer,
    fingerprint,
)
from duilian.lexicon.constraint_builder import no_constraints
from duilian.models.base.calibration import calibration_sample, fit_scale, label_loss
from duilian.models.base.dictionary_settings import Readings
from duilian.models.base.sentences import tags_of
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.multitask.config import MultitaskConfig
from duilian.models.multitask.label_mapping import LabelMapping, label_mapping
from duilian.models.multitask.storage import SIDES, MultitaskModel, SideModel, Tables
from duilian.standards import Mapping
from duilian.standards.mapping_table import TABLE_KINDS

Ints = npt.NDArray[np.int32]
Weights = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True)
class TrainedMultitask:
    """The result of training: dev scores on average and by standard, iterations run, and the model."""

    score: float | None
    scores: dict[str, float]
    iterations: int
    model: Callable[[float], MultitaskModel]
    """Makes the model without state weights smaller than the argument."""


@dataclasses.dataclass(frozen=True)
class Labelling:
    """What is fixed before learning: the labels of both sides, their mapping, and templates."""

    config: MultitaskConfig
    encodings: tuple[Encoding, Encoding]
    templates: Templates
    mapping: LabelMapping
    readings: Readings

    @classmethod
    def of(cls, config: MultitaskConfig, sides: Sequence[Sequence[Layer]]) -> Labelling:
        """The labelling for the tags of one corpus per standard."""
        standards = config.standards
        a, b = (
            config.features.encoding("char", tags_of(layers, name))
            for layers, name in zip(sides, standards, strict=True)
        )
        templates = config.features.named(config.features.load_templates("multitask"))
        if templates.columns:
            raise ConfigError("the templates of a multi-task tagger must not use columns")
        tags = tag_mapping(config, a.tags or (), b.tags or ())
        mapping = label_mapping(tags, (a, b), standards, align_names=config.align_names)
        if not mapping.size:
            raise StandardError(f"the mapping relates no tag of {standards[0]!r} to one of the other")
        every = [layer for layers in sides for layer in layers]
        readings = config.features.readings(every, config.learning.seed)
        return cls(config, (a, b), templates, mapping, readings)

    def portable(self) -> MultitaskConfig:
        """The settings as a model stores them: files without paths, and no `Mapping` object."""
        mapping = self.config.mapping
        found = {"mapping": Path(mapping).name if isinstance(mapping, str) else "own"}
        named: dict[str, Any] = (
            {} if self.config.features.templates is None else {"templates": self.templates.name}
        )
        return self.config.updated({**found, "features": named | self.config.features.portable()})


def tag_mapping(config: MultitaskConfig, tags_a: tuple[str, ...], tags_b: tuple[str, ...]) -> Mapping:
    """The mapping between the tags of two corpora."""
    mapping, (a, b) = config.mapping, config.standards
    if isinstance(mapping, Mapping):
        known = [pair for pair in mapping.bundles() if pair[0] in set(tags_a) and pair[1] in set(tags_b)]
        return Mapping.from_pairs(known, tags_a, tags_b)
    table = f"{a}-{b}.{mapping}" if mapping in TABLE_KINDS else mapping
    return Mapping.from_table(table, tags_a, tags_b, unknown="keep")


class MultitaskTrainer:
    """A training run of the multi-task tagger."""

    def __init__(self, config: MultitaskConfig, session: Session) -> None:
        self.config, self.session = config, session

    def run(
        self, sides: Sequence[Sequence[Layer]], dev: Sequence[Sequence[Layer] | None]
    ) -> TrainedMultitask:
        """Learn from one corpus per standard; with dev sets, keep the weights that do best for each side."""
        features, seed = self.config.features, self.config.learning.seed
        pairs = zip(sides, self.config.standards, strict=True)
        sides = [features.with_copies(layers, standard, seed) for layers, standard in pairs]
        labelling = Labelling.of(self.config, sides)
        examples = MultitaskExamples(labelling, sides, self.session.threads)
        count = sum(examples.counts)
        learning = self.config.learning.with_batch(count)
        scored = [side for side in SIDES if dev[side] is not None]
        trainer = Trainer(
            self._rule(examples.native, count, learning),
            examples.native.weights,
            count,
            learning,
            sides=max(len(scored), 1),
            draw=examples.draw,
        )
        trainer.run_kept(
            examples.evaluator(dev) if scored else None,
            lambda: fingerprint(labelling.portable(), (examples.keys, labelling.mapping.matrix)),
            self.session,
        )
        bests = dict(zip(scored, trainer.bests, strict=False))
        own = bests if learning.keep == "all" else {}
        weights = [own[side].weights if side in own else trainer.best for side in SIDES]
        if isinstance(learning, PassiveAggressive) and self.config.expansion != "best":
            weights = self._calibrated(labelling, examples, weights, dev)
        return TrainedMultitask(
            float(trainer.best_score) if scored else None,
            {self.config.standards[side]: float(best.score) for side, best in bests.items()},
            trainer.iteration,
            _maker(labelling, examples, weights),
        )

    def _calibrated(
        self,
        labelling: Labelling,
        examples: MultitaskExamples,
        weights: Sequence[Weights],
        dev: Sequence[Sequence[Layer] | None],
    ) -> list[Weights]:
        """The weights, scaled to log probabilities for each side that has a dev set."""
        model, threads = _maker(labelling, examples, weights)(0.0), self.session.threads
        return [
            each if layers is None else each * np.float32(side_scale(model.side(side), layers, threads))
            for side, (each, layers) in enumerate(zip(weights, dev, strict=True))
        ]

    def _rule(self, native: _native.MultitaskTraining, examples: int, learning: Learning) -> Rule:
        if isinstance(learning, PassiveAggressive):
            return PassiveAggressiveRule(native, learning)
        assert isinstance(learning, AdaGrad)
        objective = _native.MultitaskObjective(native)
        return learning.rule(objective, examples, self.session.threads)


def side_scale(model: SideModel, dev: Sequence[Layer], threads: int) -> float:
    """The scale of a side's weights under which the labels of its dev set are most probable."""
    packer, own = model.packer(), model.weights
    encoded = packer.encoding.encode(calibration_sample(dev, packer.encoding.encode))
    packed = packer.pack(encoded.units, [])

    def loss(scale: float) -> float:
        times = np.float32(scale)
        scaled = _native.CompiledWeights(own.slot, own.label, own.weight * times, own.transition * times)
        native = CrfPredictor(dataclasses.replace(model, weights=scaled)).native
        return label_loss(native.predict_marginals(packed, no_constraints(), threads), encoded.label)

    return fit_scale(loss)


def _maker(
    labelling: Labelling, examples: MultitaskExamples, weights: Sequence[Weights]
) -> Callable[[float], MultitaskModel]:
    config, native, keys = labelling.portable(), examples.native, examples.keys

    def tables(side: int, min_weight: float) -> Tables:
        needed = (side, 1 - side) if config.expansion == "best" else (side,)
        return tuple(native.compile(weights[side], each, keys, min_weight) for each in needed)

    def make(min_weight: float) -> MultitaskModel:
        both = (tables(0, min_weight), tables(1, min_weight))
        labels, dictionary = labelling, labelling.readings.full.dictionary
        return MultitaskModel(config, labels.encodings, labels.templates, labels.mapping, both, dictionary)

    return make


class MultitaskExamples:
    """The training sentences of both sides, in their order."""

    def __init__(self, labelling: Labelling, sides: Sequence[Sequence[Layer]], threads: int) -> None:
        self._labelling, self._threads = labelling, threads
        self.counts = [len(layers) for layers in sides]
        config, mapping = labelling.config, labelling.mapping
        encoded = [
            encoding.encode(layers) for encoding, layers in zip(labelling.encodings, sides, strict=True)
        ]
        if any((each.label < 0).any() for each in encoded):
            raise StandardError("a multi-task tagger needs complete annotation: exactly one tag per word")
        packed = pack([units for each in encoded for units in each.units], labelling.readings.training)
        self.keys, rows = _native.index_features(
            labelling.templates.native, packed, config.features.min_count, threads
        )
        labels, is_mean = [each.label for each in encoded], config.expansion == "mean"
        self.native = _native.MultitaskTraining(
            self._layout(0, labels, rows),
            self._layout(1, labels, rows),
            mapping.native(is_used=config.takes_from_other(0), is_mean=is_mean),
            mapping.T.native(is_used=config.takes_from_other(1), is_mean=is_mean),
            config.expansion == "best",
            rows,
            packed.first,
            np.repeat(np.arange(2, dtype=np.int32), self.counts),
            np.concatenate(labels),
        )

    def _layout(self, side: int, label: Sequence[Ints], rows: _native.FeatureRows) -> _native.TaggerLayout:
        """A feature has weights for labels it was seen with, and for partners of the other side's labels."""
        mapping = self._labelling.mapping if side == 1 else self._labelling.mapping.T  # from the other side
        other = label[1 - side]
        sizes, partners = mapping.matrix.sum(axis=1)[other], [np.flatnonzero(row) for row in mapping.matrix]
        mapped = np.concatenate([partners[each] for each in other] or [np.zeros(0)]).astype(np.int32)
        none, open_ = np.zeros(len(label[side]), np.int64), np.full(len(other), -1, np.int32)
        is_first = side == 0
        flat = np.concatenate([none, sizes] if is_first else [sizes, none])
        sets = _native.TagSets(np.concatenate([[0], np.cumsum(flat)]).astype(np.int32), mapped)
        known = np.concatenate([label[side], open_] if is_first else [open_, label[side]])
        first = np.array([0, len(known)], np.int64)  # one long sentence, because only units matter here
        data = _native.TaggingData(rows, first, known, sets)
        encoding, full_from = self._labelling.encodings[side], self._labelling.config.features.full_from
        rules = encoding.succession.native()
        return _native.lay_out_tagger(len(encoding.labels), rules, len(self.keys), data, full_from)

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The sentences of an iteration: a sample of each side, or all of it."""
        sample, (a, b) = self._labelling.config.learning.sample, self.counts
        most = sample if isinstance(sample, tuple) else (None, None)
        both = [rng.permutation(a)[: most[0]], a + rng.permutation(b)[: most[1]]]
        return rng.permutation(np.concatenate(both)).astype(np.int64)

    def evaluator(self, dev: Sequence[Sequence[Layer] | None]) -> Callable[[Weights], Scores]:
        """A function from weights to the F1 of words with tags on each side's dev set."""
        index = _native.FeatureIndex(self.keys)
        sides = {
            standard: self._side_evaluator(index, side, layers)
            for side, (standard, layers) in enumerate(zip(self._labelling.config.standards, dev, strict=True))
            if layers is not None
        }

        def evaluate(weights: Weights) -> Scores:
            found = {standard: score(weights) for standard, score in sides.items()}
            return Scores(tuple(found.values()), found)

        return evaluate

    def _side_evaluator(
        self, index: _native.FeatureIndex, side: int, layers: Sequence[Layer]
    ) -> Callable[[Weights], float]:
        native, threads, encoding = self.native, self._threads, self._labelling.encodings[side]
        split = [encoding.split(layer.words) for layer in layers]
        packed = pack([units for units, _ in split], self._labelling.readings.full)
        rows = _native.extract_rows(self._labelling.templates.native, packed, index, threads)
        tags = [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
        sizes = [size for _, counts in split for size in counts]
        scorer = LabelScorer(encoding.meaning, packed.first, sizes, tags)
        return lambda weights: scorer.score(native.tag(weights, side, rows, packed.first, threads)).f1

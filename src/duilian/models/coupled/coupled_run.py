"""One training run of a coupled tagger, from layers to the best weights.

In this order: features of all sides, baseline taggers over them, candidates for pruning, the layout of the
joint features, dev sets, and the iterations (Algorithm 1 of Li et al. 2017: a sample of each side per
iteration, then an evaluation on each side's dev set).
"""

from __future__ import annotations

import dataclasses
import itertools
import logging
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.labels.encoding import no_sets
from duilian.labels.units import units_of_layers
from duilian.learning import AdaGrad, Rule, Session, Sgd, TouchedAdaGradRule, Trainer, fingerprint
from duilian.learning.weight_store import TouchedWeights, small_pages
from duilian.models.base.feature_settings import DEFAULT_TEMPLATES, Features
from duilian.models.base.sentences import tags_of
from duilian.models.coupled.baselines import BaselineTaggers, Reports, offline_candidates, side_mappings
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.conversion_answers import conversion_limits
from duilian.models.coupled.dev_sets import DevEvaluator, DevLayers, DevSet
from duilian.models.coupled.held_labels import HeldLabels
from duilian.models.coupled.predictor import tagging_pruning
from duilian.models.coupled.sampling import SentenceWeights, draw, size, weighted
from duilian.models.coupled.sides import GuidePacker, Sides, gold_labels
from duilian.models.coupled.storage import AVERAGE, CoupledModel, make_shape
from duilian.models.coupled.training_data import Guide, TrainingData, extract_training_data
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.training import CrfTrainer, TrainedCrf
from duilian.standards import Mapping

JOINT_COUNT = {"word": 3, "char": 2}  # joint features exist for attributes seen at least this often
SHARES = {"word": 0.0, "char": 0.3}  # for sides other than the source
JOINT_PRUNING = {"word": (8, 0.98), "char": (4, 0.9)}  # r and λ for the layout of joint features
TRAINING_GAP = 8.0
MAX_JOINT_LABELS = 24_000  # of all joint parts together: labels have 15 bits
LINKED = 1024  # bundles with transition weights
BASELINE_RATE, BASELINE_BATCH = 0.3, 8

_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True)
class TrainedCoupled:
    """The result of training: the best dev scores, the iterations run, and the model."""

    scores: dict[str, float | None]  # by standard, and on average
    iterations: int
    model: Callable[[float], CoupledModel]
    """Makes the model without state weights smaller than the argument."""
    dev_model: Callable[[], CoupledModel]
    """Makes a small model with only the features of the dev sets, whose answers to these are the same."""


@dataclasses.dataclass(frozen=True)
class RunInput:
    """The input of a run, by side; `originals` are the corpora without copies."""

    corpora: Sequence[Sequence[Layer]]
    dev: Sequence[DevLayers | None]
    weights: Sequence[SentenceWeights | None]
    originals: Sequence[Sequence[Layer]]


class CoupledRun:
    """The intermediate data of a run, which are freed before the compiled weights need memory."""

    def __init__(
        self,
        config: CoupledConfig,
        session: Session,
        cache: str | Path | None,
        given: RunInput,
        held: HeldLabels | None,
    ) -> None:
        corpora, dev = given.corpora, given.dev
        self.config, self.session, self.cache = config, session, cache
        self.say, self.threads = self.session.on_stage or _log.info, self.session.threads
        self.sides = self._sides(corpora)
        features, seed = self.config.features, self.config.learning.seed
        self.templates = features.load_templates(features.default_templates(self.config.level))
        if features.guide is not None and "guide" not in self.templates.columns:
            hint = f"leave out templates, or use {features.default_templates(self.config.level)}"
            raise ConfigError("there is a guide, but no template uses its labels", hint)
        self.say("features")
        self.readings = features.readings(list(itertools.chain.from_iterable(corpora)), seed)
        self.source = None if features.guide is None else self._fit_source(features.guide, given.originals)
        source = None if self.source is None else self.source.model(0.0)
        self.packer = GuidePacker.of_model(self.config, self.sides, source, self.readings.full.dictionary)
        self.data, self.drawn = self._training_data(corpora, held), given.weights
        self.sizes = [len(layers) for layers in corpora]
        self.baselines = self._baselines()
        candidates = self._jackknifed() if self.config.pruning.kind == "offline" else []
        self.say("joint features")
        self.mappings = side_mappings(self.config.mapping, self.sides, self.baselines)
        self.layout, self.examples = self._lay_out(candidates)
        self.dev_sets = [self._dev_set(k, each) for k, each in enumerate(dev) if each is not None]

    def _sides(self, corpora: Sequence[Sequence[Layer]]) -> Sides:
        tags = []
        for standard, layers in zip(self.config.standards, corpora, strict=True):
            if not layers:
                raise ConfigError(f"there are no sentences of {standard!r} to learn from")
            tags.append(tags_of(layers, standard))
        return Sides.of_tags(self.config, tags)

    def _fit_source(self, guide: str, corpora: Sequence[Sequence[Layer]]) -> TrainedCrf:
        """The tagger of the guide, which predicts labels where there is no annotation."""
        config, own = self.config, self.config.features
        source = CrfConfig(
            standard=guide,
            level=config.level,
            features=Features(
                scheme=own.scheme,
                join_letters=own.join_letters,
                join_digits=own.join_digits,
                script=own.script,
                dictionary=own.dictionary,
                mixing=own.mixing,
            ),
            learning=AdaGrad(iterations=config.start.baseline_iterations, seed=config.learning.seed),
        )
        trainer = CrfTrainer(source, Session(threads=self.threads))
        return trainer.run(corpora[self.sides.number(guide)])

    def _training_data(self, corpora: Sequence[Sequence[Layer]], held: HeldLabels | None) -> TrainingData:
        features, source = self.config.features, self.packer.source
        guide = None
        if features.guide is not None and source is not None:
            own, columns = self.sides.number(features.guide), []
            for side, layers in enumerate(corpora):
                if side == own:
                    columns += self.packer.known_guide(layers, self.threads)
                else:
                    units = units_of_layers(layers, self.sides.encodings[side])
                    columns += source.predict_labels(units.pieces, threads=self.threads)
            shared = Templates.load(DEFAULT_TEMPLATES[self.config.level])
            guide = Guide(columns, features.asking(shared))
        return extract_training_data(
            corpora, self.sides, self.templates, features, self.readings.training, guide, held
        )

    def _baselines(self) -> BaselineTaggers:
        config, guide = self.config, self.config.features.guide
        guided = [k for k, name in enumerate(self.sides.standards) if guide is not None and name != guide]
        learning = AdaGrad(
            rate=BASELINE_RATE,
            batch=BASELINE_BATCH,
            iterations=config.start.baseline_iterations,
            seed=config.learning.seed,
        )
        found = BaselineTaggers(self.data, guided, config.features.full_from, learning, self.threads)
        found.train(self._watched)
        return found

    def _watched(self, side: int, reports: Reports) -> Reports:
        name = f"baseline tagger of {self.sides.standards[side]}"
        self.say(name)
        return self.session.parts(name, reports, self.config.start.baseline_iterations)

    def _pruning(self) -> _native.Pruning:
        own = self.config.pruning
        return _native.Pruning(own.max_candidates, own.candidate_mass, 0.0, 0.0)

    def _jackknifed(self) -> list[_native.TagSets]:
        pruning, start, seed = self.config.pruning, self.config.start, self.config.learning.seed
        self.say(f"jack-knifing in {pruning.folds} folds")
        settings = (
            pruning.max_candidates,
            pruning.candidate_mass,
            start.baseline_iterations,
            seed,
            self.config.features.full_from,
            self.templates.text,
        )
        return offline_candidates(
            self.baselines,
            self._pruning(),
            pruning.folds,
            settings=repr(settings),
            cache=self.cache,
            session=self.session,
        )

    def _latent(self) -> list[_native.TagSets]:
        """The candidates of the baseline taggers, which are the labels that joint features exist for."""
        own, (number, mass) = self.config.pruning, JOINT_PRUNING[self.config.level]
        is_wider = number >= own.max_candidates and mass >= own.candidate_mass
        pruning = self._pruning()
        if not is_wider and own.candidate_mass < 1:
            pruning = _native.Pruning(number, mass, 0.0, 0.0)
        return [self.baselines.candidates(side, pruning) for side in range(len(self.sides))]

    def _lay_out(
        self, candidates: list[_native.TagSets]
    ) -> tuple[_native.CoupledLayout, _native.CoupledData]:
        data, features = self.data, self.config.features
        shape = make_shape(self.sides, self.mappings)
        pairs = itertools.combinations(range(len(self.sides)), 2)
        parts = [] if features.parts == "separate" else [list(pair) for pair in pairs]
        labels = (data.first, data.side, data.label, data.sets)
        layout = _native.lay_out_coupled(
            shape,
            self.baselines.whole_layouts(),
            _native.CoupledData(data.shared, *labels, [], data.held),
            self._latent(),
            parts,
            features.joint_count or JOINT_COUNT[self.config.level],
            LINKED,
            MAX_JOINT_LABELS // max(len(parts), 1),
        )
        return layout, _native.CoupledData(data.rows, *labels, candidates, data.held)

    def trained(self) -> TrainedCoupled:
        """Run all iterations, from a checkpoint if there is one to resume from."""
        trainer = self._trainer()
        evaluate = DevEvaluator(self.config, self.sides, self.layout, self.dev_sets, self.threads)
        trainer.run_kept(evaluate if self.dev_sets else None, self._fingerprint, self.session)
        names = [self.sides.standards[dev.side] for dev in self.dev_sets]
        names = [*names, AVERAGE] if len(names) > 1 else [AVERAGE]
        bests = dict(zip(names, trainer.bests, strict=True))
        scores = {name: None if np.isinf(best.score) else float(best.score) for name, best in bests.items()}
        if self.config.learning.keep == "all":
            weights = dict(zip(names, trainer.weights_of_bests(), strict=True))
        else:
            weights = {AVERAGE: trainer.final(trainer.bests[-1])}
        make = self._maker(weights)
        every, seen = np.zeros(0, np.uint8), self._in_dev_sets()
        return TrainedCoupled(
            scores, trainer.iteration, lambda least: make(least, every), lambda: make(0.0, seen)
        )

    def _trainer(self) -> Trainer:
        config, data = self.config, self.data
        learns_separate = config.features.parts != "joint"
        objective = _native.CoupledObjective(
            self.layout, self.examples, self._pruning(), self._training_gap(), learns_separate
        )
        own = [data.sentences(side) for side in range(len(self.sides))]
        pools = [weighted(*side) for side in zip(own, self.drawn, strict=True)]
        assert not isinstance(config.learning.sample, int)
        chosen = config.learning.sample or [None] * len(own)
        usual = min(size(pool) for pool in pools)
        counts = [usual if wanted is None else wanted for wanted in chosen]
        learning = config.learning.with_batch(sum(counts))
        assert isinstance(learning, AdaGrad | Sgd)
        start, store = self._start(learns_separate), None
        if isinstance(learning, AdaGrad):
            store = TouchedWeights(start, self.layout.ranges(self._in_dev_sets()))
            rule: Rule = TouchedAdaGradRule(objective, learning, self.threads, store.touched)
        else:
            rule = learning.rule(objective, len(data.side), self.threads)
        return Trainer(
            rule,
            self.layout.weights,
            len(data.side),
            learning,
            sides=max(len(self.dev_sets), 1),
            draw=lambda rng: draw(rng, pools, counts),
            start=start if store is None else store,
            judge_start=learning.keep == "all",
        )

    def _in_dev_sets(self) -> npt.NDArray[np.uint8]:
        """For each feature, whether it is in a dev set."""
        found = np.zeros(len(self.data.keys), np.uint8)
        for dev in self.dev_sets:
            found[dev.rows.rows] = 1
        return found

    def _start(self, learns_separate: bool) -> npt.NDArray[np.float32]:
        start = small_pages(self.layout.weights)
        if self.config.start.kind == "warm" and learns_separate:
            for side, share in enumerate(self._shares()):
                at, layout = self.layout.side_at[side], self.layout.side(side)
                self.baselines.spread(side, share, layout, start[at : at + layout.weights])
                if side not in self._pruned_sides():
                    self.baselines.weights[side] = np.zeros(0, np.float32)
        return start

    def _training_gap(self) -> float:
        """With three or more standards, hopeless bundles are left out in training, too."""
        is_large = len(self.sides) > 2 and self.config.level == "word"
        return TRAINING_GAP if is_large and self.config.pruning.bundle_gap is not None else math.inf

    def _shares(self) -> Sequence[float]:
        if self.config.start.shares is not None:
            return self.config.start.shares
        source, other = int(np.argmax(self.sizes)), SHARES[self.config.level]
        return [1.0 if side == source else other for side in range(len(self.sides))]

    def _pruned_sides(self) -> list[int]:
        """The sides whose baseline taggers prune when tagging.

        In a mixed model, a side that started with all the weights of its baseline tagger prunes just as well
        without a second copy of them.
        """
        config = self.config
        if config.pruning.kind == "online":
            return []
        is_warm = config.start.kind == "warm" and config.features.parts != "joint"
        is_own = is_warm and config.pruning.kind == "mixed"
        return [side for side, share in enumerate(self._shares()) if not (is_own and share == 1.0)]

    def _dev_set(self, side: int, dev: DevLayers) -> DevSet:
        guide, encoding = self.config.features.guide, self.sides.encodings[side]
        units = units_of_layers(dev.layers, encoding).joined()
        allowed, labels = [], None
        if dev.given is not None and guide is not None:
            allowed = conversion_limits(self.sides, dev.given, self.sides.number(guide), side)
            labels = self.packer.known_guide(dev.given, self.threads)
        packed = self.packer.pack(units.pieces, labels, self.threads)
        rows = _native.extract_rows(
            self.templates.native, packed, _native.FeatureIndex(self.data.keys), self.session.threads
        )
        candidates: list[_native.TagSets] = []
        if self.config.pruning.kind != "online":
            pruning, pruned = tagging_pruning(self.config), self._pruned_sides()
            candidates = [
                self.baselines.candidates(k, pruning, rows, packed.first) if k in pruned else no_sets()
                for k in range(len(self.sides))
            ]
        gold = gold_labels(encoding, dev.layers)
        return DevSet(side, dev.layers, units, rows, candidates, allowed, gold)

    def _fingerprint(self) -> str:
        mapping = self.config.mapping
        pairs = (
            repr(mapping.bundles()) if isinstance(mapping, Mapping) else ""
        )  # which its repr does not show
        return fingerprint(self.config, (self.data.digest(), pairs))

    def _maker(
        self, weights: dict[str, npt.NDArray[np.float32]]
    ) -> Callable[[float, npt.NDArray[np.uint8]], CoupledModel]:
        """A function that makes the model; it holds nothing that only training needs."""
        layout, keys, source, parts = self.layout, self.data.keys, self.source, self._parts()
        pruned, nothing = self._pruned_sides(), np.zeros(0, np.float32)
        pruner = [
            self.baselines.spread(k, 1.0, layout.side(k)) if k in pruned else nothing
            for k in range(len(self.sides))
        ]
        unique = {id(each): each for each in weights.values()}

        def make(min_weight: float, is_wanted: npt.NDArray[np.uint8]) -> CoupledModel:
            compiled = _native.compile_coupled(
                layout, list(unique.values()), pruner, keys, min_weight, is_wanted
            )
            made = dict(zip(unique, compiled, strict=True))
            return CoupledModel(
                **parts,
                shape=layout.shape,
                weights={name: made[id(each)] for name, each in weights.items()},
                source=None if source is None else source.model(min_weight),
            )

        return make

    def _parts(self) -> dict[str, Any]:
        """What a model has apart from its weights; files have names, but no paths."""
        templates, mapping = self.config.features.named(self.templates), self.config.mapping
        # The pairs of a user's own mapping are in the arrays.
        name = "complete" if isinstance(mapping, Mapping) else Path(mapping).name
        features = {"templates": templates.name, **self.config.features.portable()}
        taught = self.config.start.self_training.mapping
        start = {} if taught is None else {"self_training": {"mapping": Path(taught).name}}
        config = self.config.updated({"features": features, "mapping": name, "start": start})
        return {
            "config": config,
            "sides": self.sides,
            "templates": templates,
            "mappings": self.mappings,
            "dictionary": self.readings.full.dictionary,
        }

"""The coupled tagger (kind `coupled`) of Li et al. (2015, 2016, 2017): one CRF over bundles of labels.

It learns from corpora in two or more standards, with words or characters as units. The sentences of a corpus
constrain the lattice of bundles on one side and leave the others open (ambiguous labelling). Joint features
tie the sides together, separate features are the back-off, and pruning by context keeps the lattice small.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from duilian import evaluation
from duilian.arguments import checked
from duilian.corpus import Sentence
from duilian.features import Templates
from duilian.labels.encoding import Encoding, Level
from duilian.learning import Learning, Session
from duilian.models.base.confidence import ConfidenceCurve
from duilian.models.base.estimator import Arrays, Estimator
from duilian.models.base.sentences import Sentences, check_corpora, layers_of
from duilian.models.base.several_standards import SeveralStandards
from duilian.models.coupled.config import CoupledConfig, CoupledFeatures, CoupledPruning, Start
from duilian.models.coupled.conversion_answers import COMPLETE, ConversionPlan, Converting
from duilian.models.coupled.effort import USUAL, Effort
from duilian.models.coupled.predictor import CoupledConversion, CoupledPredictor
from duilian.models.coupled.side import CoupledSide
from duilian.models.coupled.storage import AVERAGE, CoupledModel
from duilian.models.roles import Ability

if TYPE_CHECKING:
    from duilian.corpus import Layer
    from duilian.models.coupled.coupled_run import TrainedCoupled
    from duilian.models.coupled.dev_sets import DevLayers
    from duilian.standards import Mapping as TagMapping


class CoupledTagger(Estimator[CoupledConfig, CoupledModel], SeveralStandards, Converting):
    """A tagger that answers in each of its `standards`; docs/settings.md explains the parameters.

    >>> from duilian import demo
    >>> tagger = CoupledTagger(("ctb", "pku")).fit([demo.load("ctb", "ctb"), demo.load("pku", "pku")])
    >>> tagger.analyse([["我们", "去", "北京"]])[0]["pku"].tags
    ('r', 'v', 'ns')
    """

    kind: ClassVar[str] = "coupled"
    abilities: ClassVar[frozenset[Ability]] = frozenset(Ability) - {Ability.TREES}
    config_type = CoupledConfig
    model_type = CoupledModel
    predictor_: CoupledPredictor
    trained_: TrainedCoupled
    confidence_: dict[str, ConfidenceCurve]
    effort_: Effort = USUAL

    def __init__(
        self,
        standards: Sequence[str] = CoupledConfig.standards,
        *,
        level: Level = "word",
        mapping: str | TagMapping = COMPLETE,
        decoding: Literal["marginals", "path"] = "marginals",
        features: CoupledFeatures = CoupledConfig.features,
        pruning: CoupledPruning = CoupledConfig.pruning,
        start: Start = CoupledConfig.start,
        learning: Learning = CoupledConfig.learning,
    ) -> None:
        self.standards = standards
        self.level = level
        self.mapping = mapping
        self.decoding = decoding
        self.features = features
        self.pruning = pruning
        self.start = start
        self.learning = learning

    @checked
    def fit(
        self,
        X: Sequence[Sentences],  # noqa: N803  (scikit-learn's name)
        y: None = None,
        *,
        dev: Sequence[Sentences | None] | None = None,
        weights: Sequence[Sequence[float] | None] | None = None,
        threads: int = 1,
        session: Session | None = None,
        cache: str | Path | None = None,
    ) -> Self:
        """Learn from one corpus per standard, in the order of `standards`.

        With dev sets (None for a standard that has none), the weights that do best on each side and on
        average are kept. Dev sentences that also have a layer in the guide's standard are converted from it
        to be scored. `weights` has a number for each sentence of a corpus (None: 1 for all): how often it is
        drawn, compared with the others. For `session`, see `Tagger.fit`. `cache` is a folder that stores the
        candidates of offline pruning.
        """
        return self.learn(X, dev, weights=weights, session=Session.of(session, threads), cache=cache).trim(
            0.0
        )

    def learn(
        self,
        X: Sequence[Sentences],  # noqa: N803
        dev: Sequence[Sentences | None] | None,
        *,
        weights: Sequence[Sequence[float] | None] | None,
        session: Session,
        cache: str | Path | None,
    ) -> Self:
        """Learn as `fit` does, but leave it to `trim` to compile the model: with all weights, it is large."""
        from duilian.models.coupled.training import CoupledTrainer  # not needed to tag

        check_corpora(X)
        trainer = CoupledTrainer(self.config, session, cache)
        trainer.check_counts(X, dev)
        corpora = [layers_of(corpus, name) for corpus, name in zip(X, self.standards, strict=True)]
        held_out = None
        if dev is not None:
            held_out = [
                self._dev_layers(found, name) for found, name in zip(dev, self.standards, strict=True)
            ]
        self.trained_ = trainer.run(corpora, held_out, weights)
        self.best_scores_, self.iterations_ = self.trained_.scores, self.trained_.iterations
        self.best_score_ = self.best_scores_[AVERAGE]
        self.confidence_ = {}
        if held_out is not None:
            self.use(self.trained_.dev_model())
            self.confidence_ = self._curves(held_out, session.threads)
        return self

    def trim(self, min_weight: float) -> Self:
        model = self.trained_.model(min_weight)
        return self.use(dataclasses.replace(model, confidence=self.confidence_))

    @checked
    def fit_confidence(self, dev: Sequence[Sentences | None], *, threads: int = 1) -> Self:
        """Fit confidence anew, to the answers that this tagger gives to dev sets (None: there is none).

        A coarser search than in training is surer of itself, so it needs curves of its own.
        """
        self.use(dataclasses.replace(self.model_, confidence={}))
        found = [
            None if each is None else self._dev_layers(each, name)
            for each, name in zip(dev, self.standards, strict=True)
        ]
        return self.use(dataclasses.replace(self.model_, confidence=self._curves(found, threads)))

    def _curves(self, dev: Sequence[DevLayers | None], threads: int) -> dict[str, ConfidenceCurve]:
        """The confidence curve of each standard that has a dev set."""
        found = {}
        for name, each in zip(self.standards, dev, strict=False):
            if each is None or each.given is not None:
                continue
            judged = self.predictor_.judged(each.layers, name, threads)
            if (curve := ConfidenceCurve.fitted(*judged)) is not None:
                found[name] = curve
        return found

    def _dev_layers(self, corpus: Sentences | None, standard: str) -> DevLayers | None:
        """Dev sentences, with the guide's annotation if all of them have it."""
        from duilian.models.coupled.dev_sets import DevLayers

        if corpus is None:
            return None
        found: list[Any] = list(corpus)
        guide = self.features.guide
        given: list[Layer] = []
        if guide is not None and guide != standard:
            given = [each[guide] for each in found if isinstance(each, Sentence) and guide in each.layers]
        return DevLayers(layers_of(found, standard), given if found and len(given) == len(found) else None)

    def compile(self, model: CoupledModel) -> None:
        self.predictor_ = CoupledPredictor(model, effort=self.effort_)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays, *, effort: Effort = USUAL) -> Self:
        """Restore a tagger, with this much effort when tagging."""
        model = CoupledModel.from_state(header, arrays)
        tagger = cls.with_config(model.config)
        tagger.effort_ = effort
        return tagger.use(model)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"effort": self.effort_}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.effort_ = kept["effort"]
        super().__setstate__(kept)

    @property
    def labeler(self) -> CoupledPredictor:
        """The model compiled for answering."""
        return self.predictor_

    @property
    def encodings_(self) -> tuple[Encoding, ...]:
        """How annotation in each standard becomes labels."""
        return self.predictor_.sides.encodings

    @property
    def templates_(self) -> Templates:
        """The feature templates."""
        return self.model_.templates

    @checked
    def of(self, standard: str) -> CoupledSide:
        """The tagger for one standard, with the weights that do best for it."""
        return CoupledSide(self, standard)

    @checked
    def analyse(self, X: Sentences, *, threads: int = 1) -> list[dict[str, Layer]]:  # noqa: N803
        """The analyses of each sentence in all standards."""
        layers = layers_of(X, self.standards[0])
        found = [self.of(name).predict_layers(layers, threads=threads) for name in self.standards]
        return [dict(zip(self.standards, each, strict=True)) for each in zip(*found, strict=True)]

    def tags_of_words(
        self,
        X: Sentences,  # noqa: N803
        standard: str,
        *,
        threads: int = 1,
    ) -> list[tuple[str, ...]]:
        """The tags of given words in one standard, by decoding with fixed words, at either level."""
        return self.predictor_.tags_of_words(layers_of(X, standard), standard, threads=threads)

    @checked
    def score(
        self,
        X: Sentences,  # noqa: N803
        y: None = None,
        *,
        standard: str | None = None,
        threads: int = 1,
    ) -> float:
        """Accuracy of tags at word level, F1 of words with tags at character level; from 0 to 1."""
        name = standard or self.standards[0]
        gold = layers_of(X, name)
        found = self.predict_layers(gold, name, threads=threads)
        return evaluation.main_score(gold, found, is_cut=self.level == "char") / 100.0

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """All pairs of its standards."""
        return tuple(itertools.permutations(self.standards, 2))

    def conversion(
        self, source: str, target: str, *, mapping: str | TagMapping | None = None
    ) -> ConversionPlan:
        """Plan a conversion of many batches; see `Converting.conversion` for `mapping`."""
        return CoupledConversion(self.predictor_, source, target, mapping)

    @property
    def pruning_kind(self) -> str:
        """With what the tagger prunes: `online`, `offline` or `mixed`."""
        return self.predictor_.model.config.pruning.kind

    def pruning_probabilities(
        self, layers: Sequence[Layer], standard: str, *, threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """The probabilities of labels by which pruning chooses; see the predictor's method."""
        return self.predictor_.pruning_probabilities(layers, standard, threads=threads)

    def learned_mapping(
        self,
        X: Sentences,  # noqa: N803
        source: str,
        target: str,
        *,
        given: bool = False,
        mapping: str | TagMapping | None = COMPLETE,
        threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """Expected counts of tag pairs on sentences; see `CoupledPredictor.learned_mapping`."""
        found = self.predictor_.learned_mapping
        return found(layers_of(X, source), source, target, given=given, mapping=mapping, threads=threads)

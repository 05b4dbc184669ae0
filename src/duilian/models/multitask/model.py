"""The multi-task tagger (kind `multitask`): two standards that share weights through a loose mapping.

It finds words and tags in characters, in either standard (Qiu et al. 2013). The score of a label includes the
scores of the labels it maps to in the other standard, and learning updates both, so each standard learns from
the other's corpus. If all mapped labels count, a trained side is a plain tagger, and as fast; if only the
best counts, it has neither probabilities nor n-best lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from duilian.arguments import checked
from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.labels.encoding import Encoding, Level
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Sentences, check_corpora, layers_of
from duilian.models.base.several_standards import SeveralStandards
from duilian.models.crf.model import Tagger
from duilian.models.crf.uncalibrated import UncalibratedTagger
from duilian.models.multitask.config import Expansion, Learner, MultitaskConfig
from duilian.models.multitask.label_mapping import LabelMapping
from duilian.models.multitask.labeler import MultitaskLabeler
from duilian.models.multitask.predictor import BestSidePredictor
from duilian.models.multitask.storage import SIDES, MultitaskModel, SideModel
from duilian.models.roles import Ability
from duilian.standards import Mapping

if TYPE_CHECKING:
    from duilian.models.multitask.training import TrainedMultitask


class MultitaskSide(Tagger):
    """One standard of a multi-task tagger, as a tagger of its own."""

    kind: ClassVar[str] = "multitask"
    model_type = SideModel


class BestOnlySide(UncalibratedTagger):
    """One standard of a multi-task tagger in which only the best of the mapped labels counts."""

    kind: ClassVar[str] = "multitask"
    model_type = SideModel
    predictor_type = BestSidePredictor


class MultitaskTagger(Estimator[MultitaskConfig, MultitaskModel], SeveralStandards):
    """A tagger for two standards, each of which learns from the other's corpus.

    `AdaGrad` trains a conditional random field; `PassiveAggressive` is the paper's algorithm, which uses one
    thread and is needed for expansion `best`. Its scores are log probabilities only if there is a dev set,
    which determines their scale.

    >>> from duilian import demo
    >>> tagger = MultitaskTagger(("ctb", "pku")).set_params(learning__iterations=3)
    >>> both = tagger.fit([demo.load("ctb", "ctb"), demo.load("pku", "pku")])
    >>> both.of("pku").predict([["我们去北京"]])
    [['r', 'v', 'ns']]
    """

    kind: ClassVar[str] = "multitask"
    abilities: ClassVar[frozenset[Ability]] = Tagger.abilities
    level: ClassVar[Level] = "char"
    config_type = MultitaskConfig
    model_type = MultitaskModel
    trained_: TrainedMultitask
    sides_: tuple[Tagger, ...]

    def __init__(
        self,
        standards: Sequence[str] = ("first", "second"),
        *,
        mapping: str | Mapping = "tight",
        learns_from_other: Learner = "both",
        expansion: Expansion = "mean",
        align_names: bool = True,
        features: Features = MultitaskConfig.features,
        learning: Learning = MultitaskConfig.learning,
    ) -> None:
        self.standards = standards
        self.mapping = mapping
        self.learns_from_other = learns_from_other
        self.expansion = expansion
        self.align_names = align_names
        self.features = features
        self.learning = learning

    @checked
    def fit(
        self,
        X: Sequence[Sentences],  # noqa: N803  (scikit-learn's name)
        y: None = None,
        *,
        dev: Sequence[Sentences | None] | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from one corpus per standard, in the order of `standards`.

        With dev sets (None for a standard that has none), the weights that do best for each side are kept.
        For `session`, see `Tagger.fit`.
        """
        from duilian.models.multitask.training import MultitaskTrainer  # not needed to tag

        check_corpora(X)
        trainer = MultitaskTrainer(self.config, Session.of(session, threads))
        if len(set(self.standards)) != 2:
            raise ConfigError(f"standards must be two different names, got {', '.join(self.standards)}")
        for what, found in (("corpora", X), ("dev sets", dev)):
            if found is not None and len(found) != 2:
                raise ConfigError(f"{len(found)} {what} for 2 standards")
        sides = [layers_of(each, name) for each, name in zip(X, self.standards, strict=True)]
        dev_sets = [
            None if each is None else layers_of(each, name)
            for each, name in zip(dev or (None, None), self.standards, strict=True)
        ]
        self.trained_ = trainer.run(sides, dev_sets)
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        self.best_scores_ = self.trained_.scores
        return self.trim(0.0)

    def compile(self, model: MultitaskModel) -> None:
        side_type = BestOnlySide if self.expansion == "best" else MultitaskSide
        self.sides_ = tuple(side_type.with_model(model.side(side)) for side in SIDES)

    def remember(self, notes: dict[str, Any]) -> None:
        """Keep the notes of the file on the model's origin, for each side, too."""
        super().remember(notes)
        for side in self.sides_:
            side.remember(notes)

    @property
    def labeler(self) -> MultitaskLabeler:
        """The model compiled for answering."""
        return MultitaskLabeler([side.predictor_ for side in self.sides_])

    @property
    def encodings_(self) -> tuple[Encoding, Encoding]:
        """How annotation becomes labels, for each standard."""
        return self.model_.encodings

    @property
    def templates_(self) -> Templates:
        """The feature templates."""
        return self.model_.templates

    @property
    def mapping_(self) -> LabelMapping:
        """Which labels of the two standards correspond."""
        return self.model_.mapping

    @checked
    def of(self, standard: str) -> Tagger:
        """The tagger for one standard."""
        if standard not in self.standards:
            raise ConfigError(f"the tagger has no standard {standard!r}, only {', '.join(self.standards)}")
        return self.sides_[list(self.standards).index(standard)]

    @checked
    def score(self, X: Sequence[Sentences], y: None = None) -> float:  # noqa: N803
        """Mean F1 of words with their tags over one corpus per standard, from 0 to 1."""
        return float(np.mean([self.of(s).score(corpus) for s, corpus in zip(self.standards, X, strict=True)]))

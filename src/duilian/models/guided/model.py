"""The guided tagger (kind `guided`): Jiang et al. (2009), as Li et al. (2017) re-implement it.

A source tagger learns from a corpus in another standard; its labels on the target's sentences are features
of the target tagger. With `folds`, a plain tagger of the target is a guide, too. Its labels on the training
data come from jack-knifing, so that they are as accurate as on new text. All is in one model file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from duilian.arguments import checked
from duilian.errors import ConfigError
from duilian.labels.encoding import Level
from duilian.learning import Learning, Session
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Sentences
from duilian.models.coupled.conversion_answers import ConversionPlan, Converting
from duilian.models.crf.model import Tagger
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.guided.config import GuidedConfig
from duilian.models.guided.predictor import GuidedConversion, GuidedPredictor
from duilian.models.guided.storage import GuidedModel
from duilian.models.roles import Ability

if TYPE_CHECKING:
    from duilian.models.guided.training import GuidedTrainer
    from duilian.standards import Mapping


class GuidedTagger(Tagger, Converting):
    """Labels units in one standard, guided by a tagger for another; otherwise like `Tagger`.

    >>> from duilian import demo
    >>> tagger = GuidedTagger("ctb", source_standard="pku")
    >>> tagger.fit(demo.load("ctb", "ctb"), source=demo.load("pku", "pku")).predict([["我们", "去", "北京"]])
    [['PN', 'VV', 'NR']]
    """

    kind: ClassVar[str] = "guided"
    abilities = frozenset(Ability) - {Ability.TREES}
    config_type = GuidedConfig
    config: GuidedConfig
    model_type: type[CrfModel] = GuidedModel
    predictor_type: ClassVar[type[CrfPredictor]] = GuidedPredictor
    model_: GuidedModel
    predictor_: GuidedPredictor

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Level = "word",
        segment_only: bool = False,
        features: Features = GuidedConfig.features,
        learning: Learning = GuidedConfig.learning,
        source_standard: str = "source",
        folds: int = 0,
        source_iterations: int | None = None,
    ) -> None:
        super().__init__(
            standard, level=level, segment_only=segment_only, features=features, learning=learning
        )
        self.source_standard = source_standard
        self.folds = folds
        self.source_iterations = source_iterations

    @checked
    def fit(
        self,
        X: Sentences,  # noqa: N803
        y: Iterable[Sequence[str]] | None = None,
        *,
        source: Sentences | Tagger | None = None,
        dev: Sentences | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from target sentences, guided by a tagger that learns from `source` or is given there."""
        if source is None:
            raise ConfigError(
                "a guided tagger needs a source: a corpus in the other standard or a tagger for it"
            )
        session = Session.of(session, threads)
        if not isinstance(source, Tagger):
            source = Tagger.with_config(self.config.source_config()).fit(source, threads=session.threads)
        trainer = self.trainer_type(self.config, session, source)
        self.trained_ = trainer.run(self.layers(X, y), None if dev is None else self.layers(dev))
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        return self.trim(0.0)

    @property
    def trainer_type(self) -> type[GuidedTrainer]:
        from duilian.models.guided.training import GuidedTrainer

        return GuidedTrainer

    @property
    def source_(self) -> Tagger:
        """The source tagger."""
        return Tagger.with_model(self.model_.source)

    @property
    def own_(self) -> Tagger | None:
        """The target's plain tagger, if it is a guide, too."""
        return None if self.model_.own is None else Tagger.with_model(self.model_.own)

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The only conversion: from the source's standard to the target's."""
        return ((self.source_standard, self.standard),)

    def conversion(self, source: str, target: str, *, mapping: str | Mapping | None = None) -> ConversionPlan:
        """Plan a conversion of many batches; see `Converting.conversion` for `mapping`."""
        if (source, target) not in self.conversions:
            own, others = self.conversions[0], "a coupled model converts in both directions"
            raise ConfigError(f"a guided tagger converts from {own[0]!r} to {own[1]!r} only", others)
        return GuidedConversion(self.predictor_, (source, target), mapping)

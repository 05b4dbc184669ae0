"""Two coupled chains (kind `two-chain`): boundaries and tags in one model, with three uses (Qiu et al. 2012).

At character level the chains are the boundaries and tags of words, at word level the boundaries and types of
chunks. The same weights are used in three modes: `joint` finds both, `segment` finds boundaries with their
own chain, which is much faster, and `tag` finds the tags of words, or types of chunks, with given boundaries.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from duilian.arguments import checked
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, WordSegments
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Sentences
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.roles import Ability
from duilian.models.two_chain.config import MODES, Cost, Mode, TwoChainConfig
from duilian.models.two_chain.labeler import TwoChainLabeler
from duilian.models.two_chain.predictor import TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel

if TYPE_CHECKING:
    from duilian.models.two_chain.training import TrainedTwoChain


class TwoChainTagger(Estimator[TwoChainConfig, TwoChainModel], StandardTagger):
    """Finds boundaries and tags of words in text (level `char`), or of chunks of words (level `word`).

    The tagger answers in mode `joint`; `of(mode)` answers in another.

    >>> from duilian import demo
    >>> tagger = TwoChainTagger("ctb").set_params(learning__iterations=3).fit(demo.load("ctb", "ctb"))
    >>> tagger.of("tag").predict([["我们", "去", "北京"]])
    [['PN', 'VV', 'NR']]
    """

    kind: ClassVar[str] = "two-chain"
    abilities: ClassVar[frozenset[Ability]] = frozenset(
        {Ability.WORDS, Ability.TAGS, Ability.MARGINALS, Ability.NBEST}
    )
    mode: ClassVar[Mode] = "joint"
    answer_modes: ClassVar[tuple[Mode, ...]] = MODES
    segment_only: ClassVar[bool] = False
    config_type = TwoChainConfig
    model_type = TwoChainModel
    predictor_: TwoChainPredictor
    trained_: TrainedTwoChain

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Level = "char",
        edge: bool = True,
        modes: Sequence[Mode] = MODES,
        cost: Cost = "once",
        features: Features = TwoChainConfig.features,
        learning: Learning = TwoChainConfig.learning,
    ) -> None:
        self.standard = standard
        self.level = level
        self.edge = edge
        self.modes = modes
        self.cost = cost
        self.features = features
        self.learning = learning

    @checked
    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        y: Iterable[Sequence[str]] | None = None,
        *,
        segmented: Sentences = (),
        dev: Sentences | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from annotated sentences, and from the boundaries of `segmented` ones.

        Annotated sentences without tags are also used for their boundaries. With a dev set, the weights of
        the iteration that does best on it are kept, and its tags determine the scale of probabilities;
        without one, probabilities rank answers but are much too low. For `session`, see `Tagger.fit`.
        """
        from duilian.models.two_chain.training import TwoChainTrainer  # not needed to tag

        trainer = TwoChainTrainer(self.config, Session.of(session, threads))
        dev_layers = None if dev is None else self.layers(dev)
        self.trained_ = trainer.run(self.layers(X, y), self.layers(segmented), dev_layers)
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        return self.trim(0.0)

    def compile(self, model: TwoChainModel) -> None:
        self.predictor_ = TwoChainPredictor.of(model)

    def of(self, mode: Mode) -> TwoChainPredictor:
        """The trained model in another mode."""
        if mode not in MODES:
            raise ConfigError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        return dataclasses.replace(self.predictor_, mode=mode, notes_=getattr(self, "notes_", {}))

    @property
    def labeler(self) -> TwoChainLabeler:
        return TwoChainLabeler(self.predictor_)

    @property
    def fast_segmenter(self) -> TwoChainLabeler:
        """Only the chain of boundaries: faster, and a little less accurate."""
        return TwoChainLabeler(self.of("segment"))

    @property
    def encoding_(self) -> WordSegments | ChunkSegments:
        """How annotation becomes segments and labels."""
        return self.predictor_.encoding_

    @property
    def templates_(self) -> CliqueTemplates:
        """The feature templates."""
        return self.predictor_.templates_

    @checked
    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with tags, or of chunks; from 0 to 1."""
        return self.predictor_.score(X, y)

    def segments_of(self, layer: Layer) -> Layer:
        return self.predictor_.segments_of(layer)

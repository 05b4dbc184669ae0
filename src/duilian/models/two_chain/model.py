"""Two coupled chains (kind `two-chain`): boundaries and tags in one model, three uses (Qiu et al. 2012).

At character level the chains are the boundaries of words and their tags; at word level those of chunks and
their types. A mode says what is asked of the same weights: `joint` finds both, `segment` the boundaries by
their own chain, which is much faster, `tag` the tags of words (types of chunks) whose boundaries are given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, WordSegments
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Answer, Sentences, layers_of
from duilian.models.two_chain.config import MODES, Cost, Mode, TwoChainConfig
from duilian.models.two_chain.predictor import TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel

if TYPE_CHECKING:
    from duilian.models.two_chain.training import TrainedTwoChain, TwoChainTrainer


class TwoChainTagger(Estimator[TwoChainConfig, TwoChainModel]):
    """Boundaries and tags of segments; see the module's text for levels and modes.

    The tagger answers in mode `joint`; `of(mode)` answers in another. Questions take the same options as
    those of `TwoChainPredictor`.
    """

    kind: ClassVar[str] = "two-chain"
    mode: ClassVar[Mode] = "joint"
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
        """Learn from annotated sentences, and from `segmented` ones, of which only boundaries are used.

        A sentence without tags among the annotated ones is used for its boundaries, too. With a dev set, the
        weights of the iteration that does best on it are kept, and its tags tell the scale of probabilities;
        without one, probabilities rank answers but are much too low. A `session` says more than `threads`.
        """
        trainer = self._trainer(Session.of(session, threads))
        dev_layers = None if dev is None else self.layers(dev)
        self.trained_ = trainer.run(self.layers(X, y), self.layers(segmented), dev_layers)
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        return self.trim(0.0)

    def _trainer(self, session: Session) -> TwoChainTrainer:
        from duilian.models.two_chain.training import TwoChainTrainer  # not needed to tag

        return TwoChainTrainer(self.config, session)

    def layers(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        return layers_of(X, self.standard, y)

    def trim(self, min_weight: float) -> Self:
        """Feature selection: drop weights smaller than `min_weight`. Needs the state of training."""
        return self.use(self.trained_.model(min_weight))

    def _use(self, model: TwoChainModel) -> None:
        self.predictor_ = TwoChainPredictor.of(model)

    def of(self, mode: Mode) -> TwoChainPredictor:
        """The same trained model, asked in another mode."""
        if mode not in MODES:
            raise ConfigError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        return dataclasses.replace(self.predictor_, mode=mode, notes_=getattr(self, "notes_", {}))

    @property
    def encoding_(self) -> WordSegments | ChunkSegments:
        """How annotation becomes segments and labels."""
        return self.predictor_.encoding_

    @property
    def templates_(self) -> CliqueTemplates:
        """The feature templates."""
        return self.predictor_.templates_

    def predict_layers(self, X: Sentences, **options: Any) -> list[Layer]:  # noqa: N803
        """The analysis of each sentence."""
        return self.predictor_.predict_layers(X, **options)

    def predict(self, X: Sentences, *, threads: int = 1) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words."""
        return self.predictor_.predict(X, threads=threads)

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with their tags, or of chunks; from 0 to 1."""
        return self.predictor_.score(X, y)

    def marginals(self, X: Sentences, **options: Any) -> list[npt.NDArray[np.float64]]:  # noqa: N803
        """For each sentence the probability of every label (`encoding_.labels`) at every unit, [T, L]."""
        return self.predictor_.marginals(X, **options)

    def k_best(self, sentence: Layer | Sentence | Sequence[str], k: int, **options: Any) -> list[Answer]:
        """The k best analyses of a sentence, best first."""
        return self.predictor_.k_best(sentence, k, **options)

    def segments_of(self, layer: Layer) -> Layer:
        """The segments of an annotated sentence as words, to score boundaries alone."""
        return self.predictor_.segments_of(layer)

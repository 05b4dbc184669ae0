"""Two coupled chains (kind `two-chain`): boundaries and tags in one model, three uses (Qiu et al. 2012).

At character level the chains are the boundaries of words and their tags; at word level those of chunks and
their types. A mode says what is asked of the same weights: `joint` finds both, `segment` the boundaries by
their own chain, which is much faster, `tag` the tags of words (types of chunks) whose boundaries are given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, Ints, WordSegments
from duilian.learning import Learning, Session
from duilian.lexicon import Lexicon
from duilian.models.base.estimator import Estimator
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Answer, Sentences, layer_of, layers_of
from duilian.models.two_chain.config import MODES, Cost, Mode, TwoChainConfig
from duilian.models.two_chain.predictor import NO_LETTERS, TwoChainPredictor
from duilian.models.two_chain.storage import TwoChainModel

if TYPE_CHECKING:
    from duilian.models.two_chain.training import TrainedTwoChain, TwoChainTrainer


class TwoChainQuestions:
    """What can be asked of two chains in one mode: the questions of a plain tagger, without a lexicon."""

    mode: Mode
    standard: str
    predictor_: TwoChainPredictor

    @property
    def segment_only(self) -> bool:
        """Whether answers have no tags."""
        return self.mode == "segment"

    @property
    def encoding_(self) -> WordSegments | ChunkSegments:
        """How annotation becomes segments and labels."""
        return self.predictor_.encoding

    @property
    def templates_(self) -> CliqueTemplates:
        """The feature templates."""
        return self.predictor_.templates

    def layers(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        return layers_of(X, self.standard, y)

    def pack(self, units: Sequence[Sequence[str]], layers: Sequence[Layer]) -> _native.Sentences:
        """Sentences as the native core reads them, with the columns that the templates ask for."""
        return self.predictor_.packer.pack(units, layers)

    def label(
        self, packed: _native.Sentences, given: Ints = NO_LETTERS, *, threads: int = 1
    ) -> tuple[Ints, Ints]:
        """Letters and tags of all units, by number; `given` are the letters for mode `tag`."""
        return self.predictor_.label(packed, self.mode, given, threads=threads)

    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence; in mode `tag` the boundaries are those given."""
        _refuse(lexicon)
        return self.predictor_.predict_layers(self.layers(X), self.mode, threads=threads)

    def predict(self, X: Sentences, *, threads: int = 1) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words; the words themselves in mode `segment`."""
        return [
            [str(tag) for tag in layer.tags] if layer.tags is not None else list(layer.words)
            for layer in self.predict_layers(X, threads=threads)
        ]

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with their tags, or of chunks; from 0 to 1."""
        gold = self.layers(X, y)
        return self.encoding_.score(gold, self.predict_layers(gold)) / 100.0

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label (`encoding_.labels`) at every unit, [T, L]."""
        _refuse(lexicon)
        return self.predictor_.marginals(self.layers(X), self.mode, threads=threads)

    def k_best(
        self, sentence: Layer | Sentence | Sequence[str], k: int, *, lexicon: Lexicon | None = None
    ) -> list[Answer]:
        """The k best analyses of a sentence, best first; see `TwoChainPredictor.k_best`."""
        _refuse(lexicon)
        return self.predictor_.k_best(layer_of(sentence, self.standard), k, self.mode)

    def segments_of(self, layer: Layer) -> Layer:
        """The segments of an annotated sentence as words, to score boundaries alone."""
        return self.predictor_.segments_of(layer)


@dataclasses.dataclass(frozen=True)
class TwoChainView(TwoChainQuestions):
    """A trained tagger with two chains, asked in one mode."""

    standard: str
    level: Level
    mode: Mode
    predictor_: TwoChainPredictor
    notes_: Mapping[str, Any]


class TwoChainTagger(TwoChainQuestions, Estimator[TwoChainConfig, TwoChainModel]):
    """Boundaries and tags of segments; see the module's text for levels and modes.

    It answers in mode `joint`; `of(mode)` is the same tagger in another mode.
    """

    kind: ClassVar[str] = "two-chain"
    mode: Mode = "joint"
    config_type = TwoChainConfig
    model_type = TwoChainModel
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

    def of(self, mode: Mode) -> TwoChainView:
        """The same trained model, asked in another mode."""
        if mode not in MODES:
            raise ConfigError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        notes = getattr(self, "notes_", {})
        return TwoChainView(self.standard, self.level, mode, self.predictor_, notes)

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
        weights of the iteration that does best on it are kept. A `session` says more than `threads`.
        """
        trainer = self._trainer(session or Session(threads=threads))
        dev_layers = None if dev is None else self.layers(dev)
        self.trained_ = trainer.run(self.layers(X, y), self.layers(segmented), dev_layers)
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        return self.trim(0.0)

    def _trainer(self, session: Session) -> TwoChainTrainer:
        from duilian.models.two_chain.training import TwoChainTrainer  # not needed to tag

        return TwoChainTrainer(self.config, session)

    def trim(self, min_weight: float) -> Self:
        """Feature selection: drop weights smaller than `min_weight`. Needs the state of training."""
        return self.use(self.trained_.model(min_weight))

    def _use(self, model: TwoChainModel) -> None:
        self.predictor_ = TwoChainPredictor(model)


def _refuse(lexicon: Lexicon | None) -> None:
    if lexicon is not None:
        raise ConfigError("two-chain models do not take a lexicon (--lexicon)", "use a model of kind crf")

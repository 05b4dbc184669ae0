"""The plain tagger (kind `crf`): a linear-chain CRF for words or for characters.

At word level it labels words (parts of speech, chunks, any column); at character level it cuts text into
words and, if there are tags, tags them. The constructor takes the parameters, `fit` returns the tagger, and
learned attributes end in an underscore, so that scikit-learn's grid search and cross-validation work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from duilian.arguments import checked
from duilian.features import Templates
from duilian.labels.encoding import Level
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.feature_settings import Features
from duilian.models.base.sentences import Sentences
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.roles import Ability

if TYPE_CHECKING:
    from duilian.models.crf.training import CrfTrainer, TrainedCrf


class Tagger(Estimator[CrfConfig, CrfModel], StandardTagger):
    """Tags words in one standard (level `word`), or finds words in text and tags them (level `char`).

    >>> from duilian import demo
    >>> tagger = Tagger("ctb").fit(demo.load("ctb", "ctb"))
    >>> tagger.predict([["我们", "去", "北京"]])
    [['PN', 'VV', 'NR']]
    """

    kind: ClassVar[str] = "crf"
    abilities: ClassVar[frozenset[Ability]] = frozenset(Ability) - {Ability.TREES, Ability.CONVERSION}
    config_type = CrfConfig
    model_type: type[CrfModel] = CrfModel
    predictor_type: ClassVar[type[CrfPredictor]] = CrfPredictor
    predictor_: CrfPredictor
    trained_: TrainedCrf

    def __init__(
        self,
        standard: str = "tags",
        *,
        level: Level = "word",
        segment_only: bool = False,
        features: Features = CrfConfig.features,
        learning: Learning = CrfConfig.learning,
    ) -> None:
        self.standard = standard
        self.level = level
        self.segment_only = segment_only
        self.features = features
        self.learning = learning

    @checked
    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        y: Iterable[Sequence[str]] | None = None,
        *,
        dev: Sentences | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from annotated sentences, or from words `X` and their tags `y`.

        With a dev set, the weights of the iteration that does best on it are kept. A `session` has the number
        of threads, progress callbacks, a file for checkpoints, and whether to resume from it.
        """
        trainer = self.trainer_type(self.config, Session.of(session, threads))
        self.trained_ = trainer.run(self.layers(X, y), None if dev is None else self.layers(dev))
        self.best_score_, self.iterations_ = self.trained_.score, self.trained_.iterations
        return self.trim(0.0)

    @property
    def trainer_type(self) -> type[CrfTrainer]:
        """The class of a training run; it is not needed to tag."""
        from duilian.models.crf.training import CrfTrainer

        return CrfTrainer

    def compile(self, model: CrfModel) -> None:
        self.predictor_ = self.predictor_type(model)

    @property
    def labeler(self) -> CrfPredictor:
        return self.predictor_

    @property
    def templates_(self) -> Templates:
        """The feature templates."""
        return self.predictor_.templates

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_", threads: int = 1) -> bytes:
        """Tag lines of UTF-8 text: the fast way for whole files."""
        return self.predictor_.tag_lines(text, between=between, before_tag=before_tag, threads=threads)

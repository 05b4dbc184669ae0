"""The tagger with dynamic features (kind `dynamic`): Zhao et al. (2012), for Chinese-English mixed text.

It finds words and tags in characters, where a run of letters is one unit. Besides the usual window of units,
its templates see the *words* of the best path so far, with their tags and lengths. What they learn from
Chinese text holds for mixed text, too, so a foreign word gets the tag that its context suggests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from duilian.labels.encoding import Level
from duilian.learning import Learning
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.uncalibrated import UncalibratedTagger
from duilian.models.dynamic.config import DynamicConfig, DynamicFeatures, DynamicSearch
from duilian.models.dynamic.predictor import DynamicPredictor
from duilian.models.dynamic.storage import DynamicModel
from duilian.models.roles import Ability

if TYPE_CHECKING:
    from duilian.models.dynamic.training import DynamicTrainer


class DynamicTagger(UncalibratedTagger):
    """Cuts text into words and tags them, with features of the words found so far; otherwise like `Tagger`.

    With `AdaGrad` it is a conditional random field; `PassiveAggressive` is the paper's learning rule, which
    uses one thread. `trim` drops weights of words even if they are up to five times larger than `min_weight`.

    >>> from duilian import demo
    >>> tagger = DynamicTagger("ctb").fit(demo.load("ctb", "ctb"))
    >>> tagger.predict([["我们去北京"]])
    [['PN', 'VV', 'NR']]
    """

    kind: ClassVar[str] = "dynamic"
    abilities = frozenset({Ability.WORDS, Ability.TAGS, Ability.CONSTRAINTS})
    config_type: type[CrfConfig] = DynamicConfig
    config: DynamicConfig
    model_type: type[CrfModel] = DynamicModel
    predictor_type = DynamicPredictor
    model_: DynamicModel
    level: Level = DynamicConfig.level
    segment_only: bool = DynamicConfig.segment_only

    def __init__(
        self,
        standard: str = "tags",
        *,
        features: DynamicFeatures = DynamicConfig.features,
        learning: Learning = DynamicConfig.learning,
        search: DynamicSearch = DynamicConfig.search,
    ) -> None:
        self.standard = standard
        self.features = features
        self.learning = learning
        self.search = search

    @property
    def trainer_type(self) -> type[DynamicTrainer]:
        from duilian.models.dynamic.training import DynamicTrainer

        return DynamicTrainer

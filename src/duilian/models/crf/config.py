"""Settings of the plain tagger."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from duilian.errors import ConfigError
from duilian.labels.encoding import Level
from duilian.learning import AdaGrad, ExponentiatedGradient, Learning, PassiveAggressive, Sgd
from duilian.models.base.feature_settings import Features
from duilian.settings import Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class CrfConfig(Settings):
    """Kind `crf`: the plain tagger."""

    kind: ClassVar[str] = "crf"
    rules: ClassVar[tuple[type[Learning], ...]] = (AdaGrad, Sgd, ExponentiatedGradient, PassiveAggressive)

    standard: str = setting("tags", "Name of the standard.")
    level: Level = setting("word", "`word`: tag given words; `char`: cut text into words, and tag them.")
    segment_only: bool = setting(False, "At character level: find words without tags.")
    features: Features = setting(Features(), "Units and features.")
    learning: Learning = setting(AdaGrad(), "How to learn.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning.check_rule(self.kind, *self.rules)
        self.features.check_level(self.level)
        if self.segment_only and self.level == "word":
            raise ConfigError("segment_only needs level = 'char'")

"""Settings of two coupled chains."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from duilian.errors import ConfigError
from duilian.labels.encoding import Level
from duilian.labels.segments import two_chain_scheme
from duilian.learning import Learning, PassiveAggressive
from duilian.models.base.feature_settings import Features
from duilian.settings import Settings, setting

Mode = Literal["joint", "segment", "tag"]
MODES: tuple[Mode, ...] = get_args(Mode)
Cost = Literal["once", "label"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TwoChainConfig(Settings):
    """Kind `two-chain`: one chain for boundaries, one for tags."""

    standard: str = setting("tags", "Name of the standard.")
    level: Level = setting("char", "`char`: words and their tags; `word`: chunks and their types.")
    edge: bool = setting(True, "Link a tag to the next boundary; without this edge, the model is factorial.")
    modes: tuple[Mode, ...] = setting(
        MODES, "What training optimises: `joint`, `segment`, `tag`; the first is scored on the dev set."
    )
    cost: Cost = setting("once", "Margin of the gold answer: 1 `once`, or 1 per wrong `label`.")
    features: Features = setting(Features(), "Units and features.")
    learning: Learning = setting(PassiveAggressive(iterations=20), "How to learn.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning.check_rule("two-chain", PassiveAggressive)
        self.features.check_level(self.level)
        if self.learning.batch is not None:
            raise ConfigError("batch does not apply to kind 'two-chain', which learns sentence by sentence")
        if not self.modes:
            raise ConfigError(f"modes must name at least one of {', '.join(MODES)}")
        two_chain_scheme(self.features.scheme)  # fails if the scheme does not show where a segment begins

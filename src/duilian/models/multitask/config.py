"""Settings of the multi-task tagger."""

from __future__ import annotations

import dataclasses
from typing import Literal

from duilian.errors import ConfigError
from duilian.learning import AdaGrad, Learning, PassiveAggressive
from duilian.models.base.feature_settings import Features
from duilian.settings import Settings, setting
from duilian.standards import Mapping

Expansion = Literal["mean", "all", "best"]
Learner = Literal["both", "first", "second"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultitaskConfig(Settings):
    """Kind `multitask`: two standards that share weights through a loose mapping."""

    standards: tuple[str, ...] = setting(("first", "second"), "Names of the two standards.")
    mapping: str | Mapping = setting(
        "tight",
        "How their tags relate: `strict`, `tight` or `relaxed` (built-in tables), or the path of a table; in "
        "Python also a `Mapping`.",
    )
    learns_from_other: Learner = setting(
        "both", "Which standard learns from the other's corpus: `both`, or only the `first` or `second`."
    )
    expansion: Expansion = setting(
        "mean",
        "What a label adds from the labels it maps to: the `mean` of their scores, the sum of `all`, or only "
        "the `best` at each unit (algorithm `pa`).",
    )
    align_names: bool = setting(
        True, "Also map names written as one word to names split into surname and given name."
    )
    features: Features = setting(Features(templates="multitask"), "Units and features.")
    learning: Learning = setting(AdaGrad(), "How to learn.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning.check_rule("multitask", AdaGrad, PassiveAggressive)
        if len(self.standards) != 2:
            raise ConfigError(f"standards must be two names, got {', '.join(self.standards)}")
        sample = self.learning.sample
        if sample is not None and (isinstance(sample, int) or len(sample) != 2):
            raise ConfigError(f"sample must have one number for each of 2 standards, got {sample!r}")
        if self.expansion == "best" and not isinstance(self.learning, PassiveAggressive):
            raise ConfigError("expansion 'best' needs the algorithm 'pa'")

    def takes_from_other(self, side: int) -> bool:
        """Whether the scores of a side include those of the other."""
        return self.learns_from_other in ("both", ("first", "second")[side])

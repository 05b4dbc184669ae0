"""Settings of the tagger with dynamic features."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from duilian.errors import ConfigError
from duilian.labels.encoding import Level
from duilian.learning import AdaGrad, Learning, PassiveAggressive
from duilian.models.base.feature_settings import Features
from duilian.models.crf.config import CrfConfig
from duilian.settings import Settings, setting
from duilian.standards import BoundaryScheme
from duilian.text import Folding, Letters

NO_TEMPLATES = "none"


@dataclasses.dataclass(frozen=True, kw_only=True)
class DynamicFeatures(Features):
    """Units and features of mixed text, including the words found so far."""

    join_letters: bool = setting(True, "Treat a run of letters as one unit.")
    word_templates: str | None = setting(
        "mixed-words",
        "Preset or file of templates about words; `none`: none (the paper's static tagger).",
    )
    min_word_count: int = setting(1, "Like min_count, for templates about words.", at_least=1)
    english: str | None = setting(
        None, "Dictionary in CC-CEDICT format, for templates about uses and case of English words."
    )
    letters: Letters = setting("unified", "`unified`: every run of letters looks the same to features.")

    def __post_init__(self) -> None:
        if self.word_templates == NO_TEMPLATES:  # TOML has no null
            object.__setattr__(self, "word_templates", None)
        super().__post_init__()

    def folding(self) -> Folding:
        """How features see characters and letters."""
        return Folding(script=self.script, letters="cased" if self.mixing.is_on else self.letters)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DynamicSearch(Settings):
    """Which paths provide the words that features see.

    A label that begins a word sees the words of the best path that ends one, other labels those of the best
    path in the middle of one. If that path scores too low, they see the words of the best path of all.
    """

    beam: int = setting(
        1,
        "Beam size: how many of the best paths see their own words when tagging.",
        at_least=1,
        at_most=1000,
    )
    kind_gap: float | None = setting(
        None,
        "How far a label's own kind of path may score below the best path; below 0: the best path for all "
        "labels (the paper's search); none: no limit.",
    )
    path_gap: float | None = setting(
        None, "Ignore the words of paths that score further than this below the best; none: no limit."
    )

    def limits(self) -> tuple[float, float]:
        """`kind_gap` and `path_gap` as numbers."""
        return _limit(self.kind_gap), _limit(self.path_gap)


def _limit(value: float | None) -> float:
    return math.inf if value is None else value


@dataclasses.dataclass(frozen=True, kw_only=True)
class DynamicConfig(CrfConfig):
    """Kind `dynamic`: words of the best path so far as features, for Chinese-English mixed text."""

    kind: ClassVar[str] = "dynamic"
    rules: ClassVar[tuple[type[Learning], ...]] = (AdaGrad, PassiveAggressive)
    # Settings of the plain tagger, but not of this kind: it always finds words and tags in characters.
    level: ClassVar[Level] = "char"  # type: ignore[misc]
    segment_only: ClassVar[bool] = False  # type: ignore[misc]

    features: DynamicFeatures = setting(DynamicFeatures(), "Units and features.")
    search: DynamicSearch = setting(DynamicSearch(), "Paths that provide the words that features see.")

    def __post_init__(self) -> None:
        super().__post_init__()
        boundaries = BoundaryScheme.named(self.features.scheme)
        if len({boundaries.begin, boundaries.inside, boundaries.end, boundaries.single}) < 4:
            raise ConfigError(
                f"the scheme {self.features.scheme!r} does not say where words end; choose BIES"
            )

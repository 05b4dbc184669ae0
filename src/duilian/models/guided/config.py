"""Settings of the guided tagger."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from duilian.errors import ConfigError
from duilian.models.crf.config import CrfConfig
from duilian.settings import setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuidedConfig(CrfConfig):
    """Kind `guided`: a tagger whose features include the answers of a tagger for another standard."""

    kind: ClassVar[str] = "guided"

    source_standard: str = setting("source", "Standard of the source tagger, which guides.")
    folds: int = setting(
        0,
        "Also use a plain tagger of the target as a guide, jack-knifed in this many folds; 0: do not.",
        at_least=0,
    )
    source_iterations: int | None = setting(
        None, "Iterations of the source tagger; none: as many as for the target.", at_least=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise ConfigError("folds must be 0 or at least 2, got 1")

    def source_config(self) -> CrfConfig:
        """The settings of the source tagger."""
        return self._plain(self.source_standard, self.source_iterations or self.learning.iterations)

    def own_config(self) -> CrfConfig:
        """The settings of the target's plain tagger."""
        return self._plain(self.standard, self.learning.iterations)

    def _plain(self, standard: str, iterations: int) -> CrfConfig:
        """The settings of a plain tagger: as here, but with the default templates for the level."""
        return CrfConfig(
            standard=standard,
            level=self.level,
            segment_only=self.segment_only,
            features=dataclasses.replace(self.features, templates=None),
            learning=dataclasses.replace(self.learning, iterations=iterations),
        )

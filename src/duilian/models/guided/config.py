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

    source_standard: str = setting("source", "Name of the standard of the source, which guides.")
    folds: int = setting(
        0,
        "Let a plain tagger of the target guide too, jack-knifed in this many parts; 0: do not.",
        at_least=0,
    )
    source_iterations: int | None = setting(
        None, "Iterations of the source tagger; none: as many as the target.", at_least=1
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
        """A plain tagger learns as this one does, from the templates for its level."""
        return CrfConfig(
            standard=standard,
            level=self.level,
            segment_only=self.segment_only,
            features=dataclasses.replace(self.features, templates=None),
            learning=dataclasses.replace(self.learning, iterations=iterations),
        )

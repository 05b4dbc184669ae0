"""The guided tagger as data: the target's model with those of its guides."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian.features import Dictionary
from duilian.features.dictionary import DictionaryMode
from duilian.models.base.compiled_weights import compiled_of
from duilian.models.base.estimator import Arrays, State
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import below
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel
from duilian.models.guided.config import GuidedConfig


@dataclasses.dataclass(frozen=True)
class GuidedModel(CrfModel):
    """Weights of a guided tagger; `own` is the target's plain tagger, if it is a guide."""

    kind: ClassVar[str] = "guided"
    config_type: ClassVar[type[CrfConfig]] = GuidedConfig

    config: GuidedConfig
    source: CrfModel
    own: CrfModel | None

    def with_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """The same model with more words, or with others, also for guides that have a dictionary."""
        found = super().with_dictionary(words, mode)
        own = None if self.own is None else self.own.with_dictionary(words, mode)
        source = self.source
        if source.dictionary is not None:  # it may have been trained on its own
            source = source.with_dictionary(words, mode)
        return dataclasses.replace(found, source=source, own=own)

    def state(self, precision: Precision = "float32") -> State:
        header, arrays = super().state(precision)
        for name, guide in (("source", self.source), ("own", self.own)):
            if guide is not None:
                header[name], parts = guide.state_beside(self.dictionary, precision)
                arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        parts = cls.parts_of(header, arrays)

        def guide(name: str) -> CrfModel:
            found = CrfModel.from_state_beside(header[name], below(arrays, f"{name}."), parts["dictionary"])
            found.templates.check_columns(())
            return found

        own = guide("own") if parts["config"].folds else None
        parts["templates"].check_columns(("guide",) if own is None else ("guide", "own"))
        return cls(**parts, weights=compiled_of(arrays), source=guide("source"), own=own)

"""The guided tagger as data: the target's model with those of the taggers that guide it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian.models.base.compiled_weights import compiled_of
from duilian.models.base.estimator import Arrays, State
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import below
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel
from duilian.models.guided.config import GuidedConfig


@dataclasses.dataclass(frozen=True)
class GuidedModel(CrfModel):
    """Weights of a guided tagger; `own` is the target's plain tagger, if it guides too."""

    kind: ClassVar[str] = "guided"
    config_type: ClassVar[type[CrfConfig]] = GuidedConfig

    config: GuidedConfig
    source: CrfModel
    own: CrfModel | None

    def state(self, precision: Precision = "float32") -> State:
        """What a model file keeps."""
        header, arrays = super().state(precision)
        for name, guide in (("source", self.source), ("own", self.own)):
            if guide is not None:
                header[name], parts = guide.state(precision)
                arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model again, with its guides."""
        parts = cls.parts_of(header)
        own = _guide("own", header, arrays) if parts["config"].folds else None
        return cls(**parts, weights=compiled_of(arrays), source=_guide("source", header, arrays), own=own)


def _guide(name: str, header: Mapping[str, Any], arrays: Arrays) -> CrfModel:
    return CrfModel.from_state(header[name], below(arrays, f"{name}."))

"""Two chains as data: what training makes and a model file keeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian import _native
from duilian.features import CliqueTemplates
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.precision import Precision, dequantise, quantise
from duilian.models.two_chain.config import TwoChainConfig
from duilian.models.two_chain.packing import TwoChainPacker


@dataclasses.dataclass(frozen=True)
class TwoChainModel(StoredModel):
    """Weights of both chains with their tags (types, for chunks) and templates."""

    kind: ClassVar[str] = "two-chain"

    config: TwoChainConfig
    tags: tuple[str, ...]
    templates: CliqueTemplates
    weights: _native.TwoChainWeights

    def packer(self) -> TwoChainPacker:
        """How sentences become units and labels become words."""
        return TwoChainPacker.of(self.config, self.tags, self.templates)

    def state(self, precision: Precision = "float32") -> State:
        """What a model file keeps."""
        header = {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "tags": self.tags,
            "templates": self.templates.text,
            "templates_name": self.templates.name,
        }
        weights = self.weights
        arrays: Arrays = {"slot": weights.slot, "label": weights.label, "clique": weights.clique}
        return header, arrays | quantise(weights.weight, precision)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The model again."""
        return cls(
            TwoChainConfig().updated(header["config"]),
            tuple(str(tag) for tag in header["tags"]),
            CliqueTemplates(header["templates"], header["templates_name"]),
            _native.TwoChainWeights(arrays["slot"], arrays["label"], dequantise(arrays), arrays["clique"]),
        )

"""The multi-task tagger as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian import _native
from duilian.features import Dictionary, Templates
from duilian.labels.encoding import Encoding, names_of
from duilian.models.base.compiled_weights import compiled_of, keep_compiled
from duilian.models.base.dictionary_settings import check_dictionary, dictionary_of, keep_dictionary
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.named_weights import LabelWeights
from duilian.models.base.precision import Precision
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel
from duilian.models.multitask.config import MultitaskConfig
from duilian.models.multitask.label_mapping import LabelMapping

SIDES = (0, 1)

Tables = tuple[_native.CompiledWeights, ...]
"""The weights of a side; with expansion `best` also those of the other."""


@dataclasses.dataclass(frozen=True)
class OtherSide:
    """What a side needs from the other with expansion `best`."""

    encoding: Encoding
    weights: _native.CompiledWeights
    mapping: _native.LabelMap


@dataclasses.dataclass(frozen=True)
class SideModel(CrfModel):
    """One side as a plain tagger; with expansion `best` it also needs the other side."""

    kind: ClassVar[str] = "multitask"

    other: OtherSide | None = None


@dataclasses.dataclass(frozen=True)
class MultitaskModel(StoredModel):
    """Weights of both sides with their tags, templates and mapping."""

    kind: ClassVar[str] = "multitask"

    config: MultitaskConfig
    encodings: tuple[Encoding, Encoding]
    templates: Templates
    mapping: LabelMapping
    weights: tuple[Tables, Tables]
    dictionary: Dictionary | None = None

    def side(self, number: int) -> SideModel:
        """The model of one side."""
        config, own, *others = self.config, *self.weights[number]
        other = None
        if others:
            mapping = self.mapping if number == 0 else self.mapping.T
            native = mapping.native(is_used=config.takes_from_other(number))
            other = OtherSide(self.encodings[1 - number], others[0], native)
        standard = config.standards[number]
        plain = CrfConfig(standard=standard, level="char", features=config.features)
        tags = self.encodings[number].tags
        return SideModel(plain, tags, self.templates, own, other, dictionary=self.dictionary)

    def named_weights(self, feature: str) -> dict[str, LabelWeights]:
        """The weights of a feature by standard and label; with expansion `best`, before expansion."""
        return {
            name: self.side(number).named_weights(feature)
            for number, name in enumerate(self.config.standards)
        }

    def state(self, precision: Precision = "float32") -> State:
        words, arrays = keep_dictionary(self.dictionary)
        header = {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "tags": [encoding.tags for encoding in self.encodings],
            "templates": self.templates.text,
            "templates_name": self.templates.name,
            "mapping": {label: self.mapping.to(label) for label in self.mapping.labels_a},
        }
        for side, tables in enumerate(self.weights):
            for number, table in enumerate(tables):
                parts = keep_compiled(table, precision)
                arrays |= {f"{side}.{number}.{name}": array for name, array in parts.items()}
        return header | words, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        config = MultitaskConfig().updated(header["config"])
        a, b = (config.features.encoding("char", names_of(tags)) for tags in header["tags"])
        numbers = range(2 if config.expansion == "best" else 1)
        first, second = (
            tuple(compiled_of(arrays, f"{side}.{number}.") for number in numbers) for side in SIDES
        )
        templates = Templates(header["templates"], name=header["templates_name"])
        mapping, dictionary = LabelMapping.of(a, b, header["mapping"]), dictionary_of(header, arrays)
        check_dictionary(templates, dictionary)
        return cls(config, (a, b), templates, mapping, (first, second), dictionary)

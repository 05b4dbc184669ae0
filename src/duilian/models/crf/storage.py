"""The plain tagger as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian import _native
from duilian.features import Dictionary, Reading, Templates
from duilian.labels.encoding import names_of
from duilian.models.base.compiled_weights import compiled_of, keep_compiled
from duilian.models.base.dictionary_settings import check_dictionary, dictionary_of, keep_dictionary
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.named_weights import (
    PREVIOUS,
    LabelWeights,
    NamedFeature,
    check_previous,
    entries,
    transition_weights,
)
from duilian.models.base.packing import Packer
from duilian.models.base.precision import Precision
from duilian.models.crf.config import CrfConfig


@dataclasses.dataclass(frozen=True)
class CrfModel(StoredModel):
    """Weights of a plain tagger with its tags and templates; `tags` is None for segmentation only."""

    kind: ClassVar[str] = "crf"
    config_type: ClassVar[type[CrfConfig]] = CrfConfig

    config: CrfConfig
    tags: tuple[str, ...] | None
    templates: Templates
    weights: _native.CompiledWeights
    dictionary: Dictionary | None = dataclasses.field(default=None, kw_only=True)

    def packer(self) -> Packer:
        """How sentences become units and labels become words."""
        features = self.config.features
        reading = Reading(features.folding(), self.dictionary)
        return Packer(features.encoding(self.config.level, self.tags), self.templates, reading)

    def named_weights(self, feature: str) -> LabelWeights:
        """The weights of a feature by label."""
        packer = self.packer()
        labels = packer.encoding.labels
        if feature.startswith(PREVIOUS):
            before = feature.removeprefix(PREVIOUS)
            check_previous(before, labels)
            return transition_weights(self.weights.transition, labels, before)
        key = NamedFeature.parse(feature, self.templates.native.texts).key(packer.reading.folding)
        return {labels[k]: weight for k, weight in entries(self.weights, key).items()}

    def state(self, precision: Precision = "float32") -> State:
        words, arrays = keep_dictionary(self.dictionary)
        header = {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "tags": self.tags,
            "templates": self.templates.text,
            "templates_name": self.templates.name,
        }
        return header | words, keep_compiled(self.weights, precision) | arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        return cls(**cls.parts_of(header, arrays), weights=compiled_of(arrays))

    @classmethod
    def parts_of(
        cls, header: Mapping[str, Any], arrays: Arrays, other: Dictionary | None = None
    ) -> dict[str, Any]:
        """Everything apart from the weights: settings, tags, templates and dictionary.

        `other` is the dictionary of the larger model in whose file it is.
        """
        templates = Templates(header["templates"], name=header["templates_name"])
        dictionary = other if "shares_dictionary" in header else dictionary_of(header, arrays)
        check_dictionary(templates, dictionary)
        return {
            "config": cls.config_type().updated(header["config"]),
            "tags": None if header["tags"] is None else names_of(header["tags"]),
            "templates": templates,
            "dictionary": dictionary,
        }

    def state_beside(self, other: Dictionary | None, precision: Precision) -> State:
        """The state in the file of a larger model, which may already have the dictionary."""
        own = self.dictionary
        if own is None or other is None or own.fingerprint != other.fingerprint:
            return self.state(precision)
        header, arrays = dataclasses.replace(self, dictionary=None).state(precision)
        return header | {"shares_dictionary": True}, arrays

    @classmethod
    def from_state_beside(cls, header: Mapping[str, Any], arrays: Arrays, other: Dictionary | None) -> Self:
        """Restore a model from the file of a larger one, with its dictionary if they share it."""
        return cls(**cls.parts_of(header, arrays, other), weights=compiled_of(arrays))

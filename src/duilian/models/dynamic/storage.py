"""The tagger with dynamic features as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian.features import Templates
from duilian.models.base.compiled_weights import compiled_of
from duilian.models.base.estimator import Arrays, State
from duilian.models.base.named_weights import LabelWeights, NamedFeature, entries, template_of
from duilian.models.base.precision import Precision
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.storage import CrfModel
from duilian.models.dynamic.config import DynamicConfig
from duilian.models.dynamic.english_uses import DynamicPacker, EnglishUses

# Distinguish keys of words from keys of units, and labels that begin words from others (native/…/dynamic).
ABOUT_WORDS = 0x57F1D3A96C24E80B
ABOUT_KINDS = (0xB5297A4D3F84D5B5, 0x68E31DA41B56C4E9)


@dataclasses.dataclass(frozen=True)
class DynamicModel(CrfModel):
    """Weights, templates about words, and the uses of English words; the latter two may be None.

    In the table, a feature of words has one entry for labels that begin words and one for the others.
    """

    kind: ClassVar[str] = "dynamic"
    config_type: ClassVar[type[CrfConfig]] = DynamicConfig

    config: DynamicConfig
    word_templates: Templates | None
    english: EnglishUses | None

    def packer(self) -> DynamicPacker:
        plain = super().packer()
        return DynamicPacker(plain.encoding, plain.templates, plain.reading, self.english)

    def named_weights(self, feature: str) -> LabelWeights:
        """The weights of a feature of units, or of the words so far, by label."""
        words = [] if self.word_templates is None else self.word_templates.native.texts
        is_about_units = template_of(feature, self.templates.native.texts) is not None
        if is_about_units or template_of(feature, words) is None:
            return super().named_weights(feature)
        packer = self.packer()
        key = NamedFeature.parse(feature, words).key(packer.reading.folding, ABOUT_WORDS)
        found = [entries(self.weights, key ^ kind) for kind in ABOUT_KINDS]
        return {packer.encoding.labels[k]: weight for each in found for k, weight in each.items()}

    def state(self, precision: Precision = "float32") -> State:
        header, arrays = super().state(precision)
        words = self.word_templates
        header["word_templates"] = None if words is None else [words.name, words.text]
        return header, arrays if self.english is None else arrays | {"english": self.english.to_array()}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        words = header["word_templates"]
        return cls(
            **cls.parts_of(header, arrays),
            weights=compiled_of(arrays),
            word_templates=None if words is None else Templates(words[1], name=words[0]),
            english=EnglishUses.from_array(arrays["english"]) if "english" in arrays else None,
        )

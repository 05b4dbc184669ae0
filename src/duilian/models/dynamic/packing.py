"""What the native core is told about units, labels and templates of the tagger with dynamic features."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Templates
from duilian.labels.encoding import Encoding
from duilian.models.base.packing import Columns, Packer
from duilian.models.dynamic.english_uses import EnglishUses


@dataclasses.dataclass(frozen=True)
class DynamicPacker(Packer):
    """Packs units with the uses and the case of English words, if the templates ask for them."""

    english: EnglishUses | None

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        """The uses and the case of English words."""
        uses = self.english or EnglishUses({})
        found = [uses.columns(each) for each in units]
        return [{name: each[name] for name in self.templates.columns} for each in found]


def label_words(encoding: Encoding) -> _native.LabelWords:
    """Which labels begin and end words, and the tags they stand for."""
    tags = [str(encoding.boundaries.split(label)[1]) for label in encoding.labels]
    return _native.LabelWords(encoding.succession.start.tolist(), encoding.succession.end.tolist(), tags)


def native_templates(templates: Templates | None) -> _native.TemplateSet:
    """Templates, or an empty set of them."""
    return _native.TemplateSet() if templates is None else templates.native

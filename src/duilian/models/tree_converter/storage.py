"""The tree converter as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from duilian.labels.encoding import names_of
from duilian.models.base.estimator import Arrays, State
from duilian.models.base.precision import Precision
from duilian.models.parser.config import TreeConfig
from duilian.models.parser.storage import ParserModel
from duilian.models.tree_converter.config import TreeConverterConfig
from duilian.models.tree_converter.packing import ConverterPacker
from duilian.models.tree_converter.rewriting import TreeRules


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TreeConverterModel(ParserModel):
    """Weights and rules of a converter, with the tags and relations of both standards."""

    kind: ClassVar[str] = "tree-converter"
    config_type: ClassVar[type[TreeConfig]] = TreeConverterConfig
    takes_codes: ClassVar[bool] = False

    config: TreeConverterConfig
    target_tags: tuple[str, ...]
    source_relations: tuple[str, ...]
    rules: TreeRules

    def packer(self) -> ConverterPacker:
        return ConverterPacker(
            self.config,
            self.tags,
            self.relations,
            self.tag_class,
            root_relations=self.root_relations,
            target_tags=self.target_tags,
            source_relations=self.source_relations,
        )

    def state(self, precision: Precision = "float32") -> State:
        header, arrays = super().state(precision)
        own = {"target_tags": self.target_tags, "source_relations": self.source_relations}
        return header | own | {"rules": self.rules.text}, arrays

    @classmethod
    def parts_of(cls, header: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
        names = {name: names_of(header[name]) for name in ("target_tags", "source_relations")}
        rules = TreeRules.parsed(header["rules"], "the rules in the model")
        return super().parts_of(header, arrays) | names | {"rules": rules}

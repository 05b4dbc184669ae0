"""Sentences with guide trees for the native core, and its answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.models.parser.tree_packing import Ids, TreePacker, Weights, open_heads
from duilian.models.tree_converter.config import TreeConverterConfig
from duilian.models.tree_converter.pairs import GuidedLayer


class TargetTrees(NamedTuple):
    """Heads, relations and tags of all words by number, and the probability of each head."""

    heads: Ids
    relations: Ids
    tags: Ids
    probability: npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class ConverterPacker(TreePacker):
    """Guided layers → packed trees; `tags` are those of the source, `target_tags` those to find."""

    config: TreeConverterConfig
    target_tags: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)
    source_relations: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)

    def tag_table(self) -> tuple[int, int]:
        return self.config.conversion.tag_bits, len(self.target_tags)

    def data(self, layers: Sequence[Layer]) -> _native.TreeData:
        """The sentences for the native core with guide trees; unknown source relations share one number."""
        heads, relations, wanted = self.guides(layers)
        return super().data(layers).with_guide(heads, relations, wanted, len(self.target_tags))

    def guides(self, layers: Sequence[Layer]) -> tuple[Ids, Ids, Ids]:
        """The heads and relations of the guide trees, and the tags to find, for all words."""
        known = {name: k for k, name in enumerate(self.source_relations)}
        places = {name: k for k, name in enumerate(self.target_tags)}
        rows: tuple[list[int], list[int], list[int]] = ([], [], [])
        for layer in layers:
            assert isinstance(layer, GuidedLayer)
            rows[0].extend(layer.guide_heads)
            rows[1].extend(known.get(name, len(known)) for name in layer.guide_relations)
            rows[2].extend(-1 if tag is None else places.get(tag, -1) for tag in layer.wanted)
        heads, relations, wanted = (np.array(row, np.int32) for row in rows)
        return heads, relations, wanted

    def convert(
        self, weights: Weights, pruning: Weights, layers: Sequence[GuidedLayer], threads: int
    ) -> TargetTrees:
        """Find the best trees with relations and tags."""
        bare = [dataclasses.replace(layer, heads=None, relations=None) for layer in layers]
        data = self.data(bare)
        heads, relations, _, simplified, _, tags = self.native.parse(
            weights, pruning, data, self.options(), threads
        )
        self.warn_of(simplified)
        none = open_heads(len(heads))
        found = self.rows([layer.words for layer in bare], self.tag_numbers(bare), heads, none)
        guides = self.guides(bare)
        sure = self.native.head_probabilities(
            pruning, found.with_guide(*guides, len(self.target_tags)), threads
        )
        return TargetTrees(heads, relations, tags, sure)

    def converted(self, layers: Sequence[Layer], found: TargetTrees) -> list[Layer]:
        """The sentences with the trees and tags found."""
        done, at = [], 0
        heads, relations, tags = (row.tolist() for row in found[:3])
        for layer in layers:
            end = at + len(layer)
            done.append(
                Layer(
                    layer.words,
                    tuple(self.target_tags[k] for k in tags[at:end]) if self.target_tags else layer.tags,
                    tuple(heads[at:end]),
                    tuple(self.relations[k] for k in relations[at:end]) if self.relations else None,
                )
            )
            at = end
        return done

"""Words with candidate tags for the native core, and its answers as layers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Templates
from duilian.models.joint_parser.config import JointParserConfig
from duilian.models.joint_parser.tag_candidates import TagCandidates
from duilian.models.parser.tree_packing import (
    FoundTrees,
    Ids,
    TreePacker,
    Weights,
    Words,
    open_heads,
    with_given_tags,
)


@dataclasses.dataclass(frozen=True, eq=False)
class JointPacker(TreePacker):
    """Layers → words with candidate tags → layers with tags and trees."""

    config: JointParserConfig
    templates: Templates

    @functools.cached_property
    def joint(self) -> _native.JointParser:
        """The native parser that also finds tags."""
        return _native.JointParser(self.native, self.config.tagging.bits, self.templates.native)

    @property
    def weights(self) -> int:
        return self.joint.weights

    def joint_data(self, layers: Sequence[Layer], found: TagCandidates, gold: Ids) -> _native.JointData:
        """The sentences for the native core, with heads and relations of the layers and candidate tags."""
        return self.joint_rows(self.data(self.with_tags(layers, found.best)), found, gold)

    def joint_rows(self, tree: _native.TreeData, found: TagCandidates, gold: Ids) -> _native.JointData:
        """The same for packed sentences, which have the likeliest tags."""
        likelihood = found.likelihood
        if not self.config.tagging.likelihoods:
            likelihood = np.zeros_like(likelihood)
        sizes = (len(self.tags), len(self.relations))
        return _native.JointData(tree, found.first, found.tag, likelihood, gold, *sizes)

    def with_tags(self, layers: Sequence[Layer], numbers: Ids) -> list[Layer]:
        """The sentences with these tags, which are the numbers of the tags of all words."""
        flat, at, found = [self.tags[k] for k in numbers.tolist()], 0, []
        for layer in layers:
            found.append(dataclasses.replace(layer, tags=tuple(flat[at : at + len(layer)])))
            at += len(layer)
        return found

    def parse_jointly(
        self, weights: Weights, pruning: Weights, words: Words, found: TagCandidates, heads: Ids, threads: int
    ) -> FoundTrees:
        """The best tags and projective trees with these heads (-1: open)."""
        data = self.joint_rows(
            self.rows(words, found.best, heads, threads=threads), found, open_heads(len(heads))
        )
        options = self.options(keep_heads=True)
        tags, own, relations, _, simplified, impossible = self.joint.parse(
            weights, pruning, data, options, threads
        )
        self.warn_of(simplified)
        return FoundTrees(tags, own, relations, impossible)

    def with_trees(
        self, layers: Sequence[Layer], trees: FoundTrees, *, keep_given: bool = False
    ) -> list[Layer]:
        """The sentences with these tags and trees; with `keep_given`, given tags and relations stay."""
        tagged = self.with_tags(layers, trees.tags)
        if keep_given:
            tagged = [with_given_tags(mine, given) for mine, given in zip(tagged, layers, strict=True)]
        return super().with_trees(tagged, trees, keep_given=keep_given)

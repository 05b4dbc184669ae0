"""Words with candidate tags as the native core reads them, and its answers as layers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Templates
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.joint_parser.config import JointParserConfig
from duilian.models.joint_parser.tag_candidates import TagCandidates, allowed_tags, candidates, marginals_of
from duilian.models.parser.tree_packing import Ids, TreePacker, Weights


@dataclasses.dataclass(frozen=True, eq=False)
class JointPacker(TreePacker):
    """Layers → words with candidate tags → layers with tags and trees."""

    config: JointParserConfig
    templates: Templates

    @functools.cached_property
    def joint(self) -> _native.JointParser:
        """The parser that finds tags, too."""
        return _native.JointParser(self.native, self.config.tagging.bits, self.templates.native)

    @property
    def weights(self) -> int:
        """How many weights the parser has, besides those that prune."""
        return self.joint.weights

    def candidates(
        self, tagger: CrfPredictor, layers: Sequence[Layer], *, keep_tags: bool = False, threads: int = 1
    ) -> TagCandidates:
        """The tags that a tagger finds probable enough; with `keep_tags` only given ones, where given."""
        marginals = marginals_of(tagger, layers, self.tags, threads)
        given = allowed_tags(layers, self.tags) if keep_tags else None
        return candidates(marginals, self.config.tagging.threshold, given=given)

    def joint_data(self, layers: Sequence[Layer], found: TagCandidates, gold: Ids) -> _native.JointData:
        """The sentences as the native core reads them: heads and relations of the layers, these tags."""
        named = self.with_tags(layers, found.best)
        likelihood = found.likelihood
        if not self.config.tagging.likelihoods:
            likelihood = np.zeros_like(likelihood)
        sizes = (len(self.tags), len(self.relations))
        return _native.JointData(self.data(named), found.first, found.tag, likelihood, gold, *sizes)

    def with_tags(self, layers: Sequence[Layer], numbers: Ids) -> list[Layer]:
        """The sentences with these tags, given by number for all words in a row."""
        flat, at, found = [self.tags[k] for k in numbers.tolist()], 0, []
        for layer in layers:
            found.append(dataclasses.replace(layer, tags=tuple(flat[at : at + len(layer)])))
            at += len(layer)
        return found

    def parse_jointly(
        self,
        weights: Weights,
        pruning: Weights,
        layers: Sequence[Layer],
        found: TagCandidates,
        *,
        keep_heads: bool = False,
        threads: int = 1,
    ) -> list[Layer]:
        """The sentences with the tags and trees that these weights find."""
        data = self.joint_data(layers, found, np.full(len(found.best), -1, np.int32))
        tags, heads, relations, scores, simplified, impossible = self.joint.parse(
            weights, pruning, data, self.options(keep_heads=keep_heads), threads
        )
        parsed = (heads, relations, scores, simplified, impossible)
        return self.with_trees(self.with_tags(layers, tags), parsed, keep_heads=keep_heads)

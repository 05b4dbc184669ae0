"""The joint parser compiled for answering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.joint_parser.joint_packing import JointPacker
from duilian.models.joint_parser.storage import JointParserModel
from duilian.models.joint_parser.tag_candidates import allowed_tags, candidates, marginals_of
from duilian.models.parser.annotating import Tags, TreeFinder, lacks_tree
from duilian.models.parser.predictor import ParserPredictor
from duilian.models.parser.tree_packing import FoundTrees, Ids, Words
from duilian.models.roles import TaggedWords


class JointParserPredictor(ParserPredictor):
    """Answers of a joint parser: tags and trees of words."""

    packer: JointPacker

    def __init__(self, model: JointParserModel) -> None:
        super().__init__(model)
        self.tagger = CrfPredictor(model.tagger)

    def _tags(self, sentences: TaggedWords) -> Tags:
        """Any tag for every word: the parser finds its own."""
        return np.zeros((len(sentences.tag), len(self.packer.tags)), np.bool_)

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with their tags and trees; with `keep_heads` given tags, heads and relations stay."""
        given = layers if keep_heads else [Layer(layer.words) for layer in layers]
        finder = TreeFinder(
            self,
            [layer.words for layer in layers],
            allowed_tags(given, self.packer.tags),
            layers if keep_heads else (),
        )
        found = finder.find(lambda layer: lacks_tree(layer) or _lacks_tags(layer), threads)
        return self.packer.with_trees(layers, found, keep_given=keep_heads)

    def search(self, words: Words, tags: Tags, heads: Ids, threads: int) -> FoundTrees:
        """The best tags, of those allowed, and projective trees with these heads (-1: open)."""
        layers = [Layer(tuple(each)) for each in words]
        marginals = marginals_of(self.tagger, layers, self.packer.tags, threads)
        given = tags if tags.any() else None
        found = candidates(marginals, self.packer.config.tagging.threshold, given=given)
        return self.packer.parse_jointly(self.weights, self.pruning, words, found, heads, threads)

    def pruning_tags(self, layers: list[Layer], *, threads: int = 1) -> list[Layer]:
        """Those of the plain tagger."""
        return self.tagger.predict_layers(layers, threads=threads)

    def check_tags(self, layers: Sequence[Layer]) -> None:
        """Refuse nothing: the parser finds the tags itself."""

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> NoReturn:
        """Refused: a joint parser gives one answer."""
        hint = "use a model of kind parser, with --tagger if the words have no tags"
        raise ConfigError(f"a joint parser has no k best trees (the model is of kind {self.kind})", hint)


def _lacks_tags(layer: Layer) -> bool:
    return not all(isinstance(tag, str) for tag in layer.tags or (None,))

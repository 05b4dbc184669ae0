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
from duilian.models.joint_parser.tag_candidates import (
    TagCandidates,
    candidates,
    marginals_of,
    united_marginals,
)
from duilian.models.parser.annotating import Tags, TreeFinder, allowed_tags, lacks_tree
from duilian.models.parser.predictor import ParserPredictor, chosen_tags
from duilian.models.parser.tree_packing import FoundTrees, Ids, Words
from duilian.models.roles import TaggedWords, Trees


class JointParserPredictor(ParserPredictor):
    """Answers of a joint parser: tags and trees of words."""

    packer: JointPacker

    def __init__(self, model: JointParserModel) -> None:
        super().__init__(model)
        self.tagger = CrfPredictor(model.tagger)

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        """As for all parsers; if only tags are wanted, only sentences with a choice of tags are parsed."""
        if sentences.wants_trees or sentences.likely is None or given:
            return super().annotate(sentences, given, threads)
        words, tags = sentences.words, self.tags_of(sentences)
        found = self._candidates(words, tags, threads)
        first = np.cumsum([0, *map(len, words)])
        choices = np.concatenate([[0], np.cumsum(np.diff(found.first) > 1)])[first]
        # Parts of overlong sentences have candidates of their own.
        is_open = (np.diff(choices) > 0) | (np.diff(first) > self.max_length)
        rows = np.flatnonzero(np.repeat(is_open, np.diff(first)))
        some = [words[k] for k in np.flatnonzero(is_open).tolist()]
        chosen = np.array(found.best)
        if some:
            chosen[rows] = TreeFinder(self, some, tags[rows], ()).find(lacks_tree, threads).tags
        heads = np.full(len(chosen), -1, np.int32)
        return self.trees_of(sentences, FoundTrees(chosen, heads, heads), given)

    def tags_of(self, sentences: TaggedWords) -> Tags:
        """The probabilities of the tags that a labeler leaves; without a labeler, all tags are possible."""
        shape = (len(sentences.tag), len(self.packer.tags))
        if sentences.likely is None:
            return np.zeros(shape, np.bool_)
        number = self.number_names(sentences.names)[sentences.likely.tag]
        is_known = number < shape[1]
        cell = sentences.likely.word[is_known] * shape[1] + number[is_known]
        return np.bincount(cell, sentences.likely.p[is_known], shape[0] * shape[1]).reshape(shape)

    def trees_of(self, sentences: TaggedWords, found: FoundTrees, given: Sequence[Layer]) -> Trees:
        """Trees with the tags chosen among those that a labeler leaves."""
        trees = super().trees_of(sentences, found, given)
        if sentences.likely is None:
            return trees
        return trees._replace(tag=chosen_tags(sentences, found.tags, self.number_names(sentences.names)))

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with tags and trees; with `keep_heads`, given tags, heads and relations stay."""
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
        """The best of the allowed tags and projective trees with these heads (-1: open)."""
        found = self._candidates(words, tags, threads)
        return self.packer.parse_jointly(self.weights, self.pruning, words, found, heads, threads)

    def _candidates(self, words: Words, tags: Tags, threads: int) -> TagCandidates:
        threshold, names = self.packer.config.tagging.threshold, self.packer.tags
        if tags.dtype == np.bool_:  # whether each tag is allowed
            layers = [Layer(tuple(each)) for each in words]
            marginals = marginals_of(self.tagger, layers, names, threads)
            return candidates(marginals, threshold, given=tags if tags.any() else None)
        return candidates(united_marginals(self.tagger, words, tags, names, threads), threshold)

    def pruning_tags(self, layers: list[Layer], *, threads: int = 1) -> list[Layer]:
        """The sentences with the tags of the plain tagger."""
        return self.tagger.predict_layers(layers, threads=threads)

    def check_tags(self, layers: Sequence[Layer]) -> None:
        """Check nothing: the parser finds tags itself."""

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> NoReturn:
        """Raise ConfigError: a joint parser finds only one answer."""
        hint = "use a model of kind parser, with --tagger if the words have no tags"
        raise ConfigError(f"a joint parser has no k best trees (the model is of kind {self.kind})", hint)


def _lacks_tags(layer: Layer) -> bool:
    return not all(isinstance(tag, str) for tag in layer.tags or (None,))

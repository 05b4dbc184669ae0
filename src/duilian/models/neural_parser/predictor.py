"""The neural parser compiled for answering."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.models.neural_parser.packing import UNKNOWN, WordPacker
from duilian.models.neural_parser.storage import NeuralParserModel
from duilian.models.parser.annotating import Tags, TreeFinder, allowed_tags, lacks_tree, with_given_heads
from duilian.models.parser.predictor import PART_RELATIONS, chosen_tags, named_trees
from duilian.models.parser.ranking import ScoredHeads, k_best_of_parts, without_tree
from duilian.models.parser.storage import ROOT
from duilian.models.parser.tree_packing import FoundTrees, Ids, Words, layers_with_trees, open_heads
from duilian.models.roles import TaggedWords, Trees
from duilian.standards import split_pair

NEVER = -1e6  # a score that no tree survives
LEAST = 1e-4  # the network rules no tag of a tagger out

Table = npt.NDArray[np.float64]


class NeuralParserPredictor:
    """Answers of a neural parser: trees of words, and tags if it chooses them."""

    min_share = 0.0  # it tries every arc

    def __init__(self, model: NeuralParserModel) -> None:
        self.kind, self.config = model.kind, model.config
        self.relations, self.tags = model.relations, model.output_tags
        self.max_length = model.config.max_length
        self.packer, self.native = WordPacker(model), model.native()
        usable = [name for name in (*PART_RELATIONS, *self.relations) if name in self.relations]
        self.part_relation = self.relations.index(next((name for name in usable if name != ROOT), usable[0]))
        self._input_tag = np.array([*map(self.packer.tag_number, self.tags), UNKNOWN], np.int32)
        self._numbers: dict[tuple[str, ...], Ids] = {}  # of tags, by the tag names of a labeler

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        """Parse sentences of any length, keeping given annotation."""
        tags, heads = self.tags_of(sentences), open_heads(len(sentences.tag))
        is_short = max(map(len, sentences.words), default=0) <= self.max_length
        if sentences.wants_trees or given or not is_short:
            found = TreeFinder(self, sentences.words, tags, given).find(lacks_tree, threads)
        else:
            found = self._answer(sentences.words, tags, heads, threads, finds_trees=False)
        trees = named_trees(self.relations, found, given)
        if not self.config.chooses_tags or sentences.likely is None:
            return trees
        return trees._replace(tag=chosen_tags(sentences, found.tags, self.number_names(sentences.names)))

    def tags_of(self, sentences: TaggedWords) -> Tags:
        """The tags of the words as the network's inputs, or the probabilities of tags to choose from."""
        number = self.number_names(sentences.names)
        if not self.config.chooses_tags:
            return number[sentences.tag]
        shape = (len(sentences.tag), len(self.tags))
        if sentences.likely is None:
            return np.zeros(shape, np.bool_)
        number = number[sentences.likely.tag]
        is_known = number < shape[1]
        cell = sentences.likely.word[is_known] * shape[1] + number[is_known]
        return np.bincount(cell, sentences.likely.p[is_known], shape[0] * shape[1]).reshape(shape)

    def number_names(self, names: tuple[str, ...]) -> Ids:
        """A labeler's tags as numbers of the network's inputs, or of its own tags if it chooses."""
        known = self._numbers.get(names)
        if known is None:
            number = self._own_number if self.config.chooses_tags else self.packer.tag_number
            known = self._numbers[names] = np.array(list(map(number, names)), np.int32)
        return known

    def _own_number(self, tag: str) -> int:
        known = [name for name in (tag, *split_pair(tag)[::-1]) if name in self.tags]
        return self.tags.index(known[0]) if known else len(self.tags)

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with their trees; with `keep_heads`, given heads and relations stay."""
        words, given = [layer.words for layer in layers], layers if keep_heads else ()
        if self.config.chooses_tags:
            bare = layers if keep_heads else [Layer(layer.words) for layer in layers]
            tags: Tags = allowed_tags(bare, self.tags)
            finder = TreeFinder(self, words, tags, given)
            found = finder.find(lambda layer: lacks_tree(layer) or _lacks_tags(layer), threads)
        else:
            found = TreeFinder(self, words, self._given_tags(layers), given).find(lacks_tree, threads)
        trees = layers_with_trees(layers, found, self.relations, keep_given=keep_heads)
        return self._with_tags(trees, found.tags, keep=keep_heads) if self.config.chooses_tags else trees

    def _given_tags(self, layers: Sequence[Layer]) -> Ids:
        rows = (tag for layer in layers for tag in layer.tags or (None,) * len(layer))
        number = self.packer.tag_number
        return np.array([number(tag) if isinstance(tag, str) else UNKNOWN for tag in rows], np.int32)

    def _with_tags(self, layers: Sequence[Layer], tags: Ids, *, keep: bool) -> list[Layer]:
        found, names = [], iter(tags.tolist())
        for layer in layers:
            own = [self.tags[k] if k >= 0 else "" for k in itertools.islice(names, len(layer))]
            given = layer.tags if keep and layer.tags is not None else (None,) * len(layer)
            kept = (
                theirs if isinstance(theirs, str) else mine for mine, theirs in zip(own, given, strict=True)
            )
            found.append(dataclasses.replace(layer, tags=tuple(kept)))
        return found

    def search(self, words: Words, tags: Tags, heads: Ids, threads: int) -> FoundTrees:
        """The best projective trees with these heads (-1: open)."""
        return self._answer(words, tags, heads, threads)

    def choose_relations(self, words: Sequence[str], tree: FoundTrees, doubtful: Sequence[int]) -> None:
        """Give new relations to some words of a tree: for each the best."""
        tags = np.full(len(words), UNKNOWN, np.int32) if self.config.chooses_tags else tree.tags
        found = self._answer([words], tags, tree.heads, 1, finds_trees=False)
        tree.relations[doubtful] = found.relations[doubtful]

    def _answer(
        self, words: Words, tags: Tags, heads: Ids, threads: int, *, finds_trees: bool = True
    ) -> FoundTrees:
        chooses = tags.ndim == 2
        features = self.packer.features(words, self._inputs(tags) if chooses else tags)
        first = np.cumsum([0, *map(len, words)], dtype=np.int64)
        found, relations, p, impossible = self.native.answer(
            first, features, np.ascontiguousarray(heads), finds_trees, chooses, threads
        )
        chosen = _chosen(p, tags, self.config.tag_share) if chooses else tags
        return FoundTrees(chosen, found, relations, impossible)

    def _inputs(self, tags: Tags) -> Ids:
        """The tags that the network sees: those of words with only one allowed tag."""
        if tags.dtype != np.bool_:
            return np.full(len(tags), UNKNOWN, np.int32)
        return self._input_tag[np.where(tags.sum(axis=1) == 1, tags.argmax(axis=1), len(self.tags))]

    def k_best(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """The k best trees with their log probabilities, best first; fewer if there are no more."""
        return self.ranked_trees(layer, k, keep_heads=keep_heads)

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """Like `k_best`: this parser can do without tags, so there is nothing to check."""
        if not layer.words:
            return []
        bare = layer if keep_heads else without_tree(layer)
        found = k_best_of_parts(bare, k, self.max_length, self._k_best)
        given = layer.relations if keep_heads else None
        trees = [dataclasses.replace(layer, heads=tuple(heads), relations=given) for _, heads in found]
        tags = self._seen_tags(trees)
        labelled = TreeFinder(self, [layer.words] * len(trees), tags, trees).find(lambda _: True, 1)
        named = layers_with_trees(trees, labelled, self.relations, keep_given=True)
        return [(score, tree) for (score, _), tree in zip(found, named, strict=True)]

    def _k_best(self, layer: Layer, k: int) -> list[ScoredHeads]:
        """The k best trees of a sentence, or of a part of one, that keep its heads."""
        scores = self.native.arc_scores(self.packer.features([layer.words], self._seen_tags([layer])))
        given = [-1 if head is None else head for head in layer.heads or (None,) * len(layer)]
        for word, head in enumerate(given, start=1):
            if head >= 0:
                scores[np.arange(len(scores)) != head, word] = NEVER
        found = _native.k_best_trees(scores, k)
        kept = [(score, heads) for score, heads in found if score > NEVER / 2]
        if kept or not found:
            return kept
        # They fit into no projective tree: search without them, and put them back.
        return [
            (score, with_given_heads(heads, given)) for score, heads in self._k_best(without_tree(layer), 1)
        ]

    def _seen_tags(self, layers: Sequence[Layer]) -> Ids:
        """The tags of sentences as the network's inputs; one that chooses tags sees none."""
        if not self.config.chooses_tags:
            return self._given_tags(layers)
        return np.full(sum(map(len, layers)), UNKNOWN, np.int32)

    def check_tags(self, layers: Sequence[Layer]) -> None:
        """Check nothing: the parser can do without tags."""


def _chosen(p: npt.NDArray[np.float32], tags: Tags, share: float) -> Ids:
    """The best tags by the network and a labeler together: p(labeler)^(1 - share) · p(network)^share.

    Only tags that the labeler finds possible count; where there are none, the network decides alone. `tags`
    may also say which ones are allowed.
    """
    own: Table = np.maximum(p, LEAST, dtype=np.float64)
    if tags.dtype != np.bool_:
        own = own**share * tags ** (1.0 - share)
    weighed = np.where(tags > 0, own, 0.0)
    is_open = np.logical_not(tags.any(axis=1, keepdims=True))
    chosen: Ids = np.where(is_open, p, weighed).argmax(axis=1).astype(np.int32)
    return chosen


def _lacks_tags(layer: Layer) -> bool:
    return not all(isinstance(tag, str) for tag in layer.tags or (None,))

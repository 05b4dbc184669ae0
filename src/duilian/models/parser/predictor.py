"""The parser compiled for answering."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.corpus.trees import word_in_cycle
from duilian.errors import StandardError
from duilian.models.parser.annotating import Tags, TreeFinder, lacks_tree
from duilian.models.parser.ranking import ScoredHeads, k_best_of_parts, without_tree
from duilian.models.parser.storage import ParserModel
from duilian.models.parser.tree_packing import FoundTrees, Ids, TreePacker, Weights, Words
from duilian.models.roles import TaggedWords, Trees

PART_RELATIONS = ("parataxis", "dep")  # relations that join the parts of an overlong sentence


class ParserPredictor:
    """Answers of a parser: trees of tagged words, k best."""

    packer: TreePacker

    def __init__(self, model: ParserModel) -> None:
        self.kind, self.standard, self.packer = model.kind, model.config.standard, model.packer()
        self._model, self.pruning = model, model.pruning
        self._numbers: dict[tuple[str, ...], Ids] = {}  # of tags, by the tag names of a labeler

    @functools.cached_property
    def weights(self) -> Weights:
        """The weights of trees and relations as an array."""
        return self._model.dense_weights()

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        """Parse sentences of any length, keeping given annotation."""
        finder = TreeFinder(self, sentences.words, self.tags_of(sentences), given)
        return self.trees_of(sentences, finder.find(lacks_tree, threads), given)

    def trees_of(self, sentences: TaggedWords, found: FoundTrees, given: Sequence[Layer]) -> Trees:
        """The trees found, with names of relations; given relations stay."""
        return named_trees(self.packer.relations, found, given)

    def tags_of(self, sentences: TaggedWords) -> Tags:
        """The tags of the words, numbered as in the model."""
        return self.number_names(sentences.names)[sentences.tag]

    def number_names(self, names: tuple[str, ...]) -> Ids:
        """The model's numbers of a labeler's tags, which are looked up once."""
        known = self._numbers.get(names)
        if known is None:
            known = self._numbers[names] = np.array(list(map(self.packer.tag_number, names)), np.int32)
        return known

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with their trees; with `keep_heads`, given heads and relations stay."""
        self.check_tags(layers)
        tags, words = self.packer.tag_numbers(layers), [layer.words for layer in layers]
        found = TreeFinder(self, words, tags, layers if keep_heads else ()).find(lacks_tree, threads)
        return self.packer.with_trees(layers, found, keep_given=keep_heads)

    @property
    def max_length(self) -> int:
        return self.packer.config.trees.max_length

    @functools.cached_property
    def part_relation(self) -> int:
        """The relation that joins parts; if possible, not one of roots."""
        names, of_roots = self.packer.relations, self.packer.root_relations
        usable = [name for name in (*PART_RELATIONS, *names) if name in names and name not in of_roots]
        return names.index(usable[0]) if usable else 0

    @property
    def min_share(self) -> float:
        """The pruning threshold; 0 if it tries every arc."""
        return self.packer.config.min_share

    def search(self, words: Words, tags: Tags, heads: Ids, threads: int) -> FoundTrees:
        return self.packer.parse(self._model.search_weights, self.pruning, words, tags, heads, threads)

    def choose_relations(self, words: Sequence[str], tree: FoundTrees, doubtful: Sequence[int]) -> None:
        """Give new relations to some words of a tree: for each the best, given the others."""
        heads, relations = tree.heads, tree.relations
        is_scored = word_in_cycle(heads.tolist()) is None

        def score(word: int, relation: int) -> float:
            relations[word] = relation
            data = self.packer.rows([words], tree.tags, heads, relations)
            return self.packer.native.relation_score(self.weights, data, 0, int(heads[word]))

        for word in doubtful if self.packer.relations else ():
            usable = np.arange(len(self.packer.relations))
            if self.packer.root_relations:
                usable = np.flatnonzero(self.packer.is_of_roots == (heads[word] == 0))
            if is_scored and len(usable) > 1:
                relations[word] = max(usable.tolist(), key=functools.partial(score, word))
            else:
                relations[word] = usable[0] if len(usable) else self.part_relation

    def k_best(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """The k best trees of a sentence with their scores, best first; fewer if it has no more."""
        self.check_tags([layer])
        return self.ranked_trees(layer, k, keep_heads=keep_heads)

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """Like `k_best`, without checking tags: one unknown tag need not mean another tag set."""
        if not layer.words:
            return []
        packer = self.packer
        found = k_best_of_parts(
            layer if keep_heads else without_tree(layer), k, self.max_length, self._k_best
        )
        given = layer.relations if keep_heads else None
        trees = [dataclasses.replace(layer, heads=tuple(heads), relations=given) for _, heads in found]
        tags, words = packer.tag_numbers(trees), [layer.words] * len(trees)
        labelled = TreeFinder(self, words, tags, trees).find(lambda _: True, 1)
        named = packer.with_trees(trees, labelled, keep_given=True)
        return [(score, tree) for (score, _), tree in zip(found, named, strict=True)]

    def _k_best(self, layer: Layer, k: int) -> list[ScoredHeads]:
        """The k best trees of a sentence, or of a part of one, that keep its heads."""
        packer, data = self.packer, self.packer.data([layer])
        if packer.config.order == 1 and layer.heads is None:
            return _native.k_best_trees(packer.native.arc_scores(self.weights, data, 0), k)
        options = packer.options(keep_heads=layer.heads is not None)
        return packer.native.k_best(self.weights, self.pruning, data, 0, k, options)

    def allowed_arcs(self, data: _native.TreeData, *, threads: int = 1) -> npt.NDArray[np.uint8]:
        """Which arcs of packed sentences survive pruning."""
        return self.packer.native.allowed_arcs(self.pruning, data, self.min_share, threads)

    def pruning_tags(self, layers: list[Layer], *, threads: int = 1) -> list[Layer]:
        """The sentences with the tags that pruning sees."""
        return layers

    def check_tags(self, layers: Sequence[Layer]) -> None:
        """Raise StandardError for words without tags, or if all tags are unknown."""
        seen = set()
        for number, layer in enumerate(layers, start=1):
            if layer.words and (layer.tags is None or not all(isinstance(tag, str) for tag in layer.tags)):
                hint = "tag them first (--tagger), or use a joint-parser"
                raise StandardError(
                    f"sentence {number} has words without tags, which a {self.kind} needs", hint
                )
            seen |= set(layer.tags or ())
        tags = self.packer.tags
        if seen and all(self.packer.tag_number(str(tag)) == len(tags) for tag in seen):
            ours, theirs = (
                ", ".join(sorted(map(str, some), key=lambda tag: (not tag[:1].isalpha(), tag))[:5])
                for some in (tags, seen)
            )
            raise StandardError(
                f"the parser knows none of the tags: it has {ours} …, the sentences have {theirs} …",
                f"the parser was trained for {self.standard!r}",
            )


def named_trees(names: tuple[str, ...], found: FoundTrees, given: Sequence[Layer]) -> Trees:
    """The trees found, with names of relations; given relations stay."""
    if not names or not given:
        return Trees(found.heads, found.relations if names else None, names)
    given_names = [name for layer in given for name in layer.relations or (None,) * len(layer)]
    number = {name: k for k, name in enumerate(dict.fromkeys([*names, *filter(None, given_names)]))}
    for word, name in enumerate(given_names):
        if name is not None:
            found.relations[word] = number[name]
    return Trees(found.heads, found.relations, tuple(number))


def chosen_tags(sentences: TaggedWords, tags: Ids, number: Ids) -> Ids:
    """A labeler's tags, with a parser's choices among the likely ones; `number` is the parser's for each.

    Several tags of the labeler may be the same tag to the parser; the likeliest of them is chosen.
    """
    likely = sentences.likely
    assert likely is not None
    is_chosen = number[likely.tag] == tags[likely.word]
    word, tag, p = (each[is_chosen] for each in likely)
    order = np.lexsort((p, word))
    chosen = np.array(sentences.tag, np.int32)
    chosen[word[order]] = tag[order]
    return chosen

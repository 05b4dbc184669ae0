"""Sentences with trees for the native core, and its answers as layers."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.features import pack
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.parser.config import TreeConfig
from duilian.standards import split_pair
from duilian.text import Folding

Weights = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
Words = Sequence[Sequence[str]]
_log = logging.getLogger("duilian")


class FoundTrees(NamedTuple):
    """Tags, heads and relations of the words of all sentences, by number."""

    tags: Ids
    heads: Ids
    relations: Ids
    impossible: Sequence[int] = ()  # sentences with given heads that fit into no projective tree


def open_heads(words: int) -> Ids:
    """Heads (or relations) of words for which none is given."""
    return np.full(words, -1, np.int32)


@dataclasses.dataclass(frozen=True, eq=False)
class TreePacker:
    """Layers → packed trees → layers, for the tags and relations of a standard."""

    config: TreeConfig
    tags: tuple[str, ...]
    relations: tuple[str, ...]
    tag_class: npt.NDArray[np.uint8]  # [tags]  other, verb, conjunction or mark
    root_relations: tuple[str, ...] = dataclasses.field(default=(), kw_only=True)  # of roots only
    hinter: CrfPredictor | None = dataclasses.field(default=None, kw_only=True)  # finds hints for words

    def __getstate__(self) -> dict[str, Any]:
        """Return only the settings; other processes make the native parser from them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @functools.cached_property
    def native(self) -> _native.TreeParser:
        """The native parser, which gets its weights with each call."""
        config, of_roots = self.config, self.is_of_roots.astype(np.uint8)
        bits = (config.trees.bits, config.relations.bits, config.pruning.bits)
        relations, tags = (len(self.relations), self.tag_class, of_roots), self.tag_table()
        return _native.TreeParser(config.order, *bits, *relations, *tags)

    def tag_table(self) -> tuple[int, int]:
        """The size in bits of the table of weights for tags, and how many tags there are to find: none."""
        return 4, 0

    @functools.cached_property
    def is_of_roots(self) -> npt.NDArray[np.bool_]:
        """For each relation, whether only roots have it."""
        return np.array([name in self.root_relations for name in self.relations], np.bool_)

    @property
    def weights(self) -> int:
        """The number of weights, without those for pruning."""
        return self.native.weights

    @functools.cached_property
    def folding(self) -> Folding:
        """How features see characters."""
        return Folding(script=self.config.script)

    def data(self, layers: Sequence[Layer]) -> _native.TreeData:
        """The sentences for the native core; an unknown tag has the number len(tags)."""
        known = {relation: k for k, relation in enumerate(self.relations)}
        heads = [
            -1 if head is None else head for layer in layers for head in layer.heads or (None,) * len(layer)
        ]
        relations = [
            known.get(relation, -1) if relation is not None else -1
            for layer in layers
            for relation in layer.relations or (None,) * len(layer)
        ]
        numbers = (np.array(row, np.int32) for row in (heads, relations))
        return self.rows([layer.words for layer in layers], self.tag_numbers(layers), *numbers)

    def tag_numbers(self, layers: Sequence[Layer]) -> Ids:
        """The number of each tag; len(tags) if it is unknown."""
        rows = [self.tag_number(str(tag)) for layer in layers for tag in layer.tags or ()]
        return np.array(rows, np.int32)

    def tag_number(self, tag: str) -> int:
        """The number of a tag, or of part of a pair if the parser does not know the pair."""
        if tag not in self._numbers:
            known = [name for name in (tag, *split_pair(tag)[::-1]) if name in self.tags]
            self._numbers[tag] = self.tags.index(known[0]) if known else len(self.tags)
        return self._numbers[tag]

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        return {tag: k for k, tag in enumerate(self.tags)}

    def rows(
        self,
        words: Sequence[Sequence[str]],
        tags: Ids,
        heads: Ids,
        relations: Ids | None = None,
        *,
        threads: int = 1,
    ) -> _native.TreeData:
        """Pack sentences with the numbers of the tags, heads and relations of all words."""
        packed = pack(words, self.folding)
        relations = open_heads(len(heads)) if relations is None else relations
        data = _native.TreeData(packed, tags, heads, relations, len(self.tags), len(self.relations))
        return data if self.hinter is None else data.with_hints(self.hinter.label_numbers(words, threads))

    def options(self, *, keep_heads: bool = False) -> _native.ParseOptions:
        """The options of a search."""
        trees, relations = self.config.trees, self.config.relations
        return _native.ParseOptions(
            self.config.min_share, trees.max_length, keep_heads, trees.head_cost, relations.relation_cost
        )

    @functools.cached_property
    def _keeping_heads(self) -> _native.ParseOptions:
        return self.options(keep_heads=True)

    def parse(
        self,
        weights: Weights | _native.CodedWeights,
        pruning: Weights,
        words: Words,
        tags: Ids,
        heads: Ids,
        threads: int,
    ) -> FoundTrees:
        """The best projective trees with these heads (-1: open)."""
        question = (pruning, self.rows(words, tags, heads, threads=threads), self._keeping_heads, threads)
        if isinstance(weights, _native.CodedWeights):
            answer = self.native.parse_coded(weights, *question)
        else:
            answer = self.native.parse(weights, *question)
        found, relations, _, simplified, impossible, _ = answer
        self.warn_of(simplified)
        return FoundTrees(tags, found, relations, impossible)

    def warn_of(self, simplified: Sequence[int]) -> None:
        """Warn of sentences that were too large for the parser's order."""
        if simplified:
            _log.warning(
                "%d sentences were too large for the parser's search: parsed at order 1", len(simplified)
            )

    def parse_layers(
        self, weights: Weights, pruning: Weights, layers: Sequence[Layer], *, threads: int = 1
    ) -> list[Layer]:
        """The sentences with the trees found with these weights."""
        tags = self.tag_numbers(layers)
        words = [layer.words for layer in layers]
        found = self.parse(weights, pruning, words, tags, open_heads(len(tags)), threads)
        return self.with_trees(layers, found)

    def with_trees(
        self, layers: Sequence[Layer], trees: FoundTrees, *, keep_given: bool = False
    ) -> list[Layer]:
        """The sentences with these trees; with `keep_given`, given relations stay."""
        return layers_with_trees(layers, trees, self.relations, keep_given=keep_given)


def layers_with_trees(
    layers: Sequence[Layer], trees: FoundTrees, names: Sequence[str], *, keep_given: bool = False
) -> list[Layer]:
    """The sentences with these trees and relations by name; with `keep_given`, given relations stay."""
    found, at = [], 0
    heads, relations = trees.heads.tolist(), trees.relations.tolist()
    for layer in layers:
        end = at + len(layer)
        named = _named(relations[at:end], names, layer.relations if keep_given else None)
        found.append(dataclasses.replace(layer, heads=tuple(heads[at:end]), relations=named))
        at = end
    return found


def _named(
    relations: list[int], names: Sequence[str], given: Sequence[str | None] | None
) -> tuple[str | None, ...] | None:
    if not names or not relations:
        return None if given is None else tuple(given)
    own = (names[k] for k in relations)
    if given is None:
        return tuple(own)
    return tuple(mine if theirs is None else theirs for mine, theirs in zip(own, given, strict=True))


def with_given_tags(found: Layer, given: Layer) -> Layer:
    """The sentence found, with given tags wherever exactly one is given."""
    pairs = zip(found.tags or (), given.tags or (None,) * len(given), strict=True)
    return dataclasses.replace(
        found, tags=tuple(theirs if isinstance(theirs, str) else mine for mine, theirs in pairs)
    )

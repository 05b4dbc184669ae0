"""Sentences with trees as the native core reads them, and its answers as layers."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import pack
from duilian.models.parser.config import TreeConfig
from duilian.text import Folding

Weights = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
Parsed = tuple[Ids, Ids, npt.NDArray[np.float64], list[int], list[int]]
"""Heads and relations of all words, scores, sentences parsed at order 1, sentences without a tree."""

_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True, eq=False)
class TreePacker:
    """Layers → packed trees → layers, for the tags and relations of a standard."""

    config: TreeConfig
    tags: tuple[str, ...]
    relations: tuple[str, ...]
    tag_class: npt.NDArray[np.uint8]  # [tags]  other, verb, conjunction or mark

    @functools.cached_property
    def native(self) -> _native.TreeParser:
        """The parser; weights are told with each question."""
        config = self.config
        bits = (config.trees.bits, config.relations.bits, config.pruning.bits)
        return _native.TreeParser(config.order, *bits, len(self.relations), self.tag_class)

    @property
    def weights(self) -> int:
        """How many weights the parser has, besides those that prune."""
        return self.native.weights

    @functools.cached_property
    def folding(self) -> Folding:
        """What features see of a character."""
        return Folding(script=self.config.script)

    def data(self, layers: Sequence[Layer]) -> _native.TreeData:
        """The sentences as the native core reads them; an unknown tag is number len(tags)."""
        places = {tag: k for k, tag in enumerate(self.tags)}
        known = {relation: k for k, relation in enumerate(self.relations)}
        tags = [places.get(str(tag), len(places)) for layer in layers for tag in layer.tags or ()]
        heads = [
            -1 if head is None else head for layer in layers for head in layer.heads or (None,) * len(layer)
        ]
        relations = [
            known.get(relation, -1) if relation is not None else -1
            for layer in layers
            for relation in layer.relations or (None,) * len(layer)
        ]
        return self.rows(
            [layer.words for layer in layers], *(np.array(row, np.int32) for row in (tags, heads, relations))
        )

    def rows(self, words: Iterable[Sequence[str]], tags: Ids, heads: Ids, relations: Ids) -> _native.TreeData:
        """Words of sentences, and for all words in a row the numbers of their tags, heads and relations."""
        packed = pack(words, self.folding)
        return _native.TreeData(packed, tags, heads, relations, len(self.tags), len(self.relations))

    def options(self, *, keep_heads: bool = False) -> _native.ParseOptions:
        """How to search."""
        trees, relations = self.config.trees, self.config.relations
        return _native.ParseOptions(
            self.config.min_share, trees.max_length, keep_heads, trees.head_cost, relations.relation_cost
        )

    def parse(
        self,
        weights: Weights,
        pruning: Weights,
        layers: Sequence[Layer],
        *,
        keep_heads: bool = False,
        threads: int = 1,
    ) -> list[Layer]:
        """The sentences with the trees that these weights find."""
        options = self.options(keep_heads=keep_heads)
        parsed = self.native.parse(weights, pruning, self.data(layers), options, threads)
        return self.with_trees(layers, parsed, keep_heads=keep_heads)

    def with_trees(self, layers: Sequence[Layer], parsed: Parsed, *, keep_heads: bool) -> list[Layer]:
        """The sentences with what the native core has found; with `keep_heads` given relations stay."""
        heads, relations, _, simplified, impossible = parsed
        if simplified:
            most = self.config.trees.max_length
            _log.warning("%d sentences of more than %d words were parsed at order 1", len(simplified), most)
        if impossible:
            raise no_tree(impossible[0] + 1)
        found, at = [], 0
        all_heads, all_relations = heads.tolist(), relations.tolist()
        for layer in layers:
            end = at + len(layer)
            names = self._names(all_relations[at:end], layer.relations if keep_heads else None)
            found.append(dataclasses.replace(layer, heads=tuple(all_heads[at:end]), relations=names))
            at = end
        return found

    def _names(
        self, relations: list[int], given: Sequence[str | None] | None
    ) -> tuple[str | None, ...] | None:
        if not self.relations or not relations:
            return None
        names = (self.relations[k] for k in relations)
        if given is None:
            return tuple(names)
        return tuple(mine if theirs is None else theirs for mine, theirs in zip(names, given, strict=True))


def no_tree(sentence: int) -> ConfigError:
    """What is wrong with the given heads of a sentence, counted from 1."""
    return ConfigError(f"sentence {sentence}: the given heads fit into no projective tree with one root")

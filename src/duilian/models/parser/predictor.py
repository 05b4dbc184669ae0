"""The parser compiled for answering."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import StandardError
from duilian.models.parser.storage import ParserModel
from duilian.models.parser.tree_packing import Parsed, TreePacker


class ParserPredictor:
    """Answers of a parser: trees of tagged words, k best."""

    packer: TreePacker

    def __init__(self, model: ParserModel) -> None:
        self.standard, self.packer = model.config.standard, model.packer()
        self.weights, self.pruning = model.weights, model.pruning

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with their trees; with `keep_heads` given heads and relations stay."""
        self.check_tags(layers)
        return self.packer.parse(self.weights, self.pruning, layers, keep_heads=keep_heads, threads=threads)

    def parse(self, data: _native.TreeData, *, keep_heads: bool = False, threads: int = 1) -> Parsed:
        """The trees of packed sentences, as numbers."""
        options = self.packer.options(keep_heads=keep_heads)
        return self.packer.native.parse(self.weights, self.pruning, data, options, threads)

    def k_best(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """The k best trees of a sentence with their scores, best first; fewer if it has no more."""
        self.check_tags([layer] if layer.words else [])
        return self.ranked_trees(layer, k, keep_heads=keep_heads)

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """The same for words whose tags have been checked: one rare tag does not tell a foreign tag set."""
        if not layer.words:
            return []
        packer, data = self.packer, self.packer.data([layer])
        if packer.config.order == 1 and not keep_heads:
            found = _native.k_best_trees(packer.native.arc_scores(self.weights, data, 0), k)
        else:
            options = packer.options(keep_heads=keep_heads)
            found = packer.native.k_best(self.weights, self.pruning, data, 0, k, options)
        given = layer.relations if keep_heads else None
        trees = [dataclasses.replace(layer, heads=tuple(heads), relations=given) for _, heads in found]
        labelled = packer.parse(self.weights, self.pruning, trees, keep_heads=True)
        return [(score, tree) for (score, _), tree in zip(found, labelled, strict=True)]

    def allowed_arcs(self, data: _native.TreeData, *, threads: int = 1) -> npt.NDArray[np.uint8]:
        """Which arcs of packed sentences pruning leaves."""
        share = self.packer.config.min_share
        return self.packer.native.allowed_arcs(self.pruning, data, share, threads)

    def pruning_tags(self, layers: list[Layer], *, threads: int = 1) -> list[Layer]:
        """The sentences with the tags that pruning looks at."""
        return layers

    def check_tags(self, layers: Sequence[Layer], first: int = 1) -> None:
        """Refuse words without tags, and tags of another set; `first` is the number of the first sentence."""
        seen = set()
        for number, layer in enumerate(layers, first):
            if layer.tags is None or not all(isinstance(tag, str) for tag in layer.tags):
                raise StandardError(f"sentence {number} has words without a tag", "name a --tagger")
            seen |= set(layer.tags)
        tags = self.packer.tags
        if seen and not seen & set(tags):
            ours, theirs = (
                ", ".join(sorted(map(str, some), key=lambda tag: (not tag[:1].isalpha(), tag))[:5])
                for some in (tags, seen)
            )
            raise StandardError(
                f"not one tag is known to the parser: it has {ours} …, the sentences have {theirs} …",
                f"the parser was trained for {self.standard!r}",
            )

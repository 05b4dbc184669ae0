"""The tree converter compiled for answering."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from duilian.corpus import Layer
from duilian.models.roles import ConvertedTree
from duilian.models.tree_converter.marks import attach_marks
from duilian.models.tree_converter.pairs import guided
from duilian.models.tree_converter.storage import TreeConverterModel
from duilian.text import is_punctuation


class TreeConverterPredictor:
    """Converts sentences with complete trees."""

    def __init__(self, model: TreeConverterModel) -> None:
        self.model, self.packer, self.rules = model, model.packer(), model.rules

    def convert(self, layers: Sequence[Layer], threads: int = 1) -> list[ConvertedTree]:
        """Convert sentences to the target's standard."""
        rewritten = [self.rules.rewritten(layer) for layer in layers]
        drafts = [guided(layer) for layer in rewritten]
        if self.model.config.conversion.is_learned:
            found = self.packer.convert(self.model.dense_weights(), self.model.pruning, drafts, threads)
            trees, sure = self.packer.converted(drafts, found), found.probability.tolist()
        else:
            trees, sure = list(rewritten), [1.0] * sum(map(len, drafts))
        done, at = [], 0
        for given, tree in zip(layers, trees, strict=True):
            probability = tuple(sure[at : at + len(given)])
            done.append(ConvertedTree(self._finished(given, tree), probability))
            at += len(given)
        return done

    def unknown_relations(self, layer: Layer) -> list[tuple[int, str]]:
        """The relations that the model has never seen, after the rules, each with its word (from 0)."""
        known, drafted = self.packer.source_relations, self.rules.rewritten(layer).relations or ()
        pairs = zip(drafted, layer.relations or (), strict=True)
        return [(word, str(own)) for word, (name, own) in enumerate(pairs) if name not in known]

    def _finished(self, given: Layer, tree: Layer) -> Layer:
        """Attach marks, and write words and columns as in the target."""
        if self.model.config.conversion.punctuation == "projective" and tree.heads is not None:
            tree = with_marks(tree)
        return self.rules.respelled(given, tree)


def with_marks(tree: Layer) -> Layer:
    """The tree with punctuation attached as UD version 2 requires."""
    relations = tree.relations or (None,) * len(tree)
    marks = {
        place
        for place, (word, relation) in enumerate(zip(tree.words, relations, strict=True), 1)
        if relation == "punct" or (relation is None and is_punctuation(word))
    }
    heads = [0 if head is None else head for head in tree.heads or ()]
    found = attach_marks(tree.words, marks, heads)
    return dataclasses.replace(tree, heads=tuple(found))

"""Two treebanks of our own making that disagree: a toy grammar, and what another guideline makes of it."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from duilian.corpus import Layer
from duilian.learning import Perceptron
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from duilian.models.tree_converter.config import ConversionSteps
from duilian.models.tree_converter.model import TreeConverter
from tree.treebank import treebank

RELATIONS = {"dobj": "obj", "amod": "nmod:attr"}
TAGS = {"NN": "NOUN", "VV": "VERB", "JJ": "ADJ", "DEG": "PART", "AD": "ADV", "PU": "PUNCT"}
SMALL: dict[str, Any] = {
    "trees": TreeSearch(bits=16, head_cost=5.0),
    "relations": RelationSearch(bits=14, relation_cost=5.0),
    "pruning": ArcPruning(bits=14, iterations=2),
    "learning": Perceptron(iterations=4),
}


def other(layer: Layer) -> Layer:
    """The other guideline: 的 is the head of the noun before it, a verb of saying depends on what is said and
    is an AUX, and relations and tags have other names.
    """
    heads, relations = list(layer.heads or ()), list(map(str, layer.relations or ()))
    tags = [TAGS[str(tag)] for tag in layer.tags or ()]
    names = [RELATIONS.get(name, name) for name in relations]
    for word, name in enumerate(relations):
        head = heads[word] or 0
        if name == "case":
            heads[word], heads[head - 1] = heads[head - 1], word + 1
            names[word], names[head - 1] = names[head - 1], "dep:de"
        if name == "ccomp":
            heads[word], heads[head - 1] = heads[head - 1], word + 1
            names[word], names[head - 1] = names[head - 1], "aux:say"
            tags[head - 1] = "AUX"
    heads[-1] = heads.index(0) + 1  # the full stop
    return dataclasses.replace(layer, tags=tuple(tags), heads=tuple(heads), relations=tuple(names))


def pairs(count: int, seed: int) -> tuple[list[Layer], list[Layer]]:
    """The same sentences in both treebanks."""
    source = treebank(count, seed)
    return source, [other(layer) for layer in source]


def small(
    *, rules: str | None = None, is_learned: bool = True, order: Literal[1, 2, 3] = 2, **changes: Any
) -> TreeConverter:
    """A converter that learns at once."""
    steps = ConversionSteps(source="old", tag_bits=14, rules=rules, is_learned=is_learned)
    return TreeConverter("new", conversion=steps, order=order, **(SMALL | changes))


TRAIN, DEV = pairs(80, 1), pairs(30, 2)

"""Relations of a tree's arcs: the best chains, and what they learn from gold and guessed trees."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.models import Parser
from duilian.models.parser.predictor import ParserPredictor
from duilian.models.parser.tree_packing import Ids, TreePacker, Weights
from duilian.models.parser.treebank import Treebank
from models.small_parsers import DEV, NO_TREES, packed, small


def test_no_relations_score_more_than_those_found() -> None:
    """For every labelling of a tree: its score less that of the best one, which is what learning adds up."""
    layer = Layer(("旧", "书", "有趣", "吗"), ("JJ", "NN", "VV", "SP"), (2, 3, 0, 3), ("a", "b", "c", "a"))
    parser = packed(
        small(order=1, trees={"head_cost": 0.0}, relations={"relation_cost": 0.0}), Treebank([layer])
    )
    parser = dataclasses.replace(parser, root_relations=())  # learning may try them anywhere
    weights = np.random.default_rng(8).normal(size=parser.native.weights).astype(np.float32)
    options = _native.ParseOptions(0.0, 200, True, 0.0, 0.0)
    best = parser.native.parse(weights, weights, parser.data([layer]), options, 1)[1].tolist()
    differences = {}
    for labels in itertools.product(range(3), repeat=4):
        named = dataclasses.replace(layer, relations=tuple("abc"[k] for k in labels))
        differences[labels] = float(relation_step(parser, weights, named) @ weights)
    assert max(differences.values()) == pytest.approx(0.0, abs=1e-3)
    assert differences[tuple(best)] == 0.0
    assert sorted(differences.values())[-2] < -1e-3


def named(parser: TreePacker, layer: Layer, relations: list[int]) -> Layer:
    return dataclasses.replace(layer, relations=tuple(parser.relations[k] for k in relations))


def chain_score(parser: TreePacker, weights: Weights, layer: Layer, relations: list[int], head: int) -> float:
    return parser.native.relation_score(weights, parser.data([named(parser, layer, relations)]), 0, head)


@pytest.mark.parametrize("of_roots", ["", "b", "ac"])
def test_relations_of_every_chain_are_the_best_over_those_below(
    parsers: dict[int, Parser], of_roots: str
) -> None:
    """Each word's dependents against all their labellings, everything else as it was found."""
    names, of_all = ("a", "b", "c"), (parsers[1].tags_, ("a", "b", "c"), parsers[1].model_.tag_class)
    parser = TreePacker(small(order=1), *of_all, root_relations=tuple(of_roots))
    options = _native.ParseOptions(0.0, 200, True, 0.0, 0.0)
    rng = np.random.default_rng(11)
    for given in DEV[:10]:
        layer = dataclasses.replace(given, relations=None)
        weights = rng.normal(size=parser.native.weights).astype(np.float32)
        found = parser.native.parse(weights, weights, parser.data([layer]), options, 1)[1].tolist()
        for head in {head for head in layer.heads or () if head is not None}:
            places = [place for place, above in enumerate(layer.heads or ()) if above == head]
            scores = {}
            usable = [k for k, name in enumerate(names) if not of_roots or (name in of_roots) == (head == 0)]
            for labels in itertools.product(usable, repeat=len(places)):
                tried = list(found)
                for place, label in zip(places, labels, strict=True):
                    tried[place] = label
                scores[labels] = chain_score(parser, weights, layer, tried, head)
            best = max(scores, key=lambda labels: scores[labels])
            assert [found[place] for place in places] == list(best)


def relation_step(parser: TreePacker, weights: Weights, layer: Layer, guessed: Ids = NO_TREES[1]) -> Weights:
    """What one sentence changes if its heads are right in any case."""
    side = len(layer) + 1
    allowed = np.zeros((side, side), np.uint8)
    allowed[[head or 0 for head in layer.heads or ()], range(1, side)] = 1
    objective = _native.TreeObjective(
        parser.native, parser.data([layer]), allowed.ravel(), guessed, parser.options()
    )
    return objective.gradient(weights, 1.0, 0)[1]


def test_guessed_trees_teach_the_relations_of_their_right_arcs(parsers: dict[int, Parser]) -> None:
    parser = parsers[1].predictor_.packer
    weights = np.random.default_rng(3).normal(size=parser.native.weights).astype(np.float32)
    layer = next(each for each in DEV if len(each) > 4)
    gold, guess = (2, 3, 0, 3, 4), (2, 3, 0, 5, 3)
    short = Layer(layer.words[:5], (layer.tags or ())[:5], gold, parser.relations[:5])
    right = [r if a == b else None for r, a, b in zip(short.relations or (), gold, guess, strict=True)]
    other = dataclasses.replace(short, heads=guess, relations=tuple(right))
    both = relation_step(parser, weights, short, np.array(guess, np.int32))
    apart = relation_step(parser, weights, short) + relation_step(parser, weights, other)
    assert relation_step(parser, weights, other).any()
    np.testing.assert_allclose(both, apart, atol=1e-6)


def test_unknown_relations_are_the_best_that_go_with_the_known(parsers: dict[int, Parser]) -> None:
    """A step from a chain in which one relation is known: to the best chain that has it."""
    config = small(order=1, relations={"relation_cost": 0.0})
    parser = TreePacker(config, parsers[1].tags_, ("a", "b", "c"), parsers[1].model_.tag_class)
    layer = Layer(("孩子", "书", "看见"), ("NN", "NN", "VV"), (3, 3, 0), ("a", None, None))
    weights = np.random.default_rng(4).normal(size=parser.native.weights).astype(np.float32)
    change = relation_step(parser, weights, layer)
    scores = {
        labels: chain_score(parser, weights, layer, [*labels, 0], 3)
        for labels in itertools.product(range(3), repeat=2)
    }
    with_known = max(score for labels, score in scores.items() if labels[0] == 0)
    assert max(scores.values()) > with_known, "the known relation must be a change"
    assert change @ weights == pytest.approx(with_known - max(scores.values()), abs=1e-3)


def test_guessed_heads_must_be_trees(parsers: dict[int, Parser]) -> None:
    parser = parsers[1].predictor_.packer
    data = parser.data(DEV[:1])
    for heads in ([2, 1] + [1] * (len(DEV[0]) - 2), [-1] * len(DEV[0]), [0]):
        with pytest.raises(ValueError, match="the guessed heads"):
            _native.TreeObjective(
                parser.native, data, NO_TREES[0], np.array(heads, np.int32), parser.options()
            )


def test_each_of_the_k_best_trees_has_the_relation_of_roots_at_its_root(
    parsers: dict[int, Parser],
) -> None:
    """Under weights that know nothing of roots, by both roads to k best trees."""
    for order in (1, 2):
        model = parsers[order].model_
        weights = np.random.default_rng(order).normal(size=len(model.weights)).astype(np.float32)
        predictor = ParserPredictor(dataclasses.replace(model, weights=weights))
        layer = dataclasses.replace(DEV[0], heads=None, relations=None)
        trees = [tree for _, tree in predictor.ranked_trees(layer, 20)]
        assert len(trees) == 20 or order == 2  # which prunes
        for tree in [*trees, *predictor.predict_layers([layer])]:
            roots = [name == "root" for name in tree.relations or ()]
            assert roots == [head == 0 for head in tree.heads or ()]

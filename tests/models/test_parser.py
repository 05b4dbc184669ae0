"""The parser on a toy treebank: learning, exact search, pruning, given heads, threads."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import logging
import time
from pathlib import Path

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.corpus.trees import is_projective, word_in_cycle
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.evaluation.attachment import tree_score
from duilian.learning import Session
from duilian.models import Parser
from duilian.models.parser.ranking import k_best_of_parts
from duilian.models.parser.treebank import Treebank
from models.small_parsers import DEV, NO_TREES, SMALL, TRAIN, packed, small
from oracle.trees import projective_trees


@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_learns(parsers: dict[int, Parser], order: int) -> None:
    found = tree_score(DEV, parsers[order].predict_layers(DEV))
    assert found is not None
    assert found.uas > 90
    assert found.las is not None
    assert found.las > 85
    assert found.uas == pytest.approx(parsers[order].best_score_)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_trees_are_projective_and_have_one_root(parsers: dict[int, Parser], order: int) -> None:
    for layer in parsers[order].predict_layers(DEV):
        assert layer.heads is not None
        assert is_projective(layer.heads)
        assert layer.heads.count(0) == 1


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_search_is_exact(parsers: dict[int, Parser], order: int) -> None:
    """No tree of a short sentence scores more than the one that is found; nothing is pruned."""
    parser = parsers[order].predictor_.packer
    pruning = parsers[order].model_.pruning
    rng = np.random.default_rng(order)
    weights = rng.normal(size=parser.native.weights).astype(np.float32)
    options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
    for layer in (Layer(each.words[:5], each.tags[:5]) for each in DEV[:12] if each.tags):
        heads, _, score, *_ = parser.native.parse(weights, pruning, parser.data([layer]), options, 1)
        trees = projective_trees(len(layer), single_root=True)
        scores = {
            tree: parser.native.tree_score(weights, parser.data([dataclasses.replace(layer, heads=tree)]), 0)
            for tree in trees
        }
        best = max(trees, key=lambda tree: scores[tree])
        assert tuple(heads.tolist()) == best
        assert score[0] == pytest.approx(scores[best], abs=1e-3)


def test_pruning_leaves_few_arcs_and_nearly_all_gold_ones(parsers: dict[int, Parser]) -> None:
    packer, pruning = parsers[2].predictor_.packer, parsers[2].model_.pruning
    data = packer.data(DEV)
    words, kept, gold = _native.count_allowed(data, packer.native.allowed_arcs(pruning, data, 1e-3, 2))
    assert words == sum(map(len, DEV))
    assert kept < 5 * words
    assert gold > 0.98 * words
    everything = packer.native.allowed_arcs(pruning, data, 0.0, 1)
    assert _native.count_allowed(data, everything)[1] == sum(len(layer) ** 2 for layer in DEV)


def test_pruned_words_always_have_a_tree(parsers: dict[int, Parser]) -> None:
    parser = Parser.from_state(*parsers[2].state()).set_params(pruning__threshold=1.0)
    assert all(layer.heads is not None for layer in parser.predict_layers(DEV))


def test_a_sentence_does_not_depend_on_those_before_it(parsers: dict[int, Parser]) -> None:
    """Scores of relations that follow each other are kept from sentence to sentence."""
    parser = parsers[2]
    alone = [found for layer in DEV for found in parser.predict_layers([layer])]
    assert parser.predict_layers(DEV) == alone
    assert parser.predict_layers(DEV[::-1])[::-1] == alone


@pytest.mark.parametrize("order", [1, 2, 3])
def test_given_heads_are_kept(parsers: dict[int, Parser], order: int) -> None:
    gaps = [
        dataclasses.replace(
            layer,
            heads=tuple(head if place % 2 else None for place, head in enumerate(layer.heads or ())),
            relations=tuple("odd" if place % 3 == 0 else None for place in range(len(layer))),
        )
        for layer in DEV
    ]
    for given, found in zip(gaps, parsers[order].predict_layers(gaps, keep_heads=True), strict=True):
        assert given.heads
        assert found.heads
        assert found.relations
        for place, (known, head) in enumerate(zip(given.heads, found.heads, strict=True)):
            assert known in (None, head)
            assert (found.relations[place] == "odd") == (place % 3 == 0)


def test_given_heads_that_cross_are_kept(parsers: dict[int, Parser]) -> None:
    layer = dataclasses.replace(DEV[0], heads=(3, 4, *(None,) * (len(DEV[0]) - 2)))
    _, found = parsers[2].predict_layers([DEV[1], layer], keep_heads=True)
    assert found.heads is not None
    assert found.heads[:2] == (3, 4)
    assert None not in found.heads


def test_k_best_trees_begin_with_the_best(parsers: dict[int, Parser]) -> None:
    parser = parsers[1]
    for layer in DEV[:5]:
        found = parser.k_best(layer, 4)
        assert found[0][1] == parser.predict_layers([layer])[0]
        assert [score for score, _ in found] == sorted((score for score, _ in found), reverse=True)
        assert len({tree.heads for _, tree in found}) == len(found) == 4
    assert parser.k_best(Layer((), ()), 3) == []


@pytest.mark.parametrize("order", [1, 2, 3])
def test_k_best_trees_are_those_of_enumeration(parsers: dict[int, Parser], order: int) -> None:
    parser, pruning = parsers[order].predictor_.packer, parsers[order].model_.pruning
    rng = np.random.default_rng(20 + order)
    options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
    for length, layer in zip((1, 2, 3, 4, 5), DEV, strict=False):
        short = Layer(layer.words[:length], (layer.tags or ())[:length])
        weights = rng.normal(size=parser.native.weights).astype(np.float32)
        trees = projective_trees(length, single_root=True)
        data = parser.data([dataclasses.replace(short, heads=tree) for tree in trees])
        scores = [
            (parser.native.tree_score(weights, data, number), tree) for number, tree in enumerate(trees)
        ]
        for k in (1, 7, 1000):
            found = parser.native.k_best(weights, pruning, parser.data([short]), 0, k, options)
            wanted = sorted(scores, reverse=True)[:k]
            assert [tuple(heads) for _, heads in found] == [tree for _, tree in wanted]
            assert [score for score, _ in found] == pytest.approx([score for score, _ in wanted], abs=1e-3)


@pytest.mark.parametrize("order", [2, 3])
def test_k_best_trees_of_a_parser_have_relations(parsers: dict[int, Parser], order: int) -> None:
    parser = parsers[order]
    for layer in DEV[:3]:
        found = parser.k_best(layer, 4)
        assert found[0][1] == parser.predict_layers([layer])[0]
        assert all(tree.relations and None not in tree.relations for _, tree in found)
    with pytest.raises(ValueError, match="k must be a whole number, at least 1"):
        parser.k_best(DEV[0], 0)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_k_best_trees_keep_given_heads_and_relations(parsers: dict[int, Parser], order: int) -> None:
    parser = Parser.from_state(*parsers[order].state()).set_params(pruning__threshold=0.0)
    layer = Layer(DEV[0].words[:4], (DEV[0].tags or ())[:4], (None, 3, None, None), (None, "odd", None, None))
    found = [tree for _, tree in parser.k_best(layer, 1000, keep_heads=True)]
    wanted = {tree for tree in projective_trees(4, single_root=True) if tree[1] == 3}
    assert {tree.heads for tree in found} == wanted
    assert len(found) == len(wanted)
    assert {(tree.relations or ())[1] for tree in found} == {"odd"}


def test_one_word_and_nothing_but_marks(parsers: dict[int, Parser]) -> None:
    for parser in parsers.values():
        one, marks = parser.predict_layers([Layer(("书",), ("NN",)), Layer(("。", "。", "。"), ("PU",) * 3)])
        assert one.heads == (0,)
        assert marks.heads is not None
        assert marks.heads.count(0) == 1
    assert parsers[1].predict_layers([]) == []


def test_long_sentences_fall_back_to_order_1(
    parsers: dict[int, Parser], caplog: pytest.LogCaptureFixture
) -> None:
    parser = Parser.from_state(*parsers[3].state()).set_params(trees__max_length=4)
    with caplog.at_level(logging.WARNING, "duilian"):
        found = parser.predict_layers(DEV)
    assert "parsed at order 1" in caplog.text
    assert all(layer.heads is not None for layer in found)


def test_sentences_with_too_many_arcs_fall_back_to_order_1(
    parsers: dict[int, Parser], caplog: pytest.LogCaptureFixture
) -> None:
    everything = {"trees__max_length": 2000, "pruning__threshold": 0.0}
    parser = Parser.from_state(*parsers[3].state()).set_params(**everything)
    words = ("书", "看") * 200  # 160,000 arcs, whose tables of order 3 would take 3 GB
    with caplog.at_level(logging.WARNING, "duilian"):
        (found,) = parser.predict_layers([Layer(words, ("NN", "VV") * 200)])
        assert "parsed at order 1" in caplog.text
        assert len(parser.k_best(Layer(words[:4], ("NN", "VV") * 2), 2)) == 2
    assert found.heads is not None
    assert found.heads.count(0) == 1


def test_new_settings_of_the_search_count_at_once(parsers: dict[int, Parser]) -> None:
    parser = Parser.from_state(*parsers[2].state())
    parser.set_params(pruning__threshold=0.5, learning__iterations=7)
    assert parser.predictor_.packer.config.pruning.threshold == 0.5
    assert parser.model_.config.learning == parsers[2].learning, "how it was trained stays as it was"
    with pytest.raises(ConfigError, match="order must be 1 or 2 or 3, got 4"):
        parser.set_params(order=4)
    assert parser.order == 2


def test_200_words(parsers: dict[int, Parser]) -> None:
    words = tuple(word for layer in DEV for word in layer.words)[:200]
    tags = tuple(tag for layer in DEV for tag in layer.tags or ())[:200]
    for parser in parsers.values():
        (found,) = parser.predict_layers([Layer(words, tags)])
        assert found.heads is not None


def test_tags_of_another_set_are_refused(parsers: dict[int, Parser]) -> None:
    with pytest.raises(StandardError, match=r"it has AD, DEG.*the sentences have n, v"):
        parsers[1].predict_layers([Layer(("书", "看"), ("n", "v"))])
    with pytest.raises(StandardError, match="sentence 1 has words without tags"):
        parsers[1].predict_layers([Layer(("书", "看"))])


def test_training_needs_trees() -> None:
    with pytest.raises(ConfigError, match="no sentences with tags and trees"):
        Parser("ctb").fit([Layer(("书",), ("NN",))])


def test_crossing_arcs_are_lifted_and_counted() -> None:
    crossed = Layer(
        ("书", "讲", "看见", "孩子"), ("NN", "VV", "VV", "NN"), (3, 0, 2, 2), ("dobj", "root", "x", "x")
    )
    crossed = dataclasses.replace(crossed, heads=(3, 4, 0, 3))
    parser = Parser("ctb", order=1, **SMALL).fit([*TRAIN[:5], crossed])
    assert parser.lifted_ == 1


def test_partial_trees_teach_what_they_know() -> None:
    gaps = [
        dataclasses.replace(layer, heads=tuple(h if p % 4 else None for p, h in enumerate(layer.heads or ())))
        for layer in TRAIN
    ]
    parser = Parser("ctb", order=1, **SMALL).fit(gaps)
    assert parser.score(DEV) > 0.8


@pytest.mark.parametrize("order", [1, 3])
def test_threads_do_not_show(order: int) -> None:
    one, two = (Parser("ctb", order=order, **SMALL).fit(TRAIN[:30], dev=DEV, threads=n) for n in (1, 3))
    assert np.array_equal(one.model_.weights, two.model_.weights)
    assert np.array_equal(one.model_.pruning, two.model_.pruning)
    assert one.predict_layers(DEV) == two.predict_layers(DEV, threads=3)


def test_a_run_that_was_stopped_ends_the_same(tmp_path: Path) -> None:
    whole = Parser("ctb", **SMALL).fit(TRAIN[:30], dev=DEV)
    checkpoint = tmp_path / "checkpoint"
    begun = Parser("ctb", **SMALL).set_params(learning__iterations=1)
    begun.fit(TRAIN[:30], dev=DEV, session=Session(checkpoint=checkpoint))
    session = Session(checkpoint=checkpoint, resume=True)
    resumed = Parser("ctb", **SMALL).fit(TRAIN[:30], dev=DEV, session=session)
    assert np.array_equal(whole.model_.weights, resumed.model_.weights)
    other = Parser("ctb", **SMALL)
    with pytest.raises(ModelFileError, match="the checkpoint of another run"):
        other.fit(TRAIN[:20], dev=DEV, session=session)


def test_the_perceptron_is_the_naive_one() -> None:
    """Algorithm 4 with every average written out."""
    parser = packed(small(order=3, trees={"head_cost": 2.0}), Treebank(TRAIN[:12]))
    objective = _native.TreeObjective(parser.native, parser.data(TRAIN[:12]), *NO_TREES, parser.options())
    weights = np.zeros(objective.weights, np.float32)
    naive, total = weights.copy(), weights.astype(np.float64)
    order = np.array([*range(12), *range(12)], np.int64)
    for example in order:
        naive += objective.gradient(naive, 1.0, int(example))[1].astype(np.float32)
        total += naive
    lag, state = np.zeros(objective.weights), _native.PerceptronState(0)
    objective.perceptron_pass(weights, lag, state, order, 1, 2)
    assert weights.any()
    assert np.array_equal(weights, naive)
    np.testing.assert_allclose(
        _native.mean_weights(weights, lag, state.rounds), total / len(order), rtol=1e-5, atol=1e-6
    )


def test_changes_are_the_difference_of_the_trees() -> None:
    """w · (features of gold - features of the guess) is the difference of their scores."""
    rng = np.random.default_rng(5)
    for order in (1, 2, 3):
        layers = [dataclasses.replace(layer, relations=None) for layer in TRAIN[:8]]
        parser = packed(small(order=order, trees={"head_cost": 0.0}), Treebank(layers))
        data = parser.data(layers)
        objective = _native.TreeObjective(parser.native, data, *NO_TREES, parser.options())
        weights = rng.normal(size=objective.weights).astype(np.float32)
        options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
        heads, _, score, *_ = parser.native.parse(weights, weights, data, options, 1)
        for k in range(len(layers)):
            _, change = objective.gradient(weights, 1.0, k)
            gold = parser.native.tree_score(weights, data, k)
            assert change @ weights == pytest.approx(gold - score[k], abs=1e-2)
        assert len(heads) == sum(map(len, layers))


def test_the_gradient_of_pruning_is_that_of_its_loss() -> None:
    layers = [layer for layer in TRAIN if len(layer) < 7][:3]
    parser = packed(small(order=1), Treebank(layers))
    objective = _native.PruningObjective(parser.native, parser.data(layers))
    rng = np.random.default_rng(7)
    weights = (rng.normal(size=objective.weights) * 0.3).astype(np.float32)
    for example in range(len(layers)):
        _, gradient = objective.gradient(weights, 1.0, example)
        for place in np.argsort(-np.abs(gradient))[:8]:
            losses = []
            for step in (0.05, -0.05):
                moved = weights.copy()
                moved[place] += np.float32(step)
                losses.append(objective.gradient(moved, 1.0, example)[0])
            assert (losses[1] - losses[0]) / 0.1 == pytest.approx(gradient[place], abs=2e-2)


Scored = list[tuple[float, list[int]]]


def few_trees(rng: np.random.Generator, seen: list[Scored], layer: Layer, k: int) -> Scored:
    """The k best of four trees with random scores; all four are kept in `seen`."""
    roots = rng.permutation(len(layer))[:4].tolist()
    trees = [(float(rng.normal()), [0 if m == r else r + 1 for m in range(len(layer))]) for r in roots]
    seen.append(sorted(trees, reverse=True))
    return seen[-1][:k]


@pytest.mark.parametrize("k", [1, 3, 7, 40, 100])
def test_the_best_trees_of_parts_are_the_best_sums(k: int) -> None:
    """Every choice of one tree for each part, by enumeration."""
    seen: list[Scored] = []
    search = functools.partial(few_trees, np.random.default_rng(k), seen)
    found = k_best_of_parts(Layer(("字",) * 130), k, 100, search)
    assert [len(trees[0][1]) for trees in seen] == [60, 60, 10]
    sums = [sum(score for score, _ in each) for each in itertools.product(*seen)]
    assert [score for score, _ in found] == pytest.approx(sorted(sums, reverse=True)[:k])
    assert len({tuple(heads) for _, heads in found}) == min(k, 64)
    assert all(heads.count(0) == 1 and word_in_cycle(heads) is None for _, heads in found)


@pytest.mark.parametrize("order", [1, 2])
def test_the_best_trees_of_a_long_sentence_take_little_time(parsers: dict[int, Parser], order: int) -> None:
    parser, one = parsers[order], DEV[0]
    layer = Layer(one.words * 120, (one.tags or ()) * 120)
    assert len(layer) == 600
    start = time.process_time()
    (best, tree), *others = parser.k_best(layer, 3)
    assert time.process_time() - start < 10  # searched as a whole, minutes
    assert tree == parser.predict_layers([layer])[0]
    assert all(score <= best for score, _ in others)
    given = (None,) * 599 + (1,)
    for _, other in parser.k_best(dataclasses.replace(layer, heads=given), 3, keep_heads=True):
        assert (other.heads or ())[-1] == 1
        assert (other.heads or ()).count(0) == 1

"""The tree converter: what it learns from two treebanks, and what it must equal."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.corpus.trees import find_fault, is_projective
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.evaluation import accuracy, tree_score
from duilian.learning import Perceptron, Session
from duilian.modelfile import read_model, write_model
from duilian.models import load
from duilian.models.tree_converter.model import TreeConverter
from duilian.models.tree_converter.pairs import align, guided, on_words
from models.two_treebanks import DEV, TRAIN, pairs, small
from oracle.trees import ancestors, projective_trees

ORDERS = (1, 2, 3)


@pytest.fixture(scope="module")
def converters() -> dict[int, TreeConverter]:
    return {order: small(order=order).fit(*TRAIN) for order in ORDERS}


@pytest.mark.parametrize("order", ORDERS)
def test_it_learns_from_pairs(converters: dict[int, TreeConverter], order: int) -> None:
    source, target = DEV
    found = converters[order].convert(source)
    score = tree_score(target, found)
    assert score is not None
    assert score.uas_with_punctuation > 98.0
    assert (score.las or 0.0) > 98.0
    assert accuracy([layer.tags or () for layer in target], [layer.tags or () for layer in found]) > 99.0
    unchanged = tree_score(target, source)
    assert unchanged is not None
    assert unchanged.uas < 80.0


@pytest.mark.parametrize("order", ORDERS)
def test_answers_are_projective_trees(converters: dict[int, TreeConverter], order: int) -> None:
    for layer in converters[order].convert(DEV[0]):
        assert find_fault(layer.heads or ()) is None
        assert is_projective(layer.heads or ())
        names = zip(layer.heads or (), layer.relations or (), strict=True)
        assert all((head == 0) == (name == "root") for head, name in names)


@pytest.mark.parametrize("order", ORDERS)
def test_the_search_is_exact(converters: dict[int, TreeConverter], order: int) -> None:
    """With all features of the guide tree, no tree has a higher score than the one that is found."""
    converter = converters[order]
    packer, weights = converter.predictor_.packer, converter.model_.weights
    free = dataclasses.replace(packer, config=packer.config.updated({"pruning": {"threshold": 0.0}}))
    short = [layer for layer in DEV[0] if len(layer) <= 6][:4]
    rng = np.random.default_rng(order)
    noisy = (weights + rng.normal(size=len(weights)) * 3.0).astype(np.float32)
    for layer in short:
        draft = guided(layer)
        found = free.convert(noisy, converter.model_.pruning, [draft], 1)
        trees = projective_trees(len(layer), single_root=True)
        data = free.data([dataclasses.replace(draft, heads=tree) for tree in trees])
        scores = [free.native.tree_score(noisy, data, k) for k in range(len(trees))]
        best = scores[trees.index(tuple(found.heads.tolist()))]
        assert best == pytest.approx(max(scores), rel=1e-5)


def test_probabilities_of_heads_sum_to_one(converters: dict[int, TreeConverter]) -> None:
    packer, pruning = converters[2].predictor_.packer, converters[2].model_.pruning
    layer = next(layer for layer in DEV[0] if len(layer) == 5)
    draft = guided(layer)
    trees = projective_trees(len(layer), single_root=True)
    found = np.array(
        [
            packer.native.head_probabilities(
                pruning, packer.data([dataclasses.replace(draft, heads=tree)]), 1
            )
            for tree in trees
        ]
    )
    # Each word's probabilities, over all heads that it has in some tree, sum to 1.
    for word in range(len(layer)):
        by_head = {tree[word]: p for tree, p in zip(trees, found[:, word], strict=True)}
        assert sum(by_head.values()) == pytest.approx(1.0, abs=1e-6)


def way(heads: tuple[int, ...], relations: list[int], h: int, m: int) -> tuple[object, ...]:
    """The link of two words, by going up from both."""
    ups, downs = [m, *ancestors(heads, m)], [h, *ancestors(heads, h)]
    meet = next(word for word in ups if word in downs)
    up, down = ups[: ups.index(meet)], downs[: downs.index(meet)]
    if len(up) + len(down) > 4:
        return min(len(up), 4), min(len(down), 4)
    return tuple(relations[w - 1] for w in up), tuple(relations[w - 1] for w in down)


def test_links_are_those_of_the_way_between_words() -> None:
    """Two pairs of words have the same keys if, and only if, the ways between them are the same."""
    rng = np.random.default_rng(5)
    ways: dict[tuple[object, ...], tuple[int, int]] = {}
    trees = projective_trees(6)
    for number in rng.choice(len(trees), 60, replace=False):
        heads, relations = trees[number], rng.integers(0, 2, 6)
        shapes, paths = _native.guide_links(np.array(heads, np.int32), relations.astype(np.int32))
        for h in range(7):
            for m in range(7):
                key = way(heads, relations.tolist(), h, m)
                assert ways.setdefault(key, (shapes[h, m], paths[h, m])) == (shapes[h, m], paths[h, m])
    assert len({path for _, path in ways.values()}) == len(ways)


def test_a_guide_that_is_no_tree_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a tree"):
        _native.guide_links(np.array([2, 1], np.int32), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="relation for each"):
        _native.guide_links(np.array([0], np.int32), np.zeros(2, np.int32))


def test_without_a_guide_tree_it_learns_less() -> None:
    """The source's tree is what it converts by: with flat trees of no relations it does worse."""
    flat = [
        dataclasses.replace(
            layer, heads=(0, *[1] * (len(layer) - 1)), relations=("root", *["x"] * (len(layer) - 1))
        )
        for layer in (*TRAIN[0], *DEV[0])
    ]
    few = TRAIN[0][:10], TRAIN[1][:10]
    seeing = small(order=1).fit(*few).score(*DEV)
    blind = small(order=1).fit(flat[:10], few[1]).score(flat[len(TRAIN[0]) :], DEV[1])
    assert seeing > blind


def test_threads_and_files_do_not_show(converters: dict[int, TreeConverter], tmp_path: Path) -> None:
    one, two = converters[2], small(order=2).fit(*TRAIN, threads=2)
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    one.save(tmp_path / "a.model")
    two.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    again = load(tmp_path / "a.model")
    assert isinstance(again, TreeConverter)
    assert again.convert_trees(DEV[0]) == one.convert_trees(DEV[0], 2)


def test_a_run_that_was_stopped_ends_the_same(tmp_path: Path) -> None:
    place = tmp_path / "state"
    whole = small().fit(*TRAIN)
    half = small(learning=Perceptron(iterations=2))
    half.fit(*TRAIN, session=Session(checkpoint=place))
    resumed = small().fit(*TRAIN, session=Session(checkpoint=place, resume=True))
    np.testing.assert_array_equal(whole.model_.weights, resumed.model_.weights)


def test_a_dev_set_chooses_the_weights() -> None:
    found = small().fit(*TRAIN, dev=DEV)
    assert found.best_score_ is not None
    assert found.best_score_ > 95.0


@pytest.mark.parametrize("key", ["target_tags", "source_relations", "rules"])
def test_hostile_files_are_refused(converters: dict[int, TreeConverter], key: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.model"
    converters[1].save(path)
    header, arrays = read_model(path)
    write_model(path, {**header, key: [["no"]]}, arrays)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(path)


def test_words_cut_differently_are_aligned_by_characters() -> None:
    source = Layer(
        ("小", "狗", "跑得", "快"),
        ("JJ", "NN", "VV", "AD"),
        (2, 3, 0, 3),
        ("amod", "nsubj", "root", "advmod"),
    )
    moved = on_words(source, ("小狗", "跑", "得", "快"))
    assert moved is not None
    assert moved.tags == ("NN", "VV", "VV", "AD")
    assert moved.heads == (2, 0, 2, 2)
    assert moved.relations == ("nsubj", "root", "split", "advmod")
    assert on_words(source, ("小狗", "跑")) is None


def test_crossing_cuts_make_trees() -> None:
    """Whatever the cuts, what comes out is a tree."""
    rng = np.random.default_rng(3)
    for source in pairs(40, 9)[0]:
        text = "".join(source.words)
        cuts = sorted({0, len(text), *rng.integers(0, len(text), 4).tolist()})
        words = [text[a:b] for a, b in itertools.pairwise(cuts)]
        moved = on_words(source, words)
        assert moved is not None
        assert find_fault(moved.heads or ()) is None


def test_spelling_may_differ() -> None:
    source = Layer(("他", "看", "著", ","), ("r", "v", "u", "w"), (2, 0, 2, 2), ("a", "root", "b", "c"))
    assert on_words(source, ("他", "看", "着", "，")) is source
    assert on_words(source, ("我", "来", "了", "吗")) is None


def test_pairs_that_do_not_align_are_counted() -> None:
    source, target = [list(side[:3]) for side in TRAIN]
    target[1] = Layer(("别", "的"), ("X", "X"), (2, 0), ("a", "root"))
    found = align(source, target)
    assert len(found.pairs) == 2
    assert [(each.number, each.target) for each in found.unaligned] == [(2, "别的")]
    assert small(order=1).fit(source, target).unaligned_ == found.unaligned
    with pytest.raises(ConfigError, match="has 3 sentences and the target 2"):
        align(source, target[:2])


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (Layer(("a", "b"), ("X", "X"), (2, 1), ("x", "y")), "cycle"),
        (Layer(("a", "b"), ("X", "X"), (0, 0), ("x", "y")), "second root"),
        (Layer(("a", "b"), ("X", "X"), (0, None), ("x", "y")), "has no head"),
        (Layer(("a", "b"), ("X", "X"), (0, 1), ("x", None)), "no complete tree"),
        (Layer(("a", "b"), ("X", None), (0, 1), ("x", "y")), "without a tag"),
        (Layer(("a", "b"), ("X", "X")), "no complete tree"),
    ],
)
def test_sources_without_a_whole_tree_are_refused(
    converters: dict[int, TreeConverter], layer: Layer, message: str
) -> None:
    with pytest.raises(StandardError, match=message):
        converters[1].convert([layer])

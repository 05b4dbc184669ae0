"""The neural parser against its twin in plain NumPy, and as a model among others."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.models.base.precision import Precision
from duilian.models.neural_parser.packing import UNKNOWN, WordPacker, hashed, shape
from duilian.models.neural_parser.predictor import NeuralParserPredictor
from duilian.models.neural_parser.storage import NeuralParserModel
from duilian.models.parser.tree_packing import open_heads
from duilian.models.roles import TaggedWords, TagRows
from models.random_neural import random_model, random_words
from oracle import neural as oracle
from oracle.trees import projective_trees

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_log_probabilities_of_heads_are_those_of_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    model = random_model(seed, cells=rng.randint(1, 20), layers=rng.randint(1, 3))
    packer, native = WordPacker(model), model.native()
    for count in (1, 2, 7, 40, 70):
        words = random_words(rng, count)
        features = packer.features([words], np.array(rng.choices(range(5), k=count), np.int32))
        wanted = oracle.head_log_probabilities(model, features.tolist())
        found = native.arc_scores(features)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
        np.testing.assert_allclose(found[np.isfinite(found)], wanted[np.isfinite(wanted)], atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_one_byte_give_almost_the_same(seed: int) -> None:
    """Products of whole numbers: the weights are exact, and the other factors have 14 bits."""
    rng = random.Random(seed)
    stored = random_model(seed, cells=rng.randint(1, 40)).state("int8")
    model = NeuralParserModel.from_state(*stored)
    words = random_words(rng, 4)
    features = WordPacker(model).features([words], np.ones(4, np.int32))
    wanted, found = (
        oracle.head_log_probabilities(model, features.tolist()),
        model.native().arc_scores(features),
    )
    np.testing.assert_allclose(found[np.isfinite(found)], wanted[np.isfinite(wanted)], rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("seed", SEEDS)
def test_trees_relations_and_tags_are_those_of_the_oracle(seed: int) -> None:
    rng = random.Random(seed)
    model = random_model(seed, cells=rng.randint(1, 20))
    packer, native = WordPacker(model), model.native()
    words = [random_words(rng, rng.randint(0, 5)) for _ in range(30)]
    first = np.cumsum([0, *map(len, words)], dtype=np.int64)
    features = packer.features(words, np.ones(first[-1], np.int32))
    given = np.array(
        [rng.choice((-1, -1, rng.randint(0, len(each)))) for each in words for _ in each], np.int32
    )
    for asked in (open_heads(len(given)), given):
        heads, relations, p, impossible = native.answer(first, features, asked, True, True, 2)
        for s, (a, b) in enumerate(zip(first[:-1].tolist(), first[1:].tolist(), strict=True)):
            if a == b:
                continue
            own = features[a:b].tolist()
            wanted = oracle.best_heads(oracle.head_log_probabilities(model, own), asked[a:b].tolist())
            assert (wanted is None) == (s in impossible)
            np.testing.assert_allclose(p[a:b], oracle.tag_probabilities(model, own), atol=1e-4)
            if wanted is not None:
                assert tuple(heads[a:b].tolist()) == wanted
                assert relations[a:b].tolist() == oracle.best_relations(model, own, wanted)


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_company_and_threads_change_nothing(precision: Precision) -> None:
    rng, model = random.Random(5), NeuralParserModel.from_state(*random_model(5, cells=17).state(precision))
    packer, native = WordPacker(model), model.native()
    words = [random_words(rng, rng.randint(0, 30)) for _ in range(40)]
    lengths = list(map(len, words))
    first = np.cumsum([0, *lengths], dtype=np.int64)
    features = packer.features(words, np.ones(first[-1], np.int32))
    wanted = native.answer(first, features, open_heads(first[-1]), True, True, 1)
    for threads in (2, 3, 5):
        found = native.answer(first, features, open_heads(first[-1]), True, True, threads)
        for mine, theirs in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    for s, length in enumerate(lengths):
        own = slice(first[s], first[s + 1])
        alone = native.answer(
            np.array([0, length], np.int64), features[own], open_heads(length), True, True, 1
        )
        for mine, theirs in zip(wanted[:3], alone, strict=False):
            np.testing.assert_array_equal(mine[own], theirs)


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "int4"])
def test_a_file_gives_the_model_back(precision: Precision) -> None:
    model = random_model(3, cells=9)
    header, arrays = model.state(precision)
    found = NeuralParserModel.from_state({**header}, arrays)
    assert (found.words, found.characters, found.tags) == (model.words, model.characters, model.tags)
    assert (found.relations, found.output_tags) == (model.relations, model.output_tags)
    again = found.state(precision)[1]
    for name, array in arrays.items():
        np.testing.assert_array_equal(again[name], array)
    for (name, a), (_, b) in zip(
        sorted(model.state()[1].items()), sorted(found.state()[1].items()), strict=True
    ):
        step = {"float32": 0.0, "float16": 2e-3}.get(precision, np.abs(a).max(initial=0) / 253)
        np.testing.assert_allclose(a, b, atol=step, err_msg=name)


def test_features_of_words() -> None:
    model = random_model(1)
    words, characters, vectors = list(model.words), list(model.characters), list(model.vector_words)
    known = next(word for word in words if len(word) > 2)
    row = WordPacker(model).features([[known + "鑫"]], np.array([2], np.int32))[0].tolist()
    found = dict(zip(model.features, row, strict=True))
    wanted = {
        "word": 1,
        "first": characters.index(known[0]) + 2,
        "last": 1,
        "second": characters.index(known[1]) + 2,
        "suffix": hashed(known[-1] + "鑫", 16),
        "prefix": hashed(known[:2], 11),
        "length": min(len(known) + 1, 6),
        "shape": 6,
        "tag": 2,
        "vector_suffix": 0,
        "vector_prefix": vectors.index(known) + 1,
    }
    assert found == {name: wanted[name] for name in model.features}


def test_shapes() -> None:
    assert list(map(shape, ["12", "ab", "a1", "二十", "。", "看"])) == [1, 2, 3, 4, 5, 6]


def test_long_sentences_are_parsed_in_parts() -> None:
    rng = random.Random(2)
    predictor = NeuralParserPredictor(random_model(2, max_length=50))
    words = random_words(rng, 130)
    (layer,) = predictor.predict_layers([Layer(words)])
    assert (layer.heads or ()).count(0) == 1
    assert None not in (layer.tags, layer.relations)


def test_given_heads_tags_and_relations_stay() -> None:
    rng = random.Random(4)
    predictor = NeuralParserPredictor(random_model(4))
    words = random_words(rng, 5)
    given = Layer(words, (None, "VERB+VV", None, None, None), (3, 4, None, None, None), ("x",) + (None,) * 4)
    (found,) = predictor.predict_layers([given], keep_heads=True)
    heads, tags, relations = found.heads or (), found.tags or (), found.relations or ()
    assert heads[:2] == (3, 4)  # they cross
    assert (tags[1], relations[0]) == ("VERB+VV", "x")
    assert None not in (*heads, *tags, *relations)


def test_tags_are_chosen_among_those_of_a_labeler() -> None:
    rng = random.Random(6)
    predictor = NeuralParserPredictor(random_model(6, tag_share=1.0))
    words = [random_words(rng, 4), random_words(rng, 3)]
    names = ("VERB+VV", "NOUN+NN", "ADV+AD")
    word, tag = np.repeat(np.arange(7), 2), np.tile([0, 1], 7)
    likely = TagRows(word, tag, np.full(14, 0.5))
    asked = TaggedWords(words, np.zeros(7, np.int32), names, likely)
    found = predictor.annotate(asked, (), 1)
    free = predictor.predict_layers([Layer(each) for each in words])
    own = [str(tag) for layer in free for tag in layer.tags or ()]
    assert found.tag is not None
    assert all(names[k] == name for k, name in zip(found.tag.tolist(), own, strict=True) if name in names[:2])
    alone = predictor.annotate(asked._replace(wants_trees=False), (), 1)
    np.testing.assert_array_equal(alone.tag, found.tag)


def test_a_parser_without_tags_of_its_own_sees_those_of_a_tagger() -> None:
    rng = random.Random(8)
    model = random_model(8, chooses_tags=False)
    predictor = NeuralParserPredictor(model)
    words = [random_words(rng, 4)]
    seen = [
        predictor.annotate(TaggedWords(words, np.full(4, k, np.int32), ("NOUN+NN", "VV")), (), 1)
        for k in range(2)
    ]
    assert all(each.tag is None for each in seen)
    layers = [Layer(words[0], (tag,) * 4) for tag in ("NN", "VERB+VV")]
    for trees, layer in zip(seen, predictor.predict_layers(layers), strict=True):
        assert layer.heads == tuple(trees.heads.tolist())


@pytest.mark.parametrize("chooses_tags", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_k_best_trees_are_the_best_of_all(seed: int, chooses_tags: bool) -> None:
    """Against every projective tree, also with a given head."""
    predictor = NeuralParserPredictor(random_model(seed, chooses_tags=chooses_tags))
    words = tuple(random_words(random.Random(seed), 4))
    tags = np.full(4, UNKNOWN, np.int32)
    scores = predictor.native.arc_scores(predictor.packer.features([words], tags))
    for given in ((None,) * 4, (2, None, None, None)):
        fitting = sorted(
            (
                sum(scores[head, word] for word, head in enumerate(heads, start=1))
                for heads in projective_trees(4, single_root=True)
                if given[0] in (None, heads[0])
            ),
            reverse=True,
        )
        found = predictor.ranked_trees(Layer(words, heads=given), 5, keep_heads=True)
        assert [score for score, _ in found] == pytest.approx(fitting[:5], abs=1e-4)
        assert all(tree.relations is not None and given[0] in (None, tree.heads[0]) for _, tree in found)
        best = predictor.predict_layers([Layer(words, heads=given)], keep_heads=True)[0]
        assert found[0][1].heads == best.heads


def test_heads_that_fit_into_no_projective_tree_stay_in_ranked_trees() -> None:
    predictor = NeuralParserPredictor(random_model(1, chooses_tags=False))
    layer = Layer(("他", "今天", "看", "书"), heads=(3, 4, None, None))  # these two cross
    ((_, tree),) = predictor.ranked_trees(layer, 3, keep_heads=True)
    assert tree.heads is not None
    assert tree.heads[:2] == (3, 4)


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    header, arrays = random_model(3).state("int8")
    for name, array in arrays.items():
        if name in ("words", "characters", "vector_words"):
            continue
        cut = {**arrays, name: array[:-1]}
        with pytest.raises((ConfigError, ValueError)):
            NeuralParserModel.from_state(header, cut).native()
    huge = {**arrays, "root.weight": np.full_like(arrays["root.weight"], np.nan)}
    with pytest.raises(ConfigError, match="not a number"):
        NeuralParserModel.from_state(header, huge)

"""Parsers that also see the tags of a tagger for another standard, which is part of them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, ModelFileError
from duilian.evaluation import tree_score
from duilian.features import Templates
from duilian.learning import AdaGrad, Perceptron
from duilian.modelfile import read_model, write_model
from duilian.models import JointParser, Parser, Tagger
from duilian.models.base.feature_settings import Features
from duilian.models.joint_parser.config import JointTagging
from duilian.models.joint_parser.tag_candidates import TagCandidates
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from oracle.trees import projective_trees

LEFT, RIGHT = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉"
SMALL: dict[str, Any] = {
    "trees": TreeSearch(bits=16),
    "relations": RelationSearch(bits=14, guess_iterations=1),
    "pruning": ArcPruning(bits=14, threshold=0.0),
    "learning": Perceptron(iterations=4),
}
TAGGING = JointTagging(bits=14, folds=4, iterations=2)


def sentence(rng: random.Random, names: slice) -> Layer:
    """Words of one kind depend on the first word, those of the other on the word after them."""
    words, heads, relations = ["头"], [0], ["root"]
    for _ in range(rng.randint(2, 4)):
        is_left = rng.random() < 0.5
        words += [rng.choice((LEFT if is_left else RIGHT)[names]), "事"]
        place = len(words)
        heads += [1, 1] if is_left else [place, 1]
        relations += ["one", "thing"] if is_left else ["other", "thing"]
    return Layer(tuple(words), ("X",) * len(words), tuple(heads), tuple(relations))


def treebank(count: int, seed: int, names: slice) -> list[Layer]:
    rng = random.Random(seed)
    return [sentence(rng, names) for _ in range(count)]


TRAIN, DEV = treebank(60, 1, slice(5)), treebank(40, 2, slice(5, 10))  # they share no word with hints


def hint_tagger(**changes: Any) -> Tagger:
    """It knows the kinds of all the words."""
    rows = [(word, "l") for word in LEFT] + [(word, "r") for word in RIGHT] + [("头", "h"), ("事", "t")]
    rng = random.Random(3)
    layers = []
    for _ in range(150):
        words, tags = zip(*rng.choices(rows, k=5), strict=True)
        layers.append(Layer(words, tags))
    return Tagger("kinds", learning=AdaGrad(iterations=5), **changes).fit(layers)


@pytest.fixture(scope="module")
def hinter() -> Tagger:
    return hint_tagger()


@pytest.fixture(scope="module")
def parser(hinter: Tagger) -> Parser:
    return Parser("ud", **SMALL).fit(TRAIN, hinter=hinter)


@pytest.fixture(scope="module")
def joint(hinter: Tagger) -> JointParser:
    return JointParser("ud", tagging=TAGGING, **SMALL).fit(TRAIN, hinter=hinter)


def score(guess: list[Layer]) -> float:
    found = tree_score(DEV, guess)
    assert found is not None
    assert found.las is not None
    return found.las


def test_hints_tell_words_apart_that_the_trees_never_had(parser: Parser, joint: JointParser):
    blind = Parser("ud", **SMALL).fit(TRAIN)
    assert score(blind.predict_layers(DEV)) < 85
    for each in (parser, joint):
        assert score(each.predict_layers([Layer(layer.words, layer.tags) for layer in DEV])) > 97


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_the_hint_tagger_is_part_of_the_file(
    kind: str, precision: Any, tmp_path: Path, request: pytest.FixtureRequest
):
    parser = request.getfixturevalue(kind)
    parser.save(tmp_path / "a.model", precision=precision)
    loaded = type(parser).load(tmp_path / "a.model")
    assert loaded.model_.hinter.tags == parser.model_.hinter.tags
    assert loaded.predict_layers(DEV) == parser.predict_layers(DEV)


def test_trimming_keeps_it(parser: Parser):
    trimmed = Parser.from_state(*parser.state()).trim(0.01)
    assert trimmed.predict_layers(DEV) == parser.predict_layers(DEV)


def test_given_heads_and_k_best_use_it_too(parser: Parser):
    layer = DEV[0]
    assert parser.k_best(layer, 1)[0][1] == parser.predict_layers([layer])[0]
    heads = (*layer.heads[:-1], None)  # type: ignore[index]
    given = Layer(layer.words, layer.tags, heads, (None,) * len(layer))
    assert parser.predict_layers([given], keep_heads=True)[0] == layer


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_matter(parser: Parser, threads: int):
    assert parser.predict_layers(DEV * 20, threads=threads) == parser.predict_layers(DEV) * 20


def test_other_taggers_are_refused(tmp_path: Path):
    characters = Tagger("kinds", level="char", learning=AdaGrad(iterations=1))
    characters.fit([Layer(("甲", "事"), ("l", "t"))])
    with pytest.raises(ConfigError, match="plain tagger of words"):
        Parser("ud", **SMALL).fit(TRAIN, hinter=characters)
    path = tmp_path / "columns.txt"
    path.write_text("t[-1]\nw[0]\n@far[0]\n", encoding="utf-8")
    assert Templates.load(str(path)).columns == ["far"]
    row = Layer(("甲",), ("l",), columns={"far": ("a",)})
    columned = Tagger("kinds", features=Features(templates=str(path)), learning=AdaGrad(iterations=1))
    with pytest.raises(ConfigError, match="plain tagger of words"):
        Parser("ud", **SMALL).fit(TRAIN, hinter=columned.fit([row]))


def test_a_file_with_another_tagger_for_hints_is_refused(parser: Parser, tmp_path: Path):
    path = tmp_path / "a.model"
    parser.save(path)
    header, arrays = read_model(path)
    header["hinter"]["config"]["level"] = "char"
    write_model(path, header, arrays)
    with pytest.raises(ModelFileError):
        Parser.load(path)


def test_every_word_needs_a_hint(parser: Parser):
    packer = parser.predictor_.packer
    data = packer.data(DEV[:1])
    with pytest.raises(ValueError, match="every word needs a hint"):
        data.with_hints(np.zeros(1, np.int32))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_search_with_hints_is_exact(hinter: Tagger, order: Any):
    """With random weights no tagged tree of a short sentence scores more than the one that is found."""
    model = JointParser("ud", order=order, tagging=TAGGING, **SMALL).fit(TRAIN, hinter=hinter)
    parser, pruning = model.predictor_.packer, model.model_.pruning
    assert parser.hinter is not None
    rng = np.random.default_rng(order)
    weights = rng.normal(size=parser.joint.weights).astype(np.float32)
    options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
    found = TagCandidates(
        np.arange(5), np.zeros(4, np.int32), np.arange(4, dtype=np.uint8), np.zeros(4, np.int32)
    )
    for layer in DEV[:8]:
        short = Layer(layer.words[:4])
        data = parser.joint_data([short], found, np.full(4, -1, np.int32))
        _, heads, _, best, _, _ = parser.joint.parse(weights, pruning, data, options, 1)
        scores = {
            tree: parser.joint.score(weights, data, 0, list(tree), [1, 2, 3, 4])
            for tree in projective_trees(4, single_root=True)
        }
        assert tuple(heads.tolist()) == max(scores, key=lambda tree: scores[tree])
        assert best[0] == pytest.approx(max(scores.values()), abs=1e-3)


def test_hints_are_seen_by_scores(joint: JointParser):
    """Other hints, another score of arcs and relations."""
    packer = joint.predictor_.packer
    layer = DEV[0]
    data = packer.data([layer])
    changed = data.with_hints(np.zeros(len(layer), np.int32))
    rng = np.random.default_rng(0)
    weights = rng.normal(size=packer.native.weights).astype(np.float32)
    for head in {*layer.heads} - {0}:  # type: ignore[misc]
        ours, theirs = (packer.native.relation_score(weights, each, 0, head) for each in (data, changed))
        assert ours != pytest.approx(theirs)
    arcs = [packer.native.arc_scores(weights, each, 0) for each in (data, changed)]
    for head, word in itertools.permutations(range(1, len(layer) + 1), 2):
        assert arcs[0][head, word] != pytest.approx(arcs[1][head, word])

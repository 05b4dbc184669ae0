"""Trees for sentences of any length, around given heads, with the relations of roots at roots alone."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysed import is_tree
from duilian.corpus import Layer
from duilian.corpus.trees import crossing
from duilian.models import JointParser, JointTagging, Parser
from duilian.models.parser.annotating import MAX_PART
from duilian.models.parser.treebank import Treebank
from duilian.models.roles import TaggedWords, TreeAnnotator, Trees
from models.small_parsers import DEV, SMALL, TRAIN
from tree.treebank import treebank

WORDS = ("学生", "常常", "讲", "有趣", "故事", "。")
TAGS = ("NN", "AD", "VV", "JJ", "NN", "PU")


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser("ctb", **SMALL).fit(TRAIN)


@pytest.fixture(scope="module")
def joint() -> JointParser:
    tagging = JointTagging(bits=14, folds=2, iterations=2)
    return JointParser("ctb", order=1, tagging=tagging, **SMALL).fit(TRAIN)


@pytest.fixture(scope="module")
def confused(parser: Parser) -> Parser:
    """A parser that has learned nothing: random weights put the relations of roots anywhere."""
    weights = np.random.default_rng(5).normal(size=len(parser.model_.weights)).astype(np.float32)
    return Parser.with_model(dataclasses.replace(parser.model_, weights=weights))


def tagged(layers: list[Layer], names: tuple[str, ...]) -> TaggedWords:
    numbers = [names.index(str(tag)) for layer in layers for tag in layer.tags or ()]
    return TaggedWords([layer.words for layer in layers], np.array(numbers, np.int32), names)


def as_layers(layers: list[Layer], trees: Trees) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    assert trees.relation is not None
    heads, names = trees.heads.tolist(), [trees.names[k] for k in trees.relation.tolist()]
    edges = [0, *itertools.accumulate(map(len, layers))]
    return [(tuple(heads[a:b]), tuple(names[a:b])) for a, b in itertools.pairwise(edges)]


def long_sentence(words: int) -> Layer:
    rows = [pair for each in treebank(200, 4) for pair in zip(each.words, each.tags or (), strict=True)]
    found, tags = zip(*rows[:words], strict=True)
    return Layer(found, tags)


def test_the_answer_does_not_depend_on_how_others_number_tags(parser: Parser) -> None:
    alone = [(layer.heads, layer.relations) for layer in parser.predict_layers(DEV)]
    for names in (parser.tags_, (*reversed(parser.tags_), "another")):
        assert as_layers(DEV, parser.annotate(tagged(DEV, names))) == alone
    assert isinstance(parser, TreeAnnotator)


def test_a_joint_parser_takes_the_words_alone(joint: JointParser) -> None:
    alone = [(layer.heads, layer.relations) for layer in joint.predict_layers(DEV)]
    for names in (joint.tags_, tuple(reversed(joint.tags_))):
        wrong = tagged(DEV, names)._replace(names=tuple(reversed(names)))
        assert as_layers(DEV, joint.annotate(wrong)) == alone


@pytest.mark.parametrize("count", [201, 777])
def test_overlong_sentences_are_the_trees_of_their_parts_joined(parser: Parser, count: int) -> None:
    layer = long_sentence(count)
    (found,) = parser.predict_layers([layer])
    ((heads, relations),) = as_layers([layer], parser.annotate(tagged([layer], parser.tags_)))
    assert (heads, relations) == (found.heads, found.relations)
    assert is_tree(heads)
    assert relations.count("root") == 1
    start = 0
    while start < count:  # parts end after a mark, or where they must
        sizes = range(min(MAX_PART, count - start), 0, -1)
        is_last = count - start <= MAX_PART
        size = next(k for k in sizes if is_last or k == MAX_PART // 2 or layer.words[start + k - 1] == "。")
        part = Layer(layer.words[start : start + size], (layer.tags or ())[start : start + size])
        (alone,) = parser.predict_layers([part])
        for place, head in enumerate(alone.heads or ()):
            wanted = start + (head or 0) if head else 0 if start == 0 else heads.index(0) + 1
            assert heads[start + place] == wanted
        start += size


def test_short_neighbours_of_an_overlong_sentence_stay_as_they_are(parser: Parser) -> None:
    batch = [DEV[0], long_sentence(300), Layer((), ()), DEV[1]]
    found = parser.predict_layers(batch)
    assert [found[0], found[3]] == parser.predict_layers([DEV[0], DEV[1]])
    assert found[2].heads == ()
    bare = [dataclasses.replace(layer, heads=None, relations=None) for layer in batch]
    assert parser.predict_layers(bare, keep_heads=True) == found


def test_given_heads_of_an_overlong_sentence_stay(parser: Parser) -> None:
    layer, heads = long_sentence(260), [None] * 260
    for word, head in ((3, 200), (199, 0), (120, 5), (121, 123)):
        heads[word] = head  # type: ignore[call-overload]
    (found,) = parser.predict_layers([dataclasses.replace(layer, heads=tuple(heads))], keep_heads=True)
    assert found.heads is not None
    assert is_tree(found.heads)
    assert [found.heads[word] for word in (3, 199, 120, 121)] == [200, 0, 5, 123]
    assert [name == "root" for name in found.relations or ()] == [head == 0 for head in found.heads]


@given(st.data())
def test_whatever_is_given_stays(parser: Parser, joint: JointParser, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(1, 7)))  # each word depends on an earlier one
    above = [0, *(order[data.draw(st.integers(0, k - 1))] for k in range(1, 6))]
    tree = dict(zip(order, above, strict=True))
    known = data.draw(st.lists(st.booleans(), min_size=6, max_size=6))
    heads = tuple(tree[k + 1] if known[k] else None for k in range(6))
    layer = Layer(WORDS, TAGS, heads, ("mine", *[None] * 5))
    for each in (parser, joint):
        (found,) = each.predict_layers([layer], keep_heads=True)
        ((same, _),) = as_layers([layer], each.annotate(tagged([layer], each.tags_), [layer]))
        assert found.heads is not None
        assert found.heads == same
        assert found.relations is not None
        assert found.relations[0] == "mine"
        assert is_tree(found.heads)
        assert all(head in (None, mine) for head, mine in zip(heads, found.heads, strict=True))
        pairs = zip(found.heads[1:], found.relations[1:], strict=True)
        assert all((head == 0) == (name == "root") for head, name in pairs)


def test_whole_trees_are_not_touched(parser: Parser, joint: JointParser) -> None:
    whole = Layer(WORDS, TAGS, (3, 4, 0, 1, 3, 2), ("a", "b", "nsubj", "root", "c", "d"))
    assert crossing(whole.heads or ())
    for each in (parser, joint):
        assert each.predict_layers([whole, DEV[0]], keep_heads=True)[0] == whole
        trees = each.annotate(tagged([whole], each.tags_), [whole])
        assert as_layers([whole], trees) == [(whole.heads, whole.relations)]


def test_relations_of_roots_are_at_roots_and_no_other_would_score_higher(confused: Parser) -> None:
    """Against the scores of all relations that a word may have, the others as they were found."""
    packer, weights = confused.predictor_.packer, confused.model_.weights
    numbers = {name: k for k, name in enumerate(packer.relations)}
    for after in confused.predict_layers(DEV):
        heads, relations = after.heads or (), list(after.relations or ())
        assert [name == "root" for name in relations] == [head == 0 for head in heads]
        for place in range(len(heads)):
            scores = {}
            for name in numbers:
                tried = [*relations[:place], name, *relations[place + 1 :]]
                data = packer.data([dataclasses.replace(after, relations=tuple(tried))])
                scores[name] = packer.native.relation_score(weights, data, 0, int(heads[place] or 0))
            usable = [name for name in numbers if (name == "root") == (heads[place] == 0)]
            assert scores[relations[place]] == pytest.approx(max(scores[name] for name in usable))


def renamed(layers: list[Layer], change: dict[str, str]) -> list[Layer]:
    return [
        dataclasses.replace(
            layer, relations=tuple(change.get(str(name), name) for name in layer.relations or ())
        )
        for layer in layers
    ]


def test_which_relations_are_of_roots_is_learned() -> None:
    assert Treebank(TRAIN).root_relations() == ("root",)
    assert Treebank(renamed(TRAIN, {"root": "HED"})).root_relations() == ("HED",)
    assert Treebank(renamed(TRAIN, {"root": "dobj"})).root_relations() == ()
    assert Treebank(renamed(TRAIN, {"punct": "root"})).root_relations() == ("root",), "UD's name is one"
    few = [*renamed(TRAIN[:60], {"root": "dobj"}), *renamed(TRAIN[60:], {"root": "odd"})]
    assert Treebank(few).root_relations() == (), "most roots have another"
    gaps = [dataclasses.replace(layer, heads=(None,) * len(layer)) for layer in TRAIN]
    assert Treebank(gaps).root_relations() == ()


def test_a_file_tells_other_names_of_roots_than_the_usual_one(parser: Parser) -> None:
    assert "root_relations" not in parser.state()[0]
    other = Parser("ctb", order=1, **SMALL).fit(renamed(TRAIN, {"root": "HED"}))
    header, arrays = other.state()
    assert header["root_relations"] == ("HED",)
    again = Parser.from_state(header, arrays)
    assert again.model_.root_relations == ("HED",)
    for layer in again.predict_layers(DEV):
        assert [name == "HED" for name in layer.relations or ()] == [head == 0 for head in layer.heads or ()]

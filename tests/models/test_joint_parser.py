"""The joint parser on words whose tags depend on the tree: learning, exact search, given tags, files."""

from __future__ import annotations

import dataclasses
import itertools
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.corpus.trees import is_projective
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.evaluation import accuracy, tree_score
from duilian.learning import AdaGrad, Perceptron, Session
from duilian.modelfile import read_model, write_model
from duilian.models.joint_parser.config import JointTagging
from duilian.models.joint_parser.joint_packing import JointPacker
from duilian.models.joint_parser.model import JointParser
from duilian.models.joint_parser.tag_candidates import (
    LEAST,
    SHARE,
    TagCandidates,
    candidates,
    tag_numbers,
    united_marginals,
)
from duilian.models.parser.annotating import allowed_tags
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from duilian.models.parser.storage import MOST_TRIMMED_PRUNING
from duilian.models.roles import TaggedWords, TagRows
from oracle.trees import projective_trees
from tree.ambiguous import treebank

TRAIN, DEV = treebank(80, 1), treebank(40, 2)
SMALL: dict[str, Any] = {
    "trees": TreeSearch(bits=16),
    "relations": RelationSearch(bits=14, guess_iterations=1),
    "pruning": ArcPruning(bits=14, iterations=2),
    "tagging": JointTagging(bits=14, folds=4, iterations=2),
    "learning": Perceptron(iterations=3),
}


@pytest.fixture(scope="module")
def parsers() -> dict[int, JointParser]:
    return {order: JointParser("ctb", order=order, **SMALL).fit(TRAIN, dev=DEV) for order in (1, 2, 3)}


def tag_accuracy(guess: list[Layer]) -> float:
    return accuracy([layer.tags or () for layer in DEV], [layer.tags or () for layer in guess])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_learns_tags_and_trees(parsers: dict[int, JointParser], order: int):
    guess = parsers[order].predict_layers([Layer(layer.words) for layer in DEV])
    found = tree_score(DEV, guess)
    assert found is not None
    assert found.uas > 95
    assert found.las is not None
    assert found.las > 95
    assert found.uas == pytest.approx(parsers[order].best_score_)
    assert tag_accuracy(guess) > 97
    for layer in guess:
        assert layer.heads is not None
        assert is_projective(layer.heads)
        assert layer.heads.count(0) == 1


def words_with(counts: list[int]) -> tuple[TagCandidates, list[list[int]]]:
    """The first tags of the tag set as candidates, this many for each word."""
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    tags = [list(range(count)) for count in counts]
    flat = np.array([tag for row in tags for tag in row], np.int32)
    found = TagCandidates(
        first, flat, (flat % 3).astype(np.uint8), np.array([row[0] for row in tags], np.int32)
    )
    return found, tags


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_search_is_exact(parsers: dict[int, JointParser], order: int):
    """With random weights no tagged tree of a short sentence scores more than the one that is found."""
    parser, pruning = parsers[order].predictor_.packer, parsers[order].model_.pruning
    rng = np.random.default_rng(order)
    weights = rng.normal(size=parser.joint.weights).astype(np.float32)
    options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
    for layer, counts in zip(DEV[:8], itertools.cycle([[2, 1, 3, 2], [3, 2, 1, 1]]), strict=False):
        short = Layer(layer.words[:4])
        found, tags = words_with(counts)
        data = parser.joint_data([short], found, np.full(4, -1, np.int32))
        guess, heads, _, score, _, _ = parser.joint.parse(weights, pruning, data, options, 1)
        scores = {}
        for chosen in itertools.product(*[range(len(row)) for row in tags]):
            nodes = [1 + int(found.first[word]) + k for word, k in enumerate(chosen)]
            for tree in projective_trees(4, single_root=True):
                scores[chosen, tree] = parser.joint.score(weights, data, 0, list(tree), nodes)
        best = max(scores, key=lambda key: scores[key])
        assert (tuple(guess.tolist()), tuple(heads.tolist())) == best
        assert score[0] == pytest.approx(scores[best], abs=1e-3)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_step_of_learning_is_what_gold_has_and_the_guess_has_not(
    parsers: dict[int, JointParser], order: int
):
    """After one step from 0 the weights are the features of gold less those of the guess."""
    parser, pruning = parsers[order].predictor_.packer, parsers[order].model_.pruning
    layer = DEV[0]
    gold = tag_numbers([layer], parser.tags)
    marginals = np.full((len(layer), len(parser.tags)), 0.2)
    data = parser.joint_data([layer], candidates(marginals, 0.5), gold)
    options = _native.ParseOptions(0.0, 200, False, 0.0, 0.0)
    objective = _native.JointObjective(
        parser.joint, data, np.zeros(0, np.uint8), np.zeros(0, np.int32), options
    )
    weights, lag = np.zeros(objective.weights, np.float32), np.zeros(objective.weights)
    guess, heads, *_ = parser.joint.parse(weights, pruning, data, options, 1)
    wrong = objective.perceptron_pass(weights, lag, _native.PerceptronState(0), np.array([0], np.int64), 1, 1)
    assert wrong >= np.sum(guess != gold) + np.sum(heads != np.array(layer.heads)) > 0
    per_word = len(parser.tags)
    places = 1 + per_word * np.arange(len(layer))

    def score(tags: np.ndarray, tree: list[int]) -> float:
        return parser.joint.score(weights, data, 0, tree, (places + tags).tolist())

    difference = score(gold, list(layer.heads or ())) - score(guess, heads.tolist())
    tree_weights = weights[: 2**16]
    tag_weights = weights[parser.native.weights :]
    # w · (f(gold) - f(guess)) = ‖f(gold) - f(guess)‖²
    assert difference == pytest.approx(float(np.sum(tree_weights**2) + np.sum(tag_weights**2)), rel=1e-4)


def test_given_tags_and_heads_stay(parsers: dict[int, JointParser]):
    parser = parsers[2]
    layer = next(layer for layer in DEV if layer.tags is not None and "VV" in layer.tags)
    wrong = Layer(layer.words, ("VV", *[None] * (len(layer) - 1)), (0, *[None] * (len(layer) - 1)))
    (found,) = parser.predict_layers([wrong], keep_heads=True)
    assert found.tags is not None
    assert found.heads is not None
    assert (found.tags[0], found.heads[0]) == ("VV", 0)
    assert None not in found.tags
    (free,) = parser.predict_layers([wrong])
    assert free.tags is not None
    assert free.tags[0] == "NN"
    one_of = dataclasses.replace(wrong, tags=(frozenset({"AD", "VV"}), *[None] * (len(layer) - 1)))
    (found,) = parser.predict_layers([one_of], keep_heads=True)
    assert found.tags is not None
    assert found.tags[0] in ("AD", "VV")


def test_a_lower_threshold_than_that_of_training_is_refused(parsers: dict[int, JointParser]):
    parser = JointParser.from_state(*parsers[2].state())
    with pytest.raises(ConfigError, match=r"0\.005 is below 0\.01, which the model was trained with"):
        parser.set_params(tagging__threshold=0.005)
    assert parser.tagging.threshold == 0.01
    raised = JointParser.from_state(*parser.set_params(tagging__threshold=0.2).state())
    assert raised.set_params(tagging__threshold=0.01).predict_layers(DEV) == parsers[2].predict_layers(DEV)
    model = raised.model_
    with pytest.raises(ConfigError, match="train with the lower one"):
        dataclasses.replace(model, config=model.config.updated({"tagging": {"threshold": 0.0}}))


def test_there_are_no_k_best_answers(parsers: dict[int, JointParser]):
    with pytest.raises(ConfigError, match="no k best trees"):
        parsers[2].k_best(DEV[0], 2)


def test_a_tag_of_another_set_is_refused(parsers: dict[int, JointParser]):
    layer = Layer(("老师",), ("名词",))
    with pytest.raises(StandardError, match="'名词' is not known to the parser, which has AD, AS"):
        parsers[2].predict_layers([layer], keep_heads=True)


@pytest.mark.parametrize("words", [("研究",), ("。",), ("。", "！", "…"), ()])
def test_short_sentences(parsers: dict[int, JointParser], words: tuple[str, ...]):
    for order in (1, 2, 3):
        (found,) = parsers[order].predict_layers([Layer(words)])
        assert len(found.heads or ()) == len(found.tags or ()) == len(words)


def test_long_sentences_are_parsed_in_parts(parsers: dict[int, JointParser]):
    parser = parsers[2]
    layer = Layer(tuple(word for each in DEV[:40] for word in each.words)[:150])
    try:
        parser.set_params(trees__max_length=100)
        (found,) = parser.predict_layers([layer])
    finally:
        parser.set_params(trees__max_length=200)
    assert found.heads is not None
    assert is_projective(found.heads)
    assert found.heads.count(0) == 1


def test_partial_trees_and_tags_are_learned_from():
    partial = [
        dataclasses.replace(
            layer, tags=(None, *(layer.tags or ())[1:]), heads=(*(layer.heads or ())[:-1], None)
        )
        for layer in TRAIN
    ]
    parser = JointParser("ctb", **SMALL).fit(partial[:40] + TRAIN[40:], dev=DEV)
    assert parser.best_score_ is not None
    assert parser.best_score_ > 90


def test_files_keep_everything(parsers: dict[int, JointParser], tmp_path: Path):
    parsers[2].save(tmp_path / "a.model")
    again = JointParser.load(tmp_path / "a.model")
    assert again.predict_layers(DEV) == parsers[2].predict_layers(DEV)
    again.save(tmp_path / "b.model")
    assert (tmp_path / "a.model").read_bytes() == (tmp_path / "b.model").read_bytes()
    parsers[2].save(tmp_path / "small.model", precision="float16")
    assert JointParser.load(tmp_path / "small.model").score(DEV) > 0.95


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("tags", ["AD"]),
        ("relations", ["a"] * 20_000),
        ("templates", "w[0] column[nothing]"),
        ("tagger", {"kind": "crf"}),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(
    parsers: dict[int, JointParser], tmp_path: Path, part: str, wrong: object
):
    parsers[2].save(tmp_path / "a.model")
    header, arrays = read_model(tmp_path / "a.model")
    write_model(tmp_path / "b.model", {**header, part: wrong}, arrays)
    with pytest.raises(ModelFileError):
        JointParser.load(tmp_path / "b.model")


def test_the_same_bytes_for_any_number_of_threads_and_after_a_stop(tmp_path: Path):
    def bytes_of(parser: JointParser) -> bytes:
        parser.save(tmp_path / "x.model")
        return (tmp_path / "x.model").read_bytes()

    settings = SMALL | {"learning": Perceptron(iterations=2)}
    one = bytes_of(JointParser("ctb", **settings).fit(TRAIN, dev=DEV))
    two = bytes_of(JointParser("ctb", **settings).fit(TRAIN, dev=DEV, threads=2))
    assert one == two
    checkpoint = tmp_path / "checkpoint"
    begun = JointParser("ctb", **settings).set_params(learning__iterations=1)
    begun.fit(TRAIN, dev=DEV, session=Session(checkpoint=checkpoint))
    session = Session(checkpoint=checkpoint, resume=True)
    again = JointParser("ctb", **settings).fit(TRAIN, dev=DEV, session=session)
    assert bytes_of(again) == one


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"tagging__threshold": 2.0}, "threshold must be at most 1, got 2.0"),
        ({"tagging__folds": 1}, "folds must be at least 2, got 1"),
        ({"order": 4}, "order must be 1 or 2 or 3, got 4"),
        ({"learning": AdaGrad()}, "a model of kind 'joint-parser' learns by 'perceptron', got 'adagrad'"),
    ],
)
def test_settings_that_cannot_be(setting: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        JointParser("ctb", **SMALL).set_params(**setting).fit(TRAIN)


def test_candidates_by_hand():
    marginals = np.array([[0.89, 0.1, 0.01], [0.4, 0.35, 0.25], [1.0, 0.0, 0.0]])
    found = candidates(marginals, 0.1)
    assert found.first.tolist() == [0, 2, 5, 6]
    assert found.tag.tolist() == [0, 1, 0, 1, 2, 0]
    assert found.best.tolist() == [0, 0, 0]
    assert found.per_word == 2.0
    assert found.share_with(np.array([2, 2, -1], np.int32)) == 50.0
    likelihood = found.likelihood.tolist()
    assert likelihood[0] > likelihood[1]  # the likelier, the higher the class
    assert likelihood[-1] == max(likelihood)
    with_gold = candidates(marginals, 0.1, added=np.array([2, -1, 1], np.int32))
    assert with_gold.tag.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    given = np.array([[False, False, True], [False, False, False], [False, True, True]])
    fixed = candidates(marginals, 0.1, given=given)
    assert fixed.first.tolist() == [0, 1, 4, 6]
    assert fixed.best.tolist() == [2, 0, 1]


def united(parser: JointParser, words: list[str], labeler: list[dict[str, float]]) -> dict[str, float]:
    """What the tagger of a parser and a labeler think of the last word together."""
    tags = parser.predictor_.packer.tags
    table = np.array([[row.get(tag, 0.0) for tag in tags] for row in labeler])
    found = united_marginals(parser.predictor_.tagger, [words], table, tags)
    return {tag: p for tag, p in zip(tags, found[-1].tolist(), strict=True) if p > 0}


def test_two_taggers_decide_together(parsers: dict[int, JointParser]):
    parser, word = parsers[2], "研究"
    (own,) = parser.predictor_.tagger.marginals([Layer((word,))])
    tagged = dict(zip(parser.predictor_.tagger.encoding_.tags or (), own[0].tolist(), strict=True))
    labeler = {"NN": 0.2, "VV": 0.3, "AD": 0.1}  # the rest is that of other words
    of_three = sum(tagged[tag] for tag in labeler)
    product = {
        tag: p ** (1 - SHARE) * max(tagged[tag] / of_three, LEAST) ** SHARE for tag, p in labeler.items()
    }
    total = sum(product.values())
    found = united(parser, [word], [labeler])
    assert found == pytest.approx({tag: p / total for tag, p in product.items()}, rel=1e-6)


def test_only_what_the_labeler_leaves_counts(parsers: dict[int, JointParser]):
    parser = parsers[2]
    assert united(parser, ["老师", "研究"], [{"NN": 1.0}, {"AD": 1e-3}]) == {"AD": pytest.approx(1.0)}
    # The neighbours' tags count, too: after a noun alone 研究 may be either, before a noun it is the verb.
    alone = united(parser, ["老师", "研究"], [{"NN": 1.0}, {}])
    assert sum(alone.values()) == pytest.approx(1.0)
    (own,) = parser.predictor_.tagger.marginals([Layer(("老师", "研究"))])
    assert max(alone.values()) == pytest.approx(float(own[-1].max()), abs=0.05)


def likely(rows: list[dict[str, float]], names: tuple[str, ...]) -> TagRows:
    cells = [(k, names.index(tag), p) for k, row in enumerate(rows) for tag, p in sorted(row.items())]
    word, tag, p = zip(*sorted(cells), strict=True)
    return TagRows(np.array(word, np.int64), np.array(tag, np.int64), np.array(p))


def test_it_chooses_among_the_tags_of_a_labeler(parsers: dict[int, JointParser]):
    parser, words = parsers[2], ["老师", "研究", "问题", "。"]
    names = ("NOUN+NN", "PART+NN", "PU", "VERB+VV", "X+AD")  # pairs of tags, where the parser has the second
    rows = [{"NOUN+NN": 1.0}, {"NOUN+NN": 0.5, "VERB+VV": 0.4}, {"NOUN+NN": 0.3, "PART+NN": 0.6}, {"PU": 1.0}]
    first = np.array([names.index(max(row, key=lambda tag: row[tag])) for row in rows], np.int32)
    sentences = TaggedWords([words], first, names, likely(rows, names))
    trees = parser.annotate(sentences, ())
    assert trees.tag is not None
    assert [names[k] for k in trees.tag] == ["NOUN+NN", "VERB+VV", "PART+NN", "PU"]
    assert trees.heads.tolist() == [2, 0, 2, 2]
    rows[1] = {"NOUN+NN": 0.5, "X+AD": 0.4}  # no verb is left
    trees = parser.annotate(sentences._replace(likely=likely(rows, names)), ())
    assert trees.tag is not None
    assert names[trees.tag[1]] != "VERB+VV"
    assert parser.annotate(sentences._replace(likely=None), ()).tag is None


def test_if_only_tags_are_wanted_sentences_without_a_choice_are_not_parsed(
    parsers: dict[int, JointParser], monkeypatch: pytest.MonkeyPatch
):
    parser, names = parsers[2], parsers[2].tags_
    layers = [layer for layer in DEV if len(layer) > 3]
    rng = np.random.default_rng(0)
    parsed: list[int] = []
    jointly = JointPacker.parse_jointly

    def counted(self: Any, weights: Any, pruning: Any, words: Any, *others: Any) -> Any:
        parsed.append(len(words))
        return jointly(self, weights, pruning, words, *others)

    monkeypatch.setattr(JointPacker, "parse_jointly", counted)
    rows, first = [], []
    for k, layer in enumerate(layers):
        for tag in map(str, layer.tags or ()):
            other = str(rng.choice([name for name in names if name != tag]))
            rows.append({tag: 0.6, other: 0.4} if k % 3 else {tag: 1.0})
            first.append(names.index(tag))
    number = np.array(first, np.int32)
    sentences = TaggedWords([layer.words for layer in layers], number, names, likely(rows, names))
    whole = parser.annotate(sentences, ()).tag
    assert parsed.pop() == len(layers)
    only = parser.annotate(sentences._replace(wants_trees=False), ())
    assert only.tag is not None
    assert only.tag.tolist() == whole.tolist()  # type: ignore[union-attr]
    assert set(only.heads.tolist()) == {-1}
    assert 0 < parsed.pop() <= len(layers) - len(layers[::3])
    parser.annotate(
        sentences._replace(
            wants_trees=False, likely=likely([{n: 1.0} for n in np.array(names)[number]], names)
        ),
        (),
    )
    assert not parsed


def test_given_trees_are_not_looked_at_and_keep_their_tags(parsers: dict[int, JointParser]):
    parser, layer = parsers[2], DEV[0]
    names = parser.tags_
    number = np.array([names.index(str(tag)) for tag in layer.tags or ()], np.int32)
    rows = [{str(tag): 0.4, "AD": 0.5} for tag in layer.tags or ()]
    sentences = TaggedWords([layer.words], number, names, likely(rows, names))
    trees = parser.annotate(sentences, [layer])
    assert trees.tag is not None
    assert trees.tag.tolist() == number.tolist()
    assert tuple(trees.heads.tolist()) == layer.heads


def test_small_weights_go_but_pruning_stays(parsers: dict[int, JointParser]):
    model = parsers[2].model_
    trimmed = model.trimmed(1e6)
    assert not trimmed.weights.any()
    large = np.abs(model.pruning) >= MOST_TRIMMED_PRUNING
    assert np.array_equal(trimmed.pruning != 0, large)
    assert large.any()
    assert np.array_equal(model.trimmed(0.01).pruning != 0, np.abs(model.pruning) >= 0.01)


def test_sentences_with_tags_alone_teach_the_tagger():
    word = "甚至"  # as an adverb, it would be a verb or a noun by its place
    bare = [Layer(("老师", word, "。"), ("NN", "AD", "PU"))] * 20
    unknown = Layer(("老师",), ("XX",))  # a tag that no tree has
    plain, taught = (JointParser("ctb", **SMALL).fit(TRAIN[:30] + more) for more in ([], [*bare, unknown]))
    sentence = [Layer(("老师", word, "。"))]
    assert plain.predict_layers(sentence)[0].tags != ("NN", "AD", "PU")
    assert taught.predictor_.tagger.predict_layers(sentence)[0].tags == ("NN", "AD", "PU")
    assert taught.tags_ == plain.tags_


def test_the_tagger_inside_may_be_small(tmp_path: Path):
    def size(min_weight: float) -> int:
        tagging = dataclasses.replace(SMALL["tagging"], min_weight=min_weight)
        JointParser("ctb", **SMALL | {"tagging": tagging}).fit(TRAIN[:30]).save(tmp_path / "x.model")
        return sum(
            array.nbytes
            for name, array in read_model(tmp_path / "x.model")[1].items()
            if name.startswith("tagger.")
        )

    assert size(0.5) < 0.7 * size(0.0)


def test_all_tags_are_candidates_without_a_threshold():
    found = candidates(np.array([[0.9, 0.1, 1e-9]]), 0.0)
    assert found.tag.tolist() == [0, 1, 2]
    only = candidates(np.array([[0.9, 0.1, 1e-9]]), 1.0)
    assert only.tag.tolist() == [0]


def test_what_partial_annotation_allows():
    layer = Layer(("a", "b", "c"), ("NN", None, frozenset({"VV", "XX"})))
    assert allowed_tags([layer], ("NN", "VV")).tolist() == [[True, False], [False, False], [False, True]]


def test_one_tag_a_word_is_the_taggers_answer(parsers: dict[int, JointParser]):
    parser = parsers[2]
    try:
        parser.set_params(tagging__threshold=1.0)
        guess = parser.predict_layers(DEV)
    finally:
        parser.set_params(tagging__threshold=0.01)
    tagger = parser.predictor_.tagger
    best = [marginals.argmax(axis=1) for marginals in tagger.marginals(DEV)]
    names = [[(tagger.encoding_.tags or ())[k] for k in row] for row in best]
    assert [list(layer.tags or ()) for layer in guess] == names


def test_a_search_that_would_need_too_much_memory_is_simpler(
    parsers: dict[int, JointParser], caplog: pytest.LogCaptureFixture
) -> None:
    header, arrays = parsers[3].state()
    header["trained_threshold"] = header["config"]["tagging"]["threshold"] = 0.0
    header["config"]["pruning"]["threshold"], header["config"]["trees"]["max_length"] = 0.0, 2000
    parser = JointParser.from_state(header, arrays)
    words = DEV[0].words * 40  # with all tags for all words, tables of 100 GB
    with caplog.at_level(logging.WARNING, "duilian"):
        (found,) = parser.predict_layers([Layer(words)])
    assert "parsed at order 1" in caplog.text
    assert found.tags is not None
    assert found.heads is not None
    assert found.heads.count(0) == 1

"""The tagger with two chains: three modes of one model, levels, mixed corpora, files, and what is refused."""

from __future__ import annotations

import dataclasses
import inspect
import pickle

import numpy as np
import pytest
import sklearn.base

from duilian import Analyzer, TwoChainTagger, demo
from duilian.corpus import Layer, read
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.evaluation import word_score
from duilian.labels.encoding import Encoding
from duilian.learning import AdaGrad, PassiveAggressive, Session
from duilian.modelfile import read_model, write_model
from duilian.models import load
from duilian.models.base.calibration import fit_scale, label_loss
from duilian.models.base.feature_settings import Features
from duilian.models.two_chain.config import MODES, TwoChainConfig

FOLDER = demo.__path__[0]
QUICK = PassiveAggressive(iterations=3)
ONCE = PassiveAggressive(iterations=1)
CHUNKS = [
    (
        ["He", "sees", "old", "ships", "."],
        ["PRP", "VBZ", "JJ", "NNS", "."],
        ["B-NP", "B-VP", "B-NP", "I-NP", "O"],
    ),
    (["Old", "ships", "sail", "."], ["JJ", "NNS", "VBP", "."], ["B-NP", "I-NP", "B-VP", "O"]),
    (["She", "sails", "old", "ships"], ["PRP", "VBZ", "JJ", "NNS"], ["B-NP", "B-VP", "B-NP", "I-NP"]),
    (["He", "may", "sail", "."], ["PRP", "MD", "VB", "."], ["B-NP", "B-VP", "I-VP", "O"]),
]


def chunk_layers() -> list[Layer]:
    return [Layer(tuple(w), tuple(t), columns={"pos": tuple(p)}) for w, p, t in CHUNKS]


@pytest.fixture(scope="module")
def corpus() -> list[Layer]:
    return [sentence["ctb"] for sentence in read(f"{FOLDER}/ctb.txt", standard="ctb")]


@pytest.fixture(scope="module")
def tagger(corpus: list[Layer]) -> TwoChainTagger:
    return TwoChainTagger("ctb", learning=QUICK).fit(corpus)


@pytest.fixture(scope="module")
def chunker() -> TwoChainTagger:
    learning = PassiveAggressive(iterations=10)
    return TwoChainTagger("chunk", level="word", learning=learning).fit(chunk_layers())


def test_three_modes_of_one_model(tagger: TwoChainTagger, corpus: list[Layer]) -> None:
    raw = [["".join(layer.words)] for layer in corpus[:50]]
    joint = tagger.predict_layers(raw)
    segmented = tagger.of("segment").predict_layers(raw)
    tagged = tagger.of("tag").predict_layers([Layer(layer.words) for layer in corpus[:50]])
    assert all(layer.tags is None for layer in segmented)
    assert [layer.words for layer in tagged] == [layer.words for layer in corpus[:50]]
    gold = [layer.words for layer in corpus[:50]]
    for found in (joint, segmented):
        assert ["".join(layer.words) for layer in found] == [words[0] for words in raw]
        assert word_score(gold, [layer.words for layer in found]).f1 > 90
    right = sum(
        a == b for x, y in zip(corpus, tagged, strict=False) for a, b in zip(x.tags, y.tags, strict=True)
    )
    assert right / sum(map(len, tagged)) > 0.9
    assert tagger.mode == "joint"
    with pytest.raises(ConfigError, match="mode must be one of joint, segment, tag, got 'both'"):
        tagger.of("both")  # type: ignore[arg-type]


def test_chunks_are_segments_of_words(chunker: TwoChainTagger) -> None:
    gold = chunk_layers()
    assert [layer.tags for layer in chunker.predict_layers(gold)] == [layer.tags for layer in gold]
    bare = chunker.of("segment").predict_layers(gold)
    assert bare[0].tags == ("B", "B", "B", "I", "B")
    given = [Layer(x.words, tuple(str(tag)[0] for tag in x.tags or ()), columns=x.columns) for x in gold]
    assert [layer.tags for layer in chunker.of("tag").predict_layers(given)] == [layer.tags for layer in gold]
    assert chunker.encoding_.tags == ("B-NP", "I-NP", "B-VP", "I-VP", "O")
    assert chunker.score(gold) == 1.0
    marginals = chunker.marginals(gold)
    assert [each.shape for each in marginals] == [(len(layer), 5) for layer in gold]
    np.testing.assert_allclose(marginals[0].sum(axis=1), 1.0)


def test_k_best_is_in_order_and_begins_with_the_best(tagger: TwoChainTagger) -> None:
    answers = tagger.k_best(["我们去北京。"], 5)
    assert answers[0].analysis == tagger.predict_layers([["我们去北京。"]])[0]
    scores = [each.score for each in answers]
    assert scores == sorted(scores, reverse=True)
    assert len({(each.analysis.words, each.analysis.tags) for each in answers}) == 5
    assert 0 < sum(each.probability for each in answers) < 1
    alone = tagger.of("segment").k_best(["我们去北京。"], 3)
    assert alone[0].analysis == tagger.of("segment").predict_layers([["我们去北京。"]])[0]
    assert len({each.analysis.words for each in alone}) == 3


def test_a_dev_set_makes_confidence_tell(corpus: list[Layer]) -> None:
    """On sentences used for neither weights nor scale, confidence is about the share of right labels."""
    dev = [sentence["ctb"] for sentence in read(f"{FOLDER}/ctb-dev.txt", standard="ctb")]
    fresh, unknown = dev[1::2], Layer(("新", "词"), ("NN", "ZZ"))
    fitted = TwoChainTagger("ctb", learning=QUICK).fit(corpus, dev=[*dev[::2], Layer(("好",)), unknown])
    plain = TwoChainTagger("ctb", learning=QUICK).fit(corpus)
    assert plain.model_.scale == 1.0
    assert TwoChainTagger("ctb", learning=ONCE).fit(corpus[:9], dev=[Layer(("好",))]).model_.scale == 1.0
    raw = dataclasses.replace(fitted.model_, scale=1.0)
    same = TwoChainTagger.with_model(raw).predict_layers(fresh)
    assert fitted.predict_layers(fresh) == same
    encoded = Encoding("char", fitted.encoding_.tags).encode(fresh)
    p = np.concatenate(fitted.marginals(fresh))
    is_right = p.argmax(axis=1) == encoded.label
    assert p.max(axis=1).mean() == pytest.approx(is_right.mean(), abs=0.1)  # of some 300 units
    before = np.concatenate(TwoChainTagger.with_model(raw).marginals(fresh))
    assert before.max(axis=1).mean() < is_right.mean() - 0.3
    assert pickle.loads(pickle.dumps(fitted)).model_.scale == fitted.model_.scale


def test_every_mode_can_be_sent_to_another_process(corpus: list[Layer]) -> None:
    tagger = TwoChainTagger("ctb", learning=QUICK).fit(corpus)
    for mode in MODES:
        own = tagger.of(mode)
        sent = pickle.loads(pickle.dumps(own))
        assert sent.mode == mode
        assert sent.predict_layers(corpus[:20]) == own.predict_layers(corpus[:20])
    zh = Analyzer(tagger, segmenter=tagger.fast_segmenter)
    again = pickle.loads(pickle.dumps(zh))
    texts = ["".join(layer.words) for layer in corpus[:20]]
    assert list(again.pipe(texts)) == list(zh.pipe(texts))
    assert list(again.segment(texts, fast=True)) == list(zh.segment(texts, fast=True))


def test_the_scale_is_the_one_with_the_smallest_loss() -> None:
    for wanted in (0.01, 0.7, 1.0, 3.0, 200.0):
        assert fit_scale(lambda scale, at=wanted: abs(np.log(scale / at))) == pytest.approx(wanted, rel=0.03)
    assert fit_scale(lambda scale: 0.0) == 1.0
    assert fit_scale(lambda scale: -scale) == pytest.approx(2.0**13, rel=0.1)  # it ends
    p = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    assert label_loss(p, np.array([0, 1, -1])) == pytest.approx((np.log(2) - np.log(0.75)) / 2)


def test_each_sentence_is_used_for_what_it_has(corpus: list[Layer]) -> None:
    """Without tags a sentence teaches boundaries; with some, the best that agrees with them is right."""
    bare = [Layer(layer.words) for layer in corpus[100:]]
    few = TwoChainTagger("ctb", learning=QUICK).fit(corpus[:100])
    mixed = TwoChainTagger("ctb", learning=QUICK).fit([*corpus[:100], *bare])
    beside = TwoChainTagger("ctb", learning=QUICK).fit(corpus[:100], segmented=corpus[100:])
    gold = [sentence["ctb"] for sentence in read(f"{FOLDER}/ctb-dev.txt", standard="ctb")]
    f1 = [
        word_score([x.words for x in gold], [x.words for x in each.of("segment").predict_layers(gold)]).f1
        for each in (few, mixed, beside)
    ]
    assert f1[1] > f1[0] + 2
    for one, other in zip(mixed.state()[1].values(), beside.state()[1].values(), strict=True):
        np.testing.assert_array_equal(one, other)
    half = [Layer(x.words, (*(x.tags or ())[:-1], None)) for x in corpus[:100]]
    partly = TwoChainTagger("ctb", learning=QUICK).fit(half)
    assert partly.predict_layers(gold[:1])[0].tags is not None


def test_bad_words_and_tags_are_refused(tagger: TwoChainTagger, chunker: TwoChainTagger) -> None:
    with pytest.raises(ConfigError, match="sentence 2: the word '\\\\u200b' has no visible character"):
        tagger.of("tag").predict_layers([["我们"], ["去", "\u200b"]])
    with pytest.raises(ConfigError, match="there are no annotated sentences"):
        TwoChainTagger("ctb").fit([])
    with pytest.raises(StandardError, match="no tags in 'ctb' to learn from"):
        TwoChainTagger("ctb").fit([Layer(("我们",))])
    words = Layer(("He", "sees"), columns={"pos": ("PRP", "VBZ")})
    with pytest.raises(StandardError, match="sentence 1 has no boundaries\n  hint: give labels"):
        chunker.of("tag").predict_layers([words])
    half = Layer(words.words, ("B-NP", None), columns=words.columns)
    with pytest.raises(
        StandardError, match="sentence 2: the word 'sees' has no chunk label, but others have"
    ):
        TwoChainTagger("chunk", level="word").fit([chunk_layers()[0], half])
    with pytest.raises(ConfigError, match="need the column 'pos'; the corpus has: none"):
        chunker.predict_layers([["He", "sees"]])
    once = TwoChainTagger("chunk", level="word", learning=ONCE)
    assert once.fit([*chunk_layers(), words]).is_trained()  # the last says nothing


def test_boundaries_that_are_not_legal_are_refused(tagger: TwoChainTagger) -> None:
    packed = tagger.predictor_.packer.pack([["我", "们"]], [Layer(("我们",))])
    b, e = tagger.encoding_.letters.index("B"), tagger.encoding_.letters.index("E")
    with pytest.raises(ValueError, match="the given boundaries are not legal at unit 2"):
        tagger.of("tag").label(packed, np.array([b, b], np.int32))
    with pytest.raises(ValueError, match="the given boundaries are not legal at unit 1"):
        tagger.of("tag").label(packed, np.array([e, b], np.int32))
    with pytest.raises(ValueError, match="a boundary letter for every unit"):
        tagger.of("tag").label(packed, np.array([b], np.int32))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": {"scheme": "IE"}}, "two-chain models cannot use the scheme 'IE'"),
        ({"modes": []}, "modes must name at least one of joint, segment, tag"),
        ({"modes": ["all"]}, r"modes must be a list of .*, got \('all',\)"),
        ({"cost": "much"}, "cost must be 'once' or 'label', got 'much'"),
        ({"features": {"full_from": 0}}, "full_from must be at least 1, got 0"),
        ({"level": "page"}, "level must be 'word' or 'char', got 'page'"),
        ({"learning": {"aggressiveness": -1.0}}, "aggressiveness must be greater than 0, got -1.0"),
        ({"learning": {"batch": 2}}, "batch does not apply to kind 'two-chain'"),
        ({"learning": {"algorithm": "adagrad"}}, "of kind 'two-chain' learns by 'pa', got 'adagrad'"),
        ({"features": {"templates": "nowhere"}}, "unknown two-chain templates 'nowhere'"),
    ],
)
def test_settings_are_checked(corpus: list[Layer], settings: dict, message: str) -> None:
    def fit() -> None:
        groups = {
            name: getattr(TwoChainConfig(), name).updated(settings.pop(name))
            for name in ("features", "learning")
            if name in settings
        }
        TwoChainTagger("ctb", **settings, **groups).fit(corpus[:5])

    with pytest.raises(ConfigError, match=message):
        fit()


def test_parameters_are_the_settings() -> None:
    """Constructor, config, clone and grid search speak of the same settings."""
    signature = inspect.signature(TwoChainTagger).parameters
    fields = {field.name: field.default for field in dataclasses.fields(TwoChainConfig)}
    assert {name: each.default for name, each in signature.items()} == fields
    tagger = TwoChainTagger("x", modes=["tag"], features=Features(scheme="BI"))
    again = TwoChainTagger(**tagger.get_params(deep=False))
    again.set_params(learning__aggressiveness=0.5, features__min_count=2, cost="label")
    assert again.config.learning == PassiveAggressive(iterations=20, aggressiveness=0.5)
    assert again.config.features == Features(scheme="BI", min_count=2)
    assert again.get_params()["learning__aggressiveness"] == 0.5
    assert TwoChainConfig().updated(again.config.to_dict()) == again.config
    assert TwoChainTagger.with_config(again.config).config == again.config
    with pytest.raises(ConfigError, match="learns by 'pa', got 'adagrad'"):
        _ = tagger.set_params(learning=AdaGrad()).config


def test_scikit_learn_clones_it() -> None:
    base = sklearn.base
    tagger = TwoChainTagger("x", features=Features(full_from=1), learning=QUICK)
    assert base.clone(tagger).get_params() == tagger.get_params()


def test_what_cannot_be_asked_says_so(tagger: TwoChainTagger) -> None:
    with pytest.raises(ConfigError, match=r"cannot give probabilities\n.*use mode 'joint'"):
        tagger.of("segment").marginals([["我们"]])
    with pytest.raises(ConfigError, match=r"cannot give n-best lists\n.*use mode 'joint'"):
        tagger.of("tag").k_best(["我们"], 2)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_saved_model_answers_the_same(tmp_path, tagger: TwoChainTagger, corpus, precision) -> None:
    path = tmp_path / "two.model"
    tagger.save(path, precision=precision)
    again = load(path)
    assert isinstance(again, TwoChainTagger)
    for mode in ("joint", "segment", "tag"):
        found, wanted = (
            again.of(mode).predict_layers(corpus[:40]),
            tagger.of(mode).predict_layers(corpus[:40]),
        )
        assert sum(a == b for a, b in zip(found, wanted, strict=True)) >= (
            40 if precision == "float32" else 39
        )
    assert pickle.loads(pickle.dumps(tagger)).predict([["我们"]]) == tagger.predict([["我们"]])


def test_hostile_files_are_refused(tmp_path, tagger: TwoChainTagger) -> None:
    path = tmp_path / "two.model"
    tagger.save(path)
    header, arrays = read_model(path)
    changes = [
        (header | {"tags": header["tags"][:3]}, arrays),
        (header | {"templates": "s: x[0]"}, arrays),
        (header | {"templates": "s: q[0]"}, arrays),
        (header, arrays | {"clique": arrays["clique"][:-1]}),
        (header, arrays | {"label": np.full_like(arrays["label"], 0x7FFF)}),
        (header, arrays | {"slot": np.zeros_like(arrays["slot"])}),
        (header, arrays | {"weight": np.full_like(arrays["weight"], np.nan)}),
        (header, {name: array for name, array in arrays.items() if name != "clique"}),
        (header | {"config": {"level": "char", "surprise": 1}}, arrays),
        (header | {"config": {"level": "page"}}, arrays),
        *((header | {"scale": scale}, arrays) for scale in (0.0, -1.0, True, "2", None)),
    ]
    for number, (bad_header, bad_arrays) in enumerate(changes):
        bad = tmp_path / f"bad{number}.model"
        write_model(bad, bad_header, bad_arrays)
        with pytest.raises(ModelFileError, match="the parts of the model do not fit together"):
            TwoChainTagger.load(bad)


@pytest.mark.parametrize("scale", [np.inf, np.nan, 0.0])
def test_a_scale_is_a_number_above_0(tagger: TwoChainTagger, scale: float) -> None:
    with pytest.raises(ConfigError, match="scale must be a number greater than 0, got"):
        dataclasses.replace(tagger.model_, scale=scale)
    packed = tagger.predictor_.packer.pack([["我"]], [Layer(("我",))])
    with pytest.raises(ValueError, match="the scale of the scores must be above 0"):
        tagger.predictor_.native.predict_marginals(packed, scale, 1)


def test_same_bytes_for_any_threads_and_after_a_stop(tmp_path, corpus: list[Layer]) -> None:
    def bytes_of(name: str, iterations: int = 3, threads: int = 1, **settings) -> bytes:
        learning = PassiveAggressive(iterations=iterations)
        checkpoint = tmp_path / f"{name}.checkpoint"
        tagger = TwoChainTagger("ctb", learning=learning, **settings)
        session = Session(threads=threads, checkpoint=checkpoint, resume=True)
        tagger.fit(corpus[:80], dev=corpus[80:100], session=session)
        tagger.save(tmp_path / f"{name}.model")
        return (tmp_path / f"{name}.model").read_bytes()

    whole = bytes_of("a")
    assert bytes_of("b", threads=2) == whole
    bytes_of("c", iterations=1)
    assert bytes_of("c") == whole
    with pytest.raises(ModelFileError, match="the checkpoint of another run"):
        bytes_of("c", cost="label")


def test_a_model_names_its_templates_without_their_folder(tmp_path, corpus: list[Layer]) -> None:
    (tmp_path / "own.txt").write_text("s t st ss: x[0]\n", encoding="utf-8")
    features = Features(templates=str(tmp_path / "own.txt"))
    header, _ = TwoChainTagger("ctb", features=features, learning=ONCE).fit(corpus[:20]).state()
    assert header["templates_name"] == header["config"]["features"]["templates"] == "own.txt"


def test_the_factorial_model_has_no_edge_but_words_have_one_tag(corpus: list[Layer]) -> None:
    tagger = TwoChainTagger("ctb", edge=False, learning=PassiveAggressive(iterations=2)).fit(corpus)
    found = tagger.predict_layers(corpus[:20])
    assert ["".join(layer.words) for layer in found] == ["".join(layer.words) for layer in corpus[:20]]
    linked = TwoChainTagger("ctb", learning=ONCE).fit(corpus)
    cliques = [each.predictor_.packer.shape.clique_weights for each in (tagger, linked)]
    assert cliques[0] < cliques[1]

"""Weights by name: those of a sentence's features add up to the score that the native core gives."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from duilian import _native, demo
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Templates, pack
from duilian.labels.segments import label_letters
from duilian.learning import AdaGrad, PassiveAggressive
from duilian.lexicon.constraint_builder import no_constraints
from duilian.models import (
    DynamicFeatures,
    DynamicSearch,
    DynamicTagger,
    Features,
    GuidedTagger,
    MultitaskTagger,
    Parser,
    Tagger,
    TwoChainTagger,
)
from duilian.models.base.named_weights import NamedFeature, hash_text
from duilian.models.coupled.config import CoupledPruning
from duilian.models.coupled.storage import AVERAGE
from duilian.text import Folding
from models.coupled_corpora import DEV, SMALL, TRAIN, side, small
from oracle.dynamic import Search, words_so_far

QUICK = AdaGrad(iterations=2)
START, STOP = "<s>", "</s>"
ODD = """
w[0]
w[-1] w[0]
c[0,0] type[0]
prefix[0,1..2]
suffix[-1,1] len[0]
c[0,*]
same[0,1] bias
bias
c[0,-1] if type[0]=digit and not single[0]
repeat[0]
t[-1]
"""


def path_sum(tagger: Any, features: Sequence[Sequence[str]], path: Sequence[str]) -> float:
    """The score of a path of labels, from weights by name."""
    states = zip(features, path, strict=True)
    total = sum(tagger.weights(name).get(label, 0.0) for names, label in states for name in names)
    moves = itertools.pairwise([START, *path, STOP])
    return total + sum(tagger.weights(f"t[-1]={a}").get(b, 0.0) for a, b in moves)


def test_keys_are_those_of_the_native_core() -> None:
    templates, folding = Templates(ODD + "@pos[0] w[1]\n"), Folding()
    units, columns = ["１9", "国务院", "人人", "𠀀", "a"], {"pos": ["m", "n t", "x", "", "=y"]}
    packed = pack([units], folding, [columns])
    names = [name for each in _native.describe_features(templates.native, packed, 0) for name in each]
    _, keys = _native.extract_keys(templates.native, packed)
    assert len(names) == len(keys) > 30
    pairs = zip(names, keys.tolist(), strict=True)
    texts = templates.native.texts
    wrong = [
        name
        for name, key in pairs
        if "n t" not in name and NamedFeature.parse(name, texts).key(folding) != key
    ]
    assert wrong == []
    assert hash_text("") == 0x2545F4914F6CDD1D


@pytest.mark.parametrize("level", ["word", "char"])
def test_a_plain_tagger(level: Any) -> None:
    tagger = Tagger("ctb", level=level, learning=QUICK).fit(TRAIN[0][:60])
    predictor = tagger.predictor_
    for layer in DEV[0][:4]:
        units = predictor.packer.units([layer])[0][:12]
        packed = predictor.packer.pack([units], [])
        features = tagger.templates_.describe(units, folding=predictor.packer.reading)
        chain = predictor.native.chain(packed, no_constraints(), 0)
        for score, states in chain.k_best(3):
            path = [tagger.encoding_.labels[k] for k in chain.tags[states]]
            assert path_sum(tagger, features, path) == pytest.approx(score, abs=1e-3)


def test_templates_of_all_sorts_and_folded_values(tmp_path: Any) -> None:
    (tmp_path / "odd.txt").write_text(ODD, encoding="utf-8")
    features = Features(templates=str(tmp_path / "odd.txt"))
    tagger = Tagger("ctb", features=features, learning=QUICK).fit(TRAIN[0][:60])
    units = ["我们", "1998年", "天天", "研究生院", "。"]
    packed = tagger.predictor_.packer.pack([units], [])
    found = tagger.templates_.describe(units, folding=tagger.predictor_.packer.reading)
    chain = tagger.predictor_.native.chain(packed, no_constraints(), 0)
    score, states = chain.best_path()
    path = [tagger.encoding_.labels[k] for k in chain.tags[states]]
    assert path_sum(tagger, found, path) == pytest.approx(score, abs=1e-3)
    assert tagger.weights("w[0]=，") == tagger.weights("w[0]=,") != {}
    assert tagger.weights("w[0]=不在语料库里") == {}


def test_a_guided_tagger() -> None:
    tagger = GuidedTagger("ctb", source_standard="pku", folds=2, learning=QUICK)
    tagger.fit(TRAIN[0][:60], source=TRAIN[1][:60])
    units = [list(DEV[0][0].words)]
    packer = tagger.predictor_.packer
    (columns,) = packer.columns(units, [], 1)
    features = tagger.templates_.describe(units[0], columns, packer.reading)
    chain = tagger.predictor_.native.chain(packer.pack(units, []), no_constraints(), 0)
    score, states = chain.best_path()
    path = [tagger.encoding_.labels[k] for k in chain.tags[states]]
    assert path_sum(tagger, features, path) == pytest.approx(score, abs=1e-3)
    assert tagger.source_.weights("t[-1]=<s>").keys() <= set(tagger.source_.encoding_.labels)


def test_a_multitask_tagger() -> None:
    tagger = MultitaskTagger(demo.STANDARDS, learning=QUICK).fit([each[:40] for each in TRAIN])
    for number, standard in enumerate(demo.STANDARDS):
        own = tagger.of(standard)
        units = own.predictor_.packer.units(DEV[number][:1])[0][:10]
        features = tagger.templates_.describe(units, folding=own.predictor_.packer.reading)
        chain = own.predictor_.native.chain(own.predictor_.packer.pack([units], []), no_constraints(), 0)
        score, states = chain.best_path()
        path = [own.encoding_.labels[k] for k in chain.tags[states]]
        assert path_sum(own, features, path) == pytest.approx(score, abs=1e-3)
        assert tagger.weights(features[0][0])[standard] == own.weights(features[0][0])


@pytest.mark.parametrize("kind", ["online", "mixed"])
def test_a_coupled_tagger(kind: Any) -> None:
    """All paths of bundles, summed over the other side."""
    pruning = CoupledPruning(kind=kind, max_candidates=9, candidate_mass=1.0, bundle_gap=None)
    tagger = small(pruning=pruning).fit(SMALL)
    units = ["他", "看", "书"]
    features = tagger.templates_.describe(units, folding=tagger.predictor_.packer.reading)
    tables = [[tagger.weights(name) for name in names] for names in features]
    labels = [encoding.labels for encoding in tagger.encodings_]
    between = {
        name: tagger.weights(f"t[-1]={name}")
        for name in (START, *labels[0], *labels[1], *(f"[{a}, {b}]" for a in labels[0] for b in labels[1]))
    }

    def score(path: tuple[tuple[str, str], ...]) -> float:
        rows = [{"a": a, "b": b, "[a, b]": f"[{a}, {b}]"} for a, b in path]
        total = 0.0
        for found, row in zip(tables, rows, strict=True):
            total += sum(table.get(name, {}).get(own, 0.0) for table in found for name, own in row.items())
        for name in rows[0]:
            moves = itertools.pairwise([START, *(row[name] for row in rows), STOP])
            total += sum(between[x].get(name, {}).get(y, 0.0) for x, y in moves)
        return total

    paths = list(itertools.product(itertools.product(*labels), repeat=len(units)))
    scores = np.array([score(path) for path in paths])
    packed = tagger.predictor_.packer.pack([units])
    log_z, found = tagger.predictor_.natives[AVERAGE].k_best(packed, 0, [no_constraints()] * 2, 3)
    assert log_z == pytest.approx(np.logaddexp.reduce(scores), abs=1e-3)
    for total, numbers in found:
        own = [[a for a, _ in path] == [labels[0][k] for k in numbers] for path in paths]
        assert total == pytest.approx(np.logaddexp.reduce(scores[own]), abs=1e-3)
    assert any(table.get("[a, b]") for table in tables[0]), "bundles have weights"


def test_two_chains() -> None:
    tagger = TwoChainTagger("ctb", learning=PassiveAggressive(iterations=2)).fit(TRAIN[0][:40])
    packer, weights = tagger.predictor_.packer, tagger.model_.weights
    units = packer.encoding.split(DEV[0][0].words)[0][:9]
    packed = packer.pack([units], [])
    bare = _native.TwoChainWeights(weights.slot, weights.label, np.zeros_like(weights.weight), weights.clique)
    natives = [
        _native.TwoChainPredictor(packer.shape, packer.templates.native, each, packer.reading.native)
        for each in (weights, bare)
    ]
    letters, tags = tagger.predictor_.native.predict(
        packed, _native.TwoChainMode.joint, np.zeros(0, np.int32), 1
    )
    with_features, without = (each.path_score(packed, 0, letters, tags) for each in natives)
    s = [label_letters(packer.encoding.scheme)[k] for k in letters]
    t = [packer.encoding.kinds[k] for k in tags]
    total = 0.0
    for cliques, template in tagger.templates_.lines:
        for i, names in enumerate(Templates(template).describe(units, folding=packer.reading)):
            here = {"s": s[i], "t": t[i], "st": f"{s[i]}@{t[i]}"}
            here |= {"ss": f"{s[i - 1]} {s[i]}", "tt": f"{t[i - 1]} {t[i]}"} if i else {}
            for name in names:
                found = tagger.weights(name)
                assert set(found) == set(cliques)
                total += sum(found[clique].get(here.get(clique, ""), 0.0) for clique in cliques)
    assert total == pytest.approx(with_features - without, abs=1e-3)
    assert abs(total) > 0.1


def test_dynamic_features() -> None:
    """With weights by name, the search by definition finds what the native one finds."""
    corpus = side("他/P 走/V", "他们/P 看/V 书/N", "书本/N 走/V", "她/P 看到/V 他们/P", "书/N 看/V")
    features = DynamicFeatures(templates="mixed-static", word_templates="mixed-words")
    tagger = DynamicTagger("a", features=features, search=DynamicSearch(beam=200))
    tagger.set_params(learning__iterations=3).fit(corpus)
    encoding, model = tagger.encoding_, tagger.model_
    assert model.word_templates is not None
    labels = encoding.labels
    units = ["他", "们", "看"]
    static = tagger.templates_.describe(units, folding=model.packer().reading)

    def state(t: int, label: int) -> float:
        edges = [f"t[-1]={START}"] if t == 0 else []
        total = sum(tagger.weights(name).get(labels[label], 0.0) for name in [*static[t], *edges])
        end = tagger.weights(f"t[-1]={labels[label]}").get(STOP, 0.0)
        return total + (end if t == len(units) - 1 else 0.0)

    def word_score(prefix: tuple[int, ...], label: int) -> float:
        words, tags, place = words_so_far(units, [labels[k] for k in prefix])
        names = model.word_templates.describe(words, {"pos": tags}, model.packer().reading)[place]
        return sum(tagger.weights(name).get(labels[label], 0.0) for name in names)

    def is_legal(path: tuple[int, ...]) -> bool:
        rules = encoding.succession
        if not rules.start[path[0]] or (len(path) == len(units) and not rules.end[path[-1]]):
            return False
        return all(rules.allows[a, b] for a, b in itertools.pairwise(path))

    search = Search(
        length=len(units),
        labels=len(labels),
        state=state,
        between=lambda a, b: tagger.weights(f"t[-1]={labels[a]}").get(labels[b], 0.0),
        is_legal=is_legal,
        is_open=lambda label: not encoding.succession.end[label],
        word_score=word_score,
    )
    path, score = search.exhaustive()
    packed = model.packer().pack([units], [])
    found, _ = tagger.predictor_.native.predict(packed, no_constraints(), 1)
    assert tuple(found.tolist()) == path
    words = [tagger.weights(name) for name in ("w[-1] w[0]=他 看", "@pos[0] w[0]=P 他们")]
    assert any(words), "words have weights"
    assert score > 0.0


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("w[0", "has no template for the feature 'w[0'"),
        ("w[9]=我们", "has no template for the feature 'w[9]=我们'"),
        ("w[0] c[1,0]=我们", "does not give the 2 values of its template"),
        ("w[0]", "does not give the 1 values of its template"),
        ("t[-1]=QQ", "has no label 'QQ'"),
    ],
)
def test_names_that_are_none(feature: str, message: str) -> None:
    tagger = Tagger("ctb", learning=AdaGrad(iterations=1)).fit(TRAIN[0][:5])
    with pytest.raises(ConfigError) as caught:
        tagger.weights(feature)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_parser_says_that_its_features_have_no_names() -> None:
    tree = Layer(("他", "来"), ("PN", "VV"), heads=(2, 0), relations=("nsubj", "root"))
    parser = Parser("ctb").set_params(learning__iterations=1).fit([tree])
    with pytest.raises(ConfigError, match="features of models of kind 'parser' have no names"):
        parser.weights("w[0]=他")

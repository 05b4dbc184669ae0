"""The multi-task tagger: mapping of labels, training, files, recipes, and what it refuses."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.base

from cli.running import run_here
from demo_recipes import both_sides
from duilian import Layer, Mapping, MultitaskTagger, read
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.labels.encoding import Encoding
from duilian.learning import AdaGrad, PassiveAggressive, Session, Sgd
from duilian.models import load, standards_of, tagger_for
from duilian.models.base.calibration import label_loss
from duilian.models.base.feature_settings import Features
from duilian.models.multitask.config import MultitaskConfig
from duilian.models.multitask.label_mapping import label_mapping, split_name_pairs
from duilian.recipes import Recipe, Run, train

QUICK = AdaGrad(iterations=2)
PAPER = PassiveAggressive(iterations=2, aggressiveness=0.1)
DEMO = Path(__file__).parents[2] / "src" / "duilian" / "demo"


def corpus(name: str):
    return read(str(DEMO / f"{name}.txt"), standard=name.partition("-")[0])


@pytest.fixture(scope="module")
def corpora():
    return [corpus("ctb"), corpus("pku")], [corpus("ctb-dev"), corpus("pku-dev")]


@pytest.fixture(scope="module")
def tagger(corpora):
    return MultitaskTagger(["ctb", "pku"], learning=AdaGrad(iterations=3)).fit(corpora[0], dev=corpora[1])


def test_names_of_one_word_and_of_two_meet_on_every_character():
    pairs = split_name_pairs(Encoding("char", ("NR",)))
    assert {("B", "S"), ("E", "S"), ("E", "E"), ("I", "B"), ("I", "E"), ("B", "B"), ("I", "I")} == set(pairs)


def test_labels_map_as_their_tags_do():
    encodings = [Encoding("char", ("NN", "NR", "X")), Encoding("char", ("n", "nr"))]
    tags = Mapping.from_pairs([("NN", "n"), ("NR", "nr")], ("NN", "NR", "X"), ("n", "nr"))
    found = label_mapping(tags, encodings, ("ctb", "pku"))
    assert found.to("B@NN") == ["B@n"]
    assert set(found.to("E@NR")) == {"E@nr", "S@nr"}
    assert set(found.to("B@NR")) == {"B@nr", "S@nr"}
    assert set(found.to("I@NR")) == {"B@nr", "E@nr", "I@nr"}
    assert found.to("S@NR") == ["S@nr"]
    assert found.without_partner() == ([f"{letter}@X" for letter in ("E", "S", "B", "I")], [])
    assert set(found.T.to("S@nr")) == {"B@NR", "E@NR", "S@NR"}
    plain = label_mapping(tags, encodings, ("ctb", "pku"), align_names=False)
    assert plain.to("E@NR") == ["E@nr"]
    assert label_mapping(tags, encodings, ("ctb", "other")).size == plain.size == 8
    turned = label_mapping(tags.T, encodings[::-1], ("pku", "ctb"))
    assert (turned.matrix == found.matrix.T).all()


def test_it_learns_both_standards(tagger, corpora):
    for standard, dev in zip(("ctb", "pku"), corpora[1], strict=True):
        found = tagger.of(standard).score(dev)
        assert found > 0.6
        assert tagger.best_scores_[standard] == pytest.approx(100 * found, abs=1e-6)
    assert tagger.score(corpora[1]) > 0.6


@pytest.mark.parametrize(
    "settings",
    [
        {"learns_from_other": "first"},
        {"learns_from_other": "second"},
        {"expansion": "best", "learning": PAPER},
        {"align_names": False, "learning": PAPER},
        {"mapping": "tight", "learning": AdaGrad(iterations=2, sample=(50, 30))},
        {"learning": AdaGrad(iterations=2, keep="average")},
    ],
)
def test_every_way_answers_and_is_kept(settings, corpora, tmp_path):
    found = MultitaskTagger(["ctb", "pku"], **{"learning": QUICK, **settings})
    found.fit(corpora[0], dev=corpora[1], threads=2)
    found.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, MultitaskTagger)
    assert standards_of(again) == ("ctb", "pku")
    for standard, dev in zip(found.standards, corpora[1], strict=True):
        side = tagger_for(again, standard)
        assert side.predict_layers(dev) == found.predict_layers(dev, standard, threads=2)
        assert side.score(dev) > 0.3
        text = "".join(dev[0][standard].words)
        lines = side.tag_lines(f"{text}\n".encode(), between="|", before_tag="\t").decode()
        assert "".join(pair.split("\t")[0] for pair in lines.strip().split("|")) == text


def test_a_side_that_does_not_learn_from_the_other_is_a_plain_tagger(corpora):
    found = MultitaskTagger(["ctb", "pku"], learning=QUICK, learns_from_other="first").fit(
        corpora[0], dev=[None, corpora[1][1]]
    )
    assert found.config.takes_from_other(0)
    assert not found.config.takes_from_other(1)
    assert set(found.best_scores_) == {"pku"}


def test_a_side_has_probabilities_and_n_best(tagger, corpora):
    side, dev = tagger.of("pku"), corpora[1][1][:20]
    for sentence, p in zip(dev, side.marginals(dev), strict=True):
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        found = side.k_best(sentence, 3)
        assert found[0].analysis == side.predict_layers([sentence])[0]
        assert found[0].probability >= found[1].probability >= found[2].probability > 0
        assert sum(each.probability for each in found) <= 1.0 + 1e-9


def test_the_best_expansion_alone_has_none(corpora):
    small = [part[:20] for part in corpora[0]]
    side = MultitaskTagger(["ctb", "pku"], expansion="best", learning=PAPER).fit(small).of("pku")
    with pytest.raises(ConfigError, match=r"'multitask' cannot give probabilities\n.*'mean'"):
        side.marginals([["我们"]])
    with pytest.raises(ConfigError, match=r"'multitask' cannot give n-best lists\n.*'mean'"):
        side.k_best(["我们"], 2)


def test_a_dev_set_tells_the_unit_of_learned_margins(corpora):
    """Same answers as without, but probabilities; a side without a dev set keeps its weights."""
    fitted, plain = (
        MultitaskTagger(["ctb", "pku"], learning=dataclasses.replace(PAPER, keep="average")).fit(
            corpora[0], dev=dev
        )
        for dev in ([None, corpora[1][1]], None)
    )
    test = corpora[0][1][:50]
    assert fitted.predict_layers(test, "pku") == plain.predict_layers(test, "pku")
    loss = {}
    for name, tagger in (("fitted", fitted), ("plain", plain)):
        side, dev = tagger.of("pku"), [sentence["pku"] for sentence in corpora[1][1]]
        loss[name] = label_loss(np.concatenate(side.marginals(dev)), side.encoding_.encode(dev).label)
    assert loss["fitted"] < 0.8 * loss["plain"]
    ours, theirs = (each.of("ctb").model_.weights.weight for each in (fitted, plain))
    np.testing.assert_array_equal(ours, theirs)


def test_half_a_file_is_refused(tagger, tmp_path):
    tagger.save(tmp_path / "m")
    raw = (tmp_path / "m").read_bytes()
    (tmp_path / "half").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ModelFileError):
        load(tmp_path / "half")
    header, arrays = tagger.state()
    with pytest.raises(ValueError, match=r"entries, but \d+ labels"):
        MultitaskTagger.from_state(header, arrays | {"0.0.first": arrays["0.0.first"][:-1]})
    with pytest.raises(KeyError):
        MultitaskTagger.from_state({**header, "mapping": {"B@ZZ": ["B@n"]}}, arrays)


def test_commands_take_it(tagger, tmp_path, monkeypatch):
    tagger.save(tmp_path / "m")
    model, gold = str(tmp_path / "m"), str(DEMO / "pku-dev.txt")
    status, out, _ = run_here(
        monkeypatch, "tag", "-m", model, "--standard", "pku", stdin="我们去北京。\n".encode()
    )
    assert status == 0
    assert re.sub(r"_[a-zA-Z]+ ?", "", out).strip() == "我们去北京。"
    status, out, _ = run_here(monkeypatch, "evaluate", model, gold, "--standard", "pku", "--json")
    assert status == 0
    assert json.loads(out)["word_tag"]["f1"] == pytest.approx(tagger.best_scores_["pku"], abs=0.01)
    assert run_here(monkeypatch, "tag", "-m", model, "--marginals", stdin="我们\n".encode())[0] == 0
    assert run_here(monkeypatch, "analyze", "--model", model, "我们")[0] == 0


def test_inspect_prints_the_mapping(tagger, tmp_path, monkeypatch):
    tagger.save(tmp_path / "m")
    status, out, _ = run_here(monkeypatch, "inspect", str(tmp_path / "m"))
    assert status == 0
    assert "pairs of labels" in out
    assert re.search(r"E@NR +.*S@nr", out)
    found = json.loads(run_here(monkeypatch, "inspect", str(tmp_path / "m"), "--json")[1])
    assert "S@nr" in found["mapping"]["B@NR"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"standards": ("ctb", "ctb")}, "two different names, got ctb, ctb"),
        ({"standards": ("a", "b", "c")}, "two names, got a, b, c"),
        (
            {"learns_from_other": "none"},
            "learns_from_other must be 'both' or 'first' or 'second', got 'none'",
        ),
        ({"expansion": "worst"}, "expansion must be 'mean' or 'all' or 'best', got 'worst'"),
        ({"expansion": "best"}, "needs the algorithm 'pa'"),
        ({"learning": Sgd()}, "of kind 'multitask' learns by 'adagrad' or 'pa', got 'sgd'"),
        ({"learning": AdaGrad(sample=(1,))}, r"one number for each of 2 standards, got \(1,\)"),
        ({"learning": AdaGrad(sample=1)}, "one number for each of 2 standards, got 1"),
        ({"features": Features(templates="guide-char")}, "must not use columns"),
    ],
)
def test_wrong_settings_are_refused(corpora, wrong, message):
    with pytest.raises(ConfigError, match=message):
        MultitaskTagger(**({"standards": ("ctb", "pku")} | wrong)).fit(corpora[0])


def test_corpora_that_cannot_be_learned_from_are_refused(corpora):
    with pytest.raises(ConfigError, match="1 corpora for 2 standards"):
        MultitaskTagger(["ctb", "pku"]).fit(corpora[0][:1])
    with pytest.raises(ConfigError, match="3 dev sets for 2 standards"):
        MultitaskTagger(["ctb", "pku"]).fit(corpora[0], dev=[None] * 3)
    with pytest.raises(StandardError, match="exactly one tag per word"):
        MultitaskTagger(["ctb", "pku"]).fit([[Layer(("好", "人"), ("VA", None))], corpora[0][1]])
    empty = Mapping.from_pairs([("ZZ", "zz")])
    with pytest.raises(StandardError, match="relates no tag"):
        MultitaskTagger(["ctb", "pku"], mapping=empty).fit(corpora[0])


def test_recipes_train_it_and_tell_of_tags_without_partner(tmp_path):
    (tmp_path / "thin.txt").write_text("standards: ctb pku\nNN n\nVV v\n", encoding="utf-8")
    (tmp_path / "r.toml").write_text(both_sides("multitask", 'mapping = "thin.txt"'), encoding="utf-8")
    warnings: list[str] = []
    run = Run(output=tmp_path / "m", on_warning=warnings.append)
    assert train(Recipe.load(tmp_path / "r.toml", DEMO), run) is not None
    assert any("no tag maps to" in each and "NR" in each for each in warnings)
    assert load(tmp_path / "m").mapping == "thin.txt"


def test_a_run_that_was_stopped_ends_with_the_same_bytes(corpora, tmp_path):
    def fit(iterations, resume, threads=1):
        found = MultitaskTagger(["ctb", "pku"], learning=AdaGrad(iterations=iterations))
        small = [part[:40] for part in corpora[0]]
        session = Session(threads=threads, checkpoint=tmp_path / "c", resume=resume)
        return found.fit(small, dev=corpora[1], session=session)

    fit(2, False)
    fit(3, True).save(tmp_path / "resumed")
    fit(3, False, threads=2).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_parameters_are_the_settings(tagger):
    """Constructor, config, clone and grid search speak of the same settings."""
    signature = inspect.signature(MultitaskTagger).parameters
    fields = {field.name: field.default for field in dataclasses.fields(MultitaskConfig)}
    assert {name: each.default for name, each in signature.items()} == fields
    again = MultitaskTagger(**tagger.get_params(deep=False))
    again.set_params(learning__rate=0.1, features__min_count=2, expansion="all")
    assert again.config.learning == AdaGrad(iterations=3, rate=0.1)
    assert again.config.features == Features(templates="multitask", min_count=2)
    assert MultitaskConfig().updated(again.config.to_dict()) == again.config
    assert MultitaskTagger.with_config(again.config).config == again.config


def test_scikit_learn_clones_it(tagger):
    base = sklearn.base
    cloned = base.clone(tagger)
    assert cloned.get_params() == tagger.get_params()
    assert not cloned.is_trained()


def test_a_pickled_tagger_answers_alike(tagger, corpora):
    again = pickle.loads(pickle.dumps(tagger))
    for standard, dev in zip(("ctb", "pku"), corpora[1], strict=True):
        assert again.predict_layers(dev, standard) == tagger.predict_layers(dev, standard)


def test_a_model_keeps_no_object_and_no_folder(corpora, tmp_path):
    (tmp_path / "own.txt").write_text("x[0]\n", encoding="utf-8")
    tags = Mapping.from_pairs([("NN", "n"), ("VV", "v")])
    features = Features(templates=str(tmp_path / "own.txt"))
    found = MultitaskTagger(["ctb", "pku"], mapping=tags, features=features, learning=AdaGrad(iterations=1))
    session = Session(checkpoint=tmp_path / "c")  # which needs a fingerprint
    header, _ = found.fit([part[:20] for part in corpora[0]], session=session).state()
    assert header["config"]["mapping"] == "own"
    assert header["templates_name"] == header["config"]["features"]["templates"] == "own.txt"
    assert header["mapping"]["B@NN"] == ["B@n"]

"""The dynamic tagger: mixed text end to end, files, recipes, and what it refuses."""

from __future__ import annotations

import dataclasses
import inspect
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import duilian
from cli.running import run_here
from duilian import DynamicTagger, Layer, Tagger, evaluate, read, write
from duilian.corpus.mixing import Mixing, mix
from duilian.errors import ConfigError, ModelFileError, StandardError, TemplateError
from duilian.learning import AdaGrad, PassiveAggressive, Session, Sgd
from duilian.models import load
from duilian.models.base.feature_settings import Features
from duilian.models.dynamic.config import DynamicConfig, DynamicFeatures, DynamicSearch
from duilian.models.dynamic.english_uses import EnglishUses, case_of
from duilian.models.dynamic.training import DynamicTrainer
from duilian.recipes import Recipe, Run, train

DEMO = Path(__file__).parents[2] / "src" / "duilian" / "demo"
REAL = Path(__file__).parents[1] / "data" / "mixed" / "real.txt"
TAGGED = re.compile(r"\[(.+?)/(NN|NR|VV|VA|JJ)\]")
RECIPE = """
[model]
kind = "dynamic"

{groups}

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[learning]
iterations = 1
"""


@pytest.fixture(scope="module")
def corpora():
    train, dev = (read(str(DEMO / name), standard="ctb") for name in ("ctb.txt", "ctb-dev.txt"))
    mixing = Mixing(share=0.3)
    return [list(mix(part, mixing, standard="ctb", seed=seed)) for part, seed in ((train, 1), (dev, 2))]


@pytest.fixture(scope="module")
def tagger(corpora):
    return DynamicTagger("ctb", learning=AdaGrad(iterations=4)).fit(corpora[0], dev=corpora[1])


def text_of(line: str) -> str:
    return TAGGED.sub(r"\1", line).replace("] [", " ")


def test_it_learns(tagger, corpora):
    assert tagger.score(corpora[1]) > 0.5
    assert tagger.best_score_ == pytest.approx(100 * tagger.score(corpora[1]), abs=1e-6)


def test_trimming_drops_small_weights_and_more_of_those_of_words(corpora):
    class Watched(DynamicTrainer):
        def model_maker(self, weights, keys):
            self.weights = weights
            return super().model_maker(weights, keys)

    trainer = Watched(DynamicConfig(standard="ctb", learning=AdaGrad(iterations=2)), Session())
    trained = trainer.run([sentence["ctb"] for sentence in corpora[0]])
    sizes = np.abs(trainer.weights[trainer.layout.transitions :])
    is_word = np.arange(len(sizes)) >= trainer.layout.first[trainer.data.unit_rows]
    assert is_word.any()
    for smallest in (0.0, 0.02, 0.1):
        kept = np.sort(np.abs(trained.model(smallest).state()[1]["weight"]))
        wanted = np.sort(sizes[(sizes > 0) & (sizes >= np.where(is_word, 5 * smallest, smallest))])
        np.testing.assert_array_equal(kept, wanted)


def test_trimming_an_estimator_drops_small_weights(corpora):
    tagger = DynamicTagger("ctb", learning=AdaGrad(iterations=2)).fit(corpora[0][:60])
    whole = np.abs(tagger.state()[1]["weight"])
    kept = np.abs(tagger.trim(0.05).state()[1]["weight"])
    assert 0 < len(kept) < (whole >= 0.05).sum()
    assert kept.min() >= 0.05


def test_the_users_own_letters_come_back_with_a_real_tag(tagger):
    (found,) = tagger.predict_layers([("他把iPhone借给了ｂｏｂ",)])
    assert "".join(found.words) == "他把iPhone借给了ｂｏｂ"
    assert any("iPhone" in word for word in found.words)
    assert set(found.tags) <= set(tagger.encoding_.tags)
    lines = tagger.tag_lines("他把iPhone借给了ｂｏｂ\n".encode()).decode()
    assert lines.replace("_", "").replace(" ", "").strip().startswith("他")
    assert "iPhone" in lines


def test_unified_letters_look_alike_and_respective_ones_do_not(tagger, corpora):
    tags = [tagger.predict_layers([(f"我们的{word}很好",)])[0].tags for word in ("iPhone", "zzz", "Кот")]
    assert tags[0] == tags[1] == tags[2]
    as_is = DynamicTagger("ctb", learning=AdaGrad(iterations=1), features=DynamicFeatures(letters="as-is"))
    assert as_is.fit(corpora[0]).predictor_.packer.reading.folding.native.fold("ab") == "ab"


STRANGE = [
    "价格是123.5元/kg，WiFi 6E",
    "请看https://example.org/a?b=c&d=1#e",
    "邮箱是someone+tag@example.co.uk。",
    "#话题# @小明 你好",
    "好吃😋👨‍👩‍👧的ramen🍜",
    "ＡＢＣ１２３全角",
    "Привет，你好",
    "ありがとう、カタカナ",
    "A",
    "é́",
    "𠮷野家",
]


@pytest.mark.parametrize("text", STRANGE)
def test_strange_text_stays_whole(tagger, text):
    lines = tagger.tag_lines(f"{text}\n".encode(), between="\x01", before_tag="\x02").decode()
    words = [pair.partition("\x02")[0] for pair in lines.rstrip("\n").split("\x01")]
    assert "".join(words) == text.replace(" ", "")
    assert {pair.partition("\x02")[2] for pair in lines.rstrip("\n").split("\x01")} <= set(
        tagger.encoding_.tags
    )


def test_the_real_set_is_sound():
    lines = [line for line in REAL.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) >= 150
    assert len(set(lines)) == len(lines)
    words = [pair for line in lines for pair in TAGGED.findall(line)]
    assert {tag for _, tag in words} == {"NN", "NR", "VV", "VA", "JJ"}
    assert len(words) >= 150
    for line in lines:
        plain = text_of(line)
        assert not set("[]/") & set(plain)
        assert re.findall("[A-Za-z]+", plain) == [w for word, _ in TAGGED.findall(line) for w in word.split()]


def test_every_real_sentence_is_tagged_and_whole(tagger):
    for line in REAL.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text = text_of(line)
        (found,) = tagger.predict_layers([(text,)])
        assert "".join(found.words) == text.replace(" ", "")


def test_a_file_keeps_the_tagger(tagger, corpora, tmp_path):
    tagger.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, DynamicTagger)
    assert again.predict(corpora[1]) == tagger.predict(corpora[1])
    assert again.get_params() == tagger.get_params()
    raw = (tmp_path / "m").read_bytes()
    (tmp_path / "half").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ModelFileError):
        load(tmp_path / "half")


def test_commands_take_it(tagger, corpora, tmp_path, monkeypatch):
    tagger.save(tmp_path / "m")
    text = "他用Google查https://a.cn/b?c=1，发给bob@x.org。"
    status, out, _ = run_here(
        monkeypatch, "tag", "-m", str(tmp_path / "m"), "--to", "slash", stdin=f"{text}\n".encode()
    )
    assert status == 0
    words = [pair.rpartition("/")[0] for pair in out.split()]
    assert "".join(words) == text
    status, out, _ = run_here(
        monkeypatch, "analyze", "--model", str(tmp_path / "m"), "--to", "slash", stdin=f"{text}\n".encode()
    )
    assert status == 0
    found = dict(pair.rpartition("/")[::2] for pair in out.split())
    assert {"https://a.cn/b?c=1", "bob@x.org"} <= found.keys()
    write(corpora[1], str(tmp_path / "dev.txt"), format="underscore", standard="ctb")
    status, out, _ = run_here(
        monkeypatch, "evaluate", str(tmp_path / "m"), str(tmp_path / "dev.txt"), "--json"
    )
    assert status == 0
    gold = read(tmp_path / "dev.txt", standard="ctb")
    expected = evaluate(duilian.load(tmp_path / "m"), gold).word_tag.f1  # as users get it
    assert json.loads(out)["word_tag"]["f1"] == pytest.approx(expected)
    assert evaluate(tagger, gold).word_tag.f1 == pytest.approx(tagger.best_score_)


def test_without_templates_about_words_it_is_a_plain_tagger(corpora):
    learning = AdaGrad(iterations=2)
    features = DynamicFeatures(word_templates=None, letters="as-is")
    static = DynamicTagger("ctb", features=features, learning=learning).fit(corpora[0])
    features = Features(templates="mixed-static", join_letters=True)
    plain = Tagger("ctb", level="char", features=features, learning=learning).fit(corpora[0])
    assert static.predict(corpora[1]) == plain.predict(corpora[1])


def test_passive_aggressive_learns_too_and_beams_answer(corpora):
    found = DynamicTagger(
        "ctb", learning=PassiveAggressive(iterations=3), search=DynamicSearch(kind_gap=-1.0)
    ).fit(corpora[0], dev=corpora[1])
    assert found.score(corpora[1]) > 0.4
    wide = DynamicTagger("ctb", search=DynamicSearch(beam=3), learning=AdaGrad(iterations=2)).fit(corpora[0])
    assert wide.score(corpora[1]) > 0.4


def test_what_it_cannot_do_it_says(tagger, corpora):
    for question in (lambda: tagger.marginals([("好",)]), lambda: tagger.k_best(("好",), 2)):
        with pytest.raises(ConfigError, match="kind 'dynamic'"):
            question()
    with pytest.raises(StandardError, match="exactly one tag per word"):
        DynamicTagger("ctb").fit([Layer(("好", "人"), ("VA", None))])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"search__beam": 0}, "beam must be at least 1"),
        ({"search__path_gap": "far"}, "path_gap must be a number"),
        ({"learning": Sgd()}, "a model of kind 'dynamic' learns by 'adagrad' or 'pa', got 'sgd'"),
        ({"level": "word"}, "no parameter 'level'"),
        ({"features__letters": "some"}, "letters must be 'as-is' or 'unified' or 'cased', got 'some'"),
        ({"features__min_word_count": 0}, "min_word_count must be at least 1"),
        ({"features__scheme": "BI"}, "does not say where words end"),
    ],
)
def test_wrong_settings_are_refused(corpora, wrong, message):
    with pytest.raises(ConfigError, match=message):
        DynamicTagger("ctb").set_params(**wrong).fit(corpora[0][:5])


def test_parameters_are_the_settings():
    parameters = inspect.signature(DynamicTagger).parameters
    fields = dataclasses.fields(DynamicConfig)
    assert {name: each.default for name, each in parameters.items()} == {
        field.name: field.default for field in fields
    }
    assert len(fields) <= 8
    tagger = DynamicTagger("x").set_params(search__beam=2, features__word_templates="none")
    again = clone(tagger)
    assert again.get_params() == tagger.get_params()
    assert (again.search.beam, again.features.word_templates, again.level) == (2, None, "char")
    assert DynamicConfig().updated(tagger.config.to_dict()) == tagger.config
    assert pickle.loads(pickle.dumps(tagger)).get_params() == tagger.get_params()
    assert pickle.loads(pickle.dumps(tagger)).level == "char"


def test_it_may_know_english(corpora, tmp_path):
    (tmp_path / "c.u8").write_text(
        "跑 跑 [pao3] /to run/\n跑步 跑步 [pao3 bu4] /run/\n北 北 [bei3] /Bei/\n", encoding="utf-8"
    )
    uses = EnglishUses.read(str(tmp_path / "c.u8"))
    assert [uses.use_of(word) for word in ("Run", "bei", "walk", "跑")] == ["nv", "p", "?", "-"]
    assert [case_of(word) for word in ("a", "ab", "Ab", "AB", "aB", "中")] == [
        "letter",
        "lower",
        "Title",
        "UPPER",
        "miXed",
        "-",
    ]
    (tmp_path / "words.txt").write_text("w[0]\nw[-1] w[0]\n", encoding="utf-8")
    features = DynamicFeatures(
        templates="mixed-english",
        word_templates=str(tmp_path / "words.txt"),
        english=str(tmp_path / "c.u8"),
    )
    found = DynamicTagger("ctb", features=features, learning=AdaGrad(iterations=1)).fit(corpora[0][:60])
    found.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert (again.features.word_templates, again.features.english) == ("words.txt", "c.u8")
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()
    assert again.predict(corpora[1]) == found.predict(corpora[1])
    assert str(tmp_path) not in str(again.get_params())
    with pytest.raises(ConfigError, match="need a dictionary"):
        found.set_params(features__english=None).fit(corpora[0][:5])


def test_wrong_templates_are_refused(corpora, tmp_path):
    for text, message in (("t[-1]\nw[0]", "not about words"), ("w[-3]", "more than 2 words back")):
        (tmp_path / "w.txt").write_text(text, encoding="utf-8")
        tagger = DynamicTagger("ctb", features=DynamicFeatures(word_templates=str(tmp_path / "w.txt")))
        with pytest.raises(TemplateError, match=message):
            tagger.fit(corpora[0][:5])


GROUPS = {
    "": {},
    '[features]\nword_templates = "none"\nletters = "as-is"': {
        "features": DynamicFeatures(word_templates=None, letters="as-is")
    },
    "[search]\nbeam = 2\nkind_gap = -1.0": {"search": DynamicSearch(beam=2, kind_gap=-1.0)},
}


@pytest.mark.parametrize(("groups", "settings"), GROUPS.items())
def test_recipes_train_it(tmp_path, groups, settings):
    (tmp_path / "r.toml").write_text(RECIPE.format(groups=groups), encoding="utf-8")
    score = train(Recipe.load(tmp_path / "r.toml", DEMO), Run(output=tmp_path / "m"))
    assert score is not None
    assert score > 30
    found = load(tmp_path / "m")
    assert isinstance(found, DynamicTagger)
    assert found.config == DynamicConfig(standard="ctb", learning=AdaGrad(iterations=1), **settings)


@pytest.mark.parametrize(
    ("table", "old", "hint"),
    [
        ("model", "words", "[features] word_templates"),
        ("model", "letters", "now in [features]"),
        ("model", "beam", "[search] beam"),
        ("search", "margin", "[search] kind_gap"),
        ("search", "hearing", "[search] path_gap"),
    ],
)
def test_old_keys_of_recipes_say_where_they_went(tmp_path, table, old, hint):
    (tmp_path / "r.toml").write_text(RECIPE.format(groups=""), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"has no key '{old}'") as caught:
        Recipe.load(tmp_path / "r.toml", DEMO, [f"{table}.{old}=1"])
    assert hint in caught.value.hint


@pytest.mark.parametrize("rule", [AdaGrad, PassiveAggressive])
def test_a_run_that_was_stopped_ends_with_the_same_bytes(corpora, tmp_path, rule):
    def fit(iterations, resume, threads=1):
        session = Session(threads=threads, checkpoint=tmp_path / "c", resume=resume)
        found = DynamicTagger("ctb", learning=rule(iterations=iterations))
        return found.fit(corpora[0][:60], dev=corpora[1][:10], session=session)

    fit(2, False)
    fit(3, True).save(tmp_path / "resumed")
    fit(3, False, threads=2).save(tmp_path / "whole")
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()

"""Models with a dictionary: every kind learns with one, keeps it in its file, and takes another at load."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duilian as dl
from duilian import AdaGrad, PassiveAggressive, demo
from duilian.errors import ConfigError, ModelFileError
from duilian.features import Dictionary, ListedWord
from duilian.modelfile import read_model, write_model
from duilian.models import CoupledFeatures, DictionarySettings, DynamicFeatures
from duilian.models.multitask.config import MultitaskConfig
from duilian.models.registry import load

CTB, PKU = demo.load("ctb", "ctb"), demo.load("pku", "pku")
NEW = "魑魅魍"  # in no corpus; all of its characters are unknown
TEXT = [f"我们去{NEW}。"]
FEW = AdaGrad(iterations=2)


def word_list(folder: Path, *further: str) -> str:
    """Words of the demo corpora, and further lines."""
    words = sorted({word for sentence in CTB for word in sentence["ctb"].words if len(word) > 1})
    path = folder / "words.txt"
    path.write_text("".join(f"{word} 9 n\n" for word in words) + "".join(further), encoding="utf-8")
    return str(path)


def plain(words: DictionarySettings, threads: int = 1) -> Any:
    return dl.Tagger("ctb", level="char", features=dl.Features(dictionary=words), learning=FEW).fit(
        CTB, dev=CTB[:20], threads=threads
    )


def guided(words: DictionarySettings, threads: int = 1) -> Any:
    tagger = dl.GuidedTagger(
        "ctb",
        level="char",
        source_standard="pku",
        folds=2,
        features=dl.Features(dictionary=words),
        learning=FEW,
    )
    return tagger.fit(CTB, source=PKU, threads=threads)


def dynamic(words: DictionarySettings, threads: int = 1) -> Any:
    return dl.DynamicTagger("ctb", features=DynamicFeatures(dictionary=words), learning=FEW).fit(
        CTB, threads=threads
    )


def two_chain(words: DictionarySettings, threads: int = 1) -> Any:
    learning = PassiveAggressive(iterations=2)
    return dl.TwoChainTagger("ctb", features=dl.Features(dictionary=words), learning=learning).fit(
        CTB, threads=threads
    )


def multitask(words: DictionarySettings, threads: int = 1) -> Any:
    tagger = dl.MultitaskTagger(
        ("ctb", "pku"), features=MultitaskConfig.features.updated({"dictionary": words}), learning=FEW
    )
    return tagger.fit([CTB, PKU], threads=threads)


def coupled(words: DictionarySettings, threads: int = 1, guide: str | None = None) -> Any:
    features = dl.CoupledTagger().features.updated({"guide": guide, "dictionary": words})
    tagger = dl.CoupledTagger(("ctb", "pku"), level="char", features=features, learning=FEW)
    return tagger.set_params(start__baseline_iterations=2).fit([CTB, PKU], threads=threads)


KINDS: dict[str, Callable[..., Any]] = {
    "crf": plain,
    "guided": guided,
    "dynamic": dynamic,
    "two-chain": two_chain,
    "multitask": multitask,
    "coupled": coupled,
    "coupled with a guide": functools.partial(coupled, guide="pku"),
}


def words_of(tagger: Any) -> list[str]:
    side = tagger.of("ctb") if hasattr(tagger, "standards") else tagger
    return list(side.predict_layers([[TEXT[0]]])[0].words)


@pytest.fixture(scope="module", params=KINDS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model of each kind with a dictionary in a file, and how it is trained."""
    folder = tmp_path_factory.mktemp("dictionaries")
    train = KINDS[request.param]
    words = DictionarySettings(file=word_list(folder), hide=0.2, name="demo words", licence="our own")
    tagger = train(words)
    tagger.save(folder / "one.model")
    return tagger, folder / "one.model", functools.partial(train, words)


def test_a_file_keeps_the_dictionary_once(trained: Any) -> None:
    tagger, path, _ = trained
    header, arrays = read_model(path)
    assert len([name for name in arrays if name.endswith("dictionary.symbol")]) == 1
    assert header["dictionary"]["name"] == "demo words"
    assert str(path.parent) not in str(header)
    again = load(path)
    assert words_of(again) == words_of(tagger)
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()


def test_any_number_of_threads_gives_the_same_model(trained: Any) -> None:
    _, path, train = trained
    train(2).save(path.with_suffix(".two"))
    assert path.with_suffix(".two").read_bytes() == path.read_bytes()


def test_words_given_at_load_are_found_without_training(trained: Any) -> None:
    _, path, _ = trained
    assert NEW not in words_of(load(path))
    mine = Dictionary([ListedWord(NEW, 9, "n")], name="mine")
    tagger = load(path).use_dictionary(mine)
    assert NEW in words_of(tagger)
    tagger.save(path.with_suffix(".mine"))
    assert NEW in words_of(load(path.with_suffix(".mine")))
    if "standards" not in vars(tagger):
        tagger.use_dictionary(Dictionary([ListedWord("北京")]), "replace")
        assert NEW not in words_of(tagger)


def test_an_analyser_takes_words_at_load(trained: Any, tmp_path: Path) -> None:
    _, path, _ = trained
    mine = tmp_path / "mine.txt"
    mine.write_text(f"{NEW} 9 n\n", encoding="utf-8")
    for words in (mine, str(mine), Dictionary.read(mine)):
        assert NEW in dl.load(path, dictionary=words)(TEXT[0]).words("ctb")


def test_features_of_a_dictionary_have_weights_by_name(trained: Any) -> None:
    tagger, _, _ = trained
    found = tagger.weights("lx[0]=200")
    assert found
    assert any(found.values())


def test_damaged_dictionaries_are_refused(trained: Any, tmp_path: Path) -> None:
    _, path, _ = trained
    header, arrays = read_model(path)
    name = next(name for name in arrays if name.endswith("dictionary.symbol"))
    wrong = arrays[name].copy()
    wrong[0] = 65535
    write_model(tmp_path / "bad.model", header, arrays | {name: wrong})
    with pytest.raises(ModelFileError, match="the dictionary is damaged"):
        load(tmp_path / "bad.model")


def test_hidden_words_are_hidden_in_training_only(tmp_path: Path) -> None:
    """With every word hidden, weights know no word of the list; the model in use sees them all."""
    words = DictionarySettings(file=word_list(tmp_path), hide=1.0, rare=1_000_000)
    tagger = plain(words)
    assert tagger.weights("lx[0]=200") == {}
    assert tagger.weights("lx[0]=000") != {}
    packer = tagger.predictor_.packer
    assert packer.reading.dictionary.codes("我们")["lx"] == ["200", "002"]


def test_sentences_are_read_blind_in_training_only(tmp_path: Path) -> None:
    tagger = plain(DictionarySettings(file=word_list(tmp_path), blind=1.0))
    assert tagger.weights("lx[0]=?") != {}
    assert tagger.weights("lx[0]=200") == {}
    assert tagger.weights("lx[0]=000") == {}
    assert tagger.predictor_.packer.reading.blind == 0.0


def test_without_a_dictionary_files_say_nothing_of_one(tmp_path: Path) -> None:
    tagger = plain(DictionarySettings())
    header, arrays = tagger.state()
    assert "dictionary" not in header
    assert "dictionary" not in header["config"]["features"]
    assert not [name for name in arrays if "dictionary" in name]
    with pytest.raises(ConfigError, match="was trained without a dictionary"):
        tagger.use_dictionary(Dictionary([ListedWord("北京")]))


def test_traditional_lists_serve_models_that_see_simplified_characters(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("我們 9 n\n我们 3 v\n", encoding="utf-8")
    features = dl.Features(script="simplified")
    words = DictionarySettings(file=str(path), hide=0.0)
    tagger = dl.Tagger(
        "ctb", level="char", features=features.updated({"dictionary": words}), learning=FEW
    ).fit(CTB)
    assert list(tagger.model_.dictionary) == [ListedWord("我们", 9, "n")]


def test_words_need_characters(tmp_path: Path) -> None:
    words = DictionarySettings(file=word_list(tmp_path))
    with pytest.raises(ConfigError, match="a dictionary needs a model that finds words"):
        dl.Tagger("ctb", features=dl.Features(dictionary=words)).fit(CTB)
    with pytest.raises(ConfigError, match="a dictionary needs a model that finds words"):
        dl.CoupledTagger(("ctb", "pku"), features=CoupledFeatures(dictionary=words)).fit([CTB, PKU])


def test_templates_that_ask_need_a_dictionary(tmp_path: Path) -> None:
    templates = tmp_path / "mine.txt"
    templates.write_text("t[-1]\nx[0]\nlx[0]\n", encoding="utf-8")
    features = dl.Features(templates=str(templates))
    with pytest.raises(ConfigError, match="the templates use lx or jg, which need a dictionary"):
        dl.Tagger("ctb", level="char", features=features, learning=FEW).fit(CTB)
    words = DictionarySettings(file=word_list(tmp_path))
    tagger = dl.Tagger(
        "ctb", level="char", features=features.updated({"dictionary": words}), learning=FEW
    ).fit(CTB)
    assert list(tagger.templates_) == ["x[0]", "lx[0]"]


def test_a_lexicon_counts_on_top_of_a_dictionary(tmp_path: Path) -> None:
    tagger = plain(DictionarySettings(file=word_list(tmp_path, f"{NEW} 9 n\n"), hide=0.0))
    assert NEW in words_of(tagger)
    forced = tagger.predict_layers([TEXT], lexicon=dl.Lexicon([NEW[:2], NEW[2:]]))[0].words
    assert NEW[:2] in forced
    assert NEW[2:] in forced

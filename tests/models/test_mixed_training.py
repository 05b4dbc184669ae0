"""Models that learn real tags of alphabetic words: every kind, its file, and the choice of tags."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import duilian as dl
from duilian import AdaGrad, PassiveAggressive, demo
from duilian.corpus import Corpus, Layer, Sentence
from duilian.errors import ConfigError
from duilian.lexicon import Entry
from duilian.modelfile import read_model
from duilian.models import CoupledFeatures, DynamicFeatures, MixingSettings
from duilian.models.multitask.config import MultitaskConfig
from duilian.models.registry import load

FEW = AdaGrad(iterations=2)
ENGLISH = "check 900 env\nupdate 500 evn\nreport 400 en\nnice 300 ea\ngoogle 200 ep\n"
OWN = {
    "ctb": Layer(("他", "喜欢", "T恤", "和", "Python", "。"), ("PN", "VV", "NN", "CC", "FW", "PU")),
    "pku": Layer(("他", "喜欢", "Ｔ恤", "和", "Python", "。"), ("r", "v", "n", "c", "nx", "w")),
}


def corpus(standard: str) -> Corpus:
    """The demo corpus, and sentences with a word of Han and letters, and a foreign one."""
    own = Sentence({standard: OWN[standard]})
    return Corpus([*demo.load(standard, standard), *[own] * 5], standard=standard, source="demo")


CTB, PKU = corpus("ctb"), corpus("pku")


def plain(mixing: MixingSettings, threads: int = 1) -> Any:
    features = dl.Features(mixing=mixing)
    return dl.Tagger("ctb", level="char", features=features, learning=FEW).fit(CTB, threads=threads)


def guided(mixing: MixingSettings, threads: int = 1) -> Any:
    features = dl.Features(mixing=mixing)
    tagger = dl.GuidedTagger("ctb", level="char", source_standard="pku", features=features, learning=FEW)
    return tagger.fit(CTB, source=PKU, threads=threads)


def dynamic(mixing: MixingSettings, threads: int = 1) -> Any:
    features = DynamicFeatures(mixing=mixing)
    return dl.DynamicTagger("ctb", features=features, learning=FEW).fit(CTB, threads=threads)


def two_chain(mixing: MixingSettings, threads: int = 1) -> Any:
    learning = PassiveAggressive(iterations=2)
    return dl.TwoChainTagger("ctb", features=dl.Features(mixing=mixing), learning=learning).fit(
        CTB, threads=threads
    )


def multitask(mixing: MixingSettings, threads: int = 1) -> Any:
    features = MultitaskConfig.features.updated({"mixing": mixing})
    return dl.MultitaskTagger(("ctb", "pku"), features=features, learning=FEW).fit(
        [CTB, PKU], threads=threads
    )


def coupled(mixing: MixingSettings, threads: int = 1, guide: str | None = None) -> Any:
    features = CoupledFeatures(guide=guide, mixing=mixing)
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


@pytest.fixture(scope="module", params=KINDS)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model of each kind in a file, and how it is trained."""
    folder = tmp_path_factory.mktemp("mixing")
    (folder / "english.txt").write_text(ENGLISH, encoding="utf-8")
    mixing = MixingSettings(share=0.4, sentences=0.6, file=str(folder / "english.txt"), licence="ours")
    KINDS[request.param](mixing).save(folder / "one.model")
    return folder / "one.model", functools.partial(KINDS[request.param], mixing)


def tags_of(zh: dl.Analyzer, text: str, standard: str = "ctb") -> dict[str, str]:
    doc = zh(text)
    return dict(zip(doc.words(standard), doc.tags(standard), strict=True))


def test_any_number_of_threads_gives_the_same_model(trained: Any) -> None:
    path, train = trained
    train(2).save(path.with_suffix(".two"))
    assert path.with_suffix(".two").read_bytes() == path.read_bytes()


def test_a_file_keeps_the_settings_and_the_words(trained: Any) -> None:
    path, _ = trained
    header, _ = read_model(path)
    assert header["config"]["features"]["mixing"]["file"] == "english.txt"
    assert header["dictionary"]["licence"] == "ours"
    assert str(path.parent) not in str(header)
    again = load(path)
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()


def test_words_in_letters_have_the_tags_asked_for(trained: Any) -> None:
    path, _ = trained
    zh, text = dl.load(path), "你别check他的report，真nice"
    if load(path).kind == "two-chain":  # takes no constraints
        with pytest.raises(ConfigError, match="has not learned to tag alphabetic words"):
            dl.load(path, english="tags")
        return
    for standard, foreign in zip(zh.standards, ("FW", "nx"), strict=False):
        found = tags_of(zh, text, standard)
        assert {"check", "report", "nice"} <= set(found)
        assert foreign not in [found[word] for word in ("check", "report", "nice")]
        prescribed = tags_of(dl.load(path, english="standard"), text, standard)
        assert [prescribed[word] for word in ("check", "report", "nice")] == [foreign] * 3
        assert len(zh.with_lexicon(None)(text).words(standard)) == len(zh(text).words(standard))


def test_a_tagger_answers_as_gold_annotation_does(trained: Any) -> None:
    path, _ = trained
    tagger = load(path)
    if tagger.kind == "two-chain":
        return
    side = tagger.of("ctb") if hasattr(tagger, "standards") else tagger
    (layer,) = side.predict_layers([["他去Google工作"]])
    assert ("Google", "FW") in zip(layer.words, layer.tags or (), strict=True)


def test_letters_are_not_glued_by_accident(trained: Any) -> None:
    zh = dl.load(trained[0])
    if zh.labeler.kind == "two-chain":
        return
    for frame in ("真{}", "别{}", "太{}", "好{}", "很{}了"):
        for word in ("nice", "Check", "PK", "iPhone", "x"):
            assert all(word in zh(frame.format(word)).words(standard) for standard in zh.standards)
    assert all("T恤" in zh("他喜欢T恤。").words(standard) for standard in zh.standards)


def test_the_users_lexicon_wins() -> None:
    tagger = plain(MixingSettings(share=0.3))
    zh = dl.Analyzer(tagger, lexicon=dl.Lexicon([Entry("真nice", ("NN",)), "check"]))
    assert tags_of(zh, "他真nice")["真nice"] == "NN"
    forced = dl.Analyzer(tagger, lexicon=dl.Lexicon([Entry("check", ("FW",))]))
    assert tags_of(forced, "你别check")["check"] == "FW"


def test_the_choice_is_part_of_an_analyser(tmp_path: Path) -> None:
    plain(MixingSettings(share=0.3)).save(tmp_path / "one.model")
    zh = dl.load(tmp_path / "one.model", english="standard")
    assert zh.english == zh.with_lexicon(None).english == pickle.loads(pickle.dumps(zh)).english == "standard"
    assert tags_of(zh, "他很nice")["nice"] == "FW"
    with pytest.raises(ConfigError, match="english"):
        dl.load(tmp_path / "one.model", english="both")  # type: ignore[arg-type]


def test_other_models_answer_as_before() -> None:
    tagger = dl.Tagger("ctb", level="char", learning=FEW).fit(CTB)
    text = "他很nice，在Google工作"
    assert tags_of(dl.Analyzer(tagger), text) == tags_of(dl.Analyzer(tagger, english="standard"), text)
    with pytest.raises(ConfigError, match="has not learned to tag alphabetic words"):
        dl.Analyzer(tagger, english="tags")


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="share"):
        MixingSettings(share=1.5)
    with pytest.raises(ConfigError, match="needs mixed text"):
        MixingSettings(file="english.txt")
    with pytest.raises(ConfigError, match="finds words"):
        dl.Tagger("ctb", level="word", features=dl.Features(mixing=MixingSettings(share=0.1))).fit(CTB)


def test_copies_keep_tags_and_are_the_same_for_a_seed() -> None:
    mixing = MixingSettings(share=0.5, sentences=1.0)
    layers = [sentence["ctb"] for sentence in CTB]
    found = mixing.copies(layers, "ctb", 1)
    assert found == mixing.copies(layers, "ctb", 1) != mixing.copies(layers, "ctb", 2)
    assert found
    assert all(copy.layer.tags == layers[copy.origin].tags for copy in found)
    assert MixingSettings().copies(layers, "ctb", 1) == []

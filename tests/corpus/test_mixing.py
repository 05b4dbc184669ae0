"""Mixed text made from Chinese: which words become English, how many, and what the dictionary returns."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from duilian.corpus import Corpus, Layer, Sentence, read
from duilian.corpus.english_dictionary import EnglishDictionary
from duilian.corpus.mixing import PRESETS, Mixing, MixReport, mix, part_of_tags, preset
from duilian.errors import ConfigError, CorpusError

DEMO = Path(__file__).parents[2] / "src" / "duilian" / "demo"
CEDICT = """# made for this test
跑 跑 [pao3] /(of an animal) to walk quickly/to run/to escape/
電腦 电脑 [dian4 nao3] /computer/CL:臺|台[tai2]/
北湖 北湖 [Bei3 hu2] /Beihu, a lake/
王 王 [Wang2] /surname Wang/
文 文 [wen2] /language/culture/
玉 玉 [yu4] /jade/
高興 高兴 [gao1 xing4] /happy; glad/to be delighted/
"""


@pytest.fixture
def english(tmp_path: Path) -> EnglishDictionary:
    (tmp_path / "cedict.u8").write_text(CEDICT, encoding="utf-8")
    return EnglishDictionary.read(tmp_path / "cedict.u8")


def sentence(*words: str, standard: str = "ctb") -> Sentence:
    pairs = [word.split("_") for word in words]
    return Sentence({standard: Layer(tuple(w for w, _ in pairs), tuple(t for _, t in pairs))})


def corpus(size: int = 400) -> list[Sentence]:
    return [sentence("他_PN", "买_VV", "电脑_NN", "了_SP", "。_PU")] * size


def test_share_and_tags_are_kept_and_the_rest_stays():
    found = list(mix(corpus(), Mixing(share=0.25, parts=("NN",)), standard="ctb", seed=3))
    words = Counter(each["ctb"].words[2] for each in found)
    assert set(words) == {"ENG", "电脑"}
    assert 70 < words["ENG"] < 130
    assert {each["ctb"].tags for each in found} == {("PN", "VV", "NN", "SP", "PU")}
    assert {each["ctb"].words[1] for each in found} == {"买"}


def test_the_seed_decides():
    draw = lambda seed: [s["ctb"].words for s in mix(corpus(), preset("A"), standard="ctb", seed=seed)]  # noqa: E731
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_respective_and_unified_replace_the_same_words(english):
    given = [sentence("高兴_VA", "地_DEV", "跑_VV", "的_DEC", "电脑_NN", "桌子_NN")] * 100
    mixed = {
        how: [
            s["ctb"].words
            for s in mix(given, Mixing(share=0.5, replacement=how), standard="ctb", seed=1, english=english)
        ]
        for how in ("unified", "respective")
    }
    to_unified = {"happy": "ENG", "run": "ENG", "computer": "ENG"}
    assert [tuple(to_unified.get(w, w) for w in words) for words in mixed["respective"]] == mixed["unified"]
    seen = {w for words in mixed["respective"] for w in words}
    assert {"happy", "run", "computer"} <= seen
    assert not any("ENG" in words[5] for words in mixed["unified"]), "the dictionary does not have 桌子"


def test_english_suits_the_part_of_speech(english):
    assert english.translate("跑", "VV") == "run"
    assert english.translate("跑", "NN") is None
    assert english.translate("电脑", "NN") == "computer"
    assert english.translate("北湖", "NR") == "Beihu"
    assert english.translate("王", "NR") == "Wang"
    assert english.translate("文玉", "NR") == "Wenyu", "a name without entry is spelled"
    assert english.translate("桌子", "NN") is None
    assert english.translate("高兴", "VA") == "happy"
    assert len(english) == 7


def test_dictionaries_may_be_packed_and_wrong_ones_are_told(tmp_path):
    (tmp_path / "c.gz").write_bytes(gzip.compress(CEDICT.encode()))
    assert len(EnglishDictionary.read(tmp_path / "c.gz")) == 7
    (tmp_path / "bad.u8").write_text("跑 /to run/\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"bad\.u8:1: expected"):
        EnglishDictionary.read(tmp_path / "bad.u8")
    with pytest.raises(ConfigError, match="no such file"):
        EnglishDictionary.read(tmp_path / "none.u8")
    (tmp_path / "half.gz").write_bytes(gzip.compress(CEDICT.encode())[:40])
    with pytest.raises(ConfigError, match="cannot be read"):
        EnglishDictionary.read(tmp_path / "half.gz")


def test_english_words_side_by_side_have_a_blank_between():
    (found,) = mix([sentence("买_VV", "电脑_NN", "。_PU")], Mixing(share=1.0), standard="ctb")
    assert found["ctb"].words == ("ENG", "ENG", "。")
    assert found.text == "ENG ENG。"


def test_foreign_words_become_nouns_unless_kept():
    given = [sentence("用_v", "ＶＣＤ_nx", standard="pku")]
    report = MixReport()
    (found,) = mix(given, Mixing(share=0.0), standard="pku", report=report)
    assert found["pku"].tags == ("v", "n")
    assert (report.retagged, report.words, report.replaced.total()) == (1, 2, 0)
    (kept,) = mix(given, Mixing(share=0.0), standard="pku", keep_foreign=True)
    assert kept["pku"].tags == ("v", "nx")


def test_presets_are_those_of_the_paper():
    assert list(PRESETS) == ["H1", "H2", "A", "B", "C", "D1", "D2", "E"]
    assert PRESETS["H1"].replacement == "respective"
    assert {PRESETS[name].share for name in ("H1", "H2")} == {0.05}
    assert PRESETS["D2"].share == pytest.approx(1.5 * PRESETS["D1"].share)
    assert part_of_tags("pku", PRESETS["E"].parts)["nt"] == "NR"
    assert part_of_tags("mine", ("n",)) == {"n": "n"}
    with pytest.raises(ConfigError, match="there is no preset 'F'"):
        preset("F")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"share": 1.5}, "share must be between 0 and 1"),
        ({"share": 0.1, "parts": ()}, "at least one part of speech"),
        ({"share": 0.1, "replacement": "both"}, "replacement must be"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Mixing(**wrong)


def test_what_cannot_be_mixed_is_refused():
    with pytest.raises(ConfigError, match="needs a dictionary"):
        list(mix(corpus(1), preset("H1"), standard="ctb"))
    with pytest.raises(ConfigError, match="without tags"):
        list(mix([Sentence({"ctb": Layer(("他",))})], preset("A"), standard="ctb"))


def test_the_demonstration_corpus_mixes_in_every_preset(english):
    given: Corpus = read(str(DEMO / "pku.txt"), standard="pku")
    for name in PRESETS:
        report = MixReport()
        found = list(mix(given, preset(name), standard="pku", english=english, report=report))
        assert len(found) == len(given)
        assert report.words == sum(len(each["pku"]) for each in given)

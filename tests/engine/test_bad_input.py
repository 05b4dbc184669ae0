"""Bad input to an analyser gives a clear error or the same text, never a crash.

`DUILIAN_SLOW=1 pytest` tries 100,000 random strings and a million characters instead of a few.
"""

from __future__ import annotations

import dataclasses
import os
import random
import time
from pathlib import Path

import pytest

from analysed import NASTY, check
from cli.running import Call, in_demo_folder
from duilian import demo, modelfile
from duilian.engine import Analyzer, load
from duilian.errors import ConfigError, DuilianError, ModelFileError, TextError
from duilian.learning import AdaGrad, Perceptron
from duilian.models import Parser, Suite, Tagger
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch

IS_SLOW = bool(os.environ.get("DUILIAN_SLOW"))
STRINGS = 100_000 if IS_SLOW else 2_000
CHARACTERS = 1_000_000 if IS_SLOW else 40_000


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small analyser with a parser, in its own folder."""
    corpus = demo.load("pku", "pku")
    layers = [sentence["pku"] for sentence in corpus][:30]
    chains = [dataclasses.replace(each, heads=tuple(range(len(each)))) for each in layers]
    parser = Parser(
        "pku",
        order=1,
        trees=TreeSearch(bits=12),
        relations=RelationSearch(bits=8),
        pruning=ArcPruning(bits=8),
        learning=Perceptron(iterations=1),
    ).fit(chains)
    folder = tmp_path_factory.mktemp("models")
    Suite(Tagger("pku", level="char", learning=AdaGrad(iterations=2)).fit(corpus), parser).save(
        folder / "zh.model"
    )
    return folder


@pytest.fixture(scope="module")
def zh(models: Path) -> Analyzer:
    return load(models / "zh.model")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    call = in_demo_folder(monkeypatch, tmp_path, models, {})
    monkeypatch.setattr("duilian.engine.loading.BUNDLED", Path("zh.model"))
    return call


def random_string(rng: random.Random) -> str:
    """Draw characters from all of Unicode, from its tricky parts, and from Chinese."""

    def character() -> str:
        kind = rng.randrange(4)
        if kind == 0:
            code = rng.randrange(0x110000 - 0x800)
            return chr(code if code < 0xD800 else code + 0x800)
        if kind == 1:
            return rng.choice(NASTY)
        return chr(rng.randrange(0x20, 0x7F) if kind == 2 else rng.randrange(0x4E00, 0x5000))

    return "".join(character() for _ in range(rng.randrange(40)))


def test_random_strings_come_back_whole(zh: Analyzer) -> None:
    rng = random.Random(8)
    given = [random_string(rng) for _ in range(STRINGS)]
    for text, doc in zip(given, zh.pipe(given, threads=2), strict=True):
        assert doc.text == text
        check(doc)


@pytest.mark.parametrize("part", ["我们明天去北京图书馆看书很大，", "a", "#你"])
def test_a_text_without_a_full_stop_takes_linear_time(zh: Analyzer, part: str) -> None:
    def seconds(characters: int) -> float:
        text = part * (characters // len(part))
        start = time.process_time()
        doc = zh(text)
        spent = time.process_time() - start
        assert "".join(doc.words()) == text
        sizes = [len("".join(token.text for token in each)) for each in doc.sentences()]
        assert max(sizes) <= 2000  # the memory of a sentence is limited
        assert doc.heads.count(0) == len(sizes)
        return spent

    small, large = (min(seconds(n) for _ in range(2)) for n in (CHARACTERS // 4, CHARACTERS))
    assert large < 12 * small  # quadratic: 16


def test_surrogates_are_refused_with_their_place(zh: Analyzer) -> None:
    with pytest.raises(TextError, match="the character at offset 2 of the text is a lone surrogate"):
        zh("我们\ud800去")
    given = ["我们\ud800去", "北京", "\ud83d\ude00"]
    assert zh(given[0], errors="replace").text == "我们\ufffd去"
    assert [doc.text for doc in zh.pipe(given, errors="replace")] == ["我们\ufffd去", "北京", "\ufffd\ufffd"]
    assert ["".join(words) for words in zh.segment(given, errors="replace")] == [
        "我们\ufffd去",
        "北京",
        "\ufffd\ufffd",
    ]


def test_what_is_no_text_at_all(zh: Analyzer) -> None:
    for wrong in (None, "北京".encode(), 7, Path("x")):
        for ask in (zh, lambda text: zh.nbest(text, 2), lambda text: list(zh.pipe([text]))):
            with pytest.raises(DuilianError, match="text must be a str"):
                ask(wrong)  # type: ignore[arg-type, operator]
    with pytest.raises(ConfigError, match="errors must be 'strict' or 'replace', got 'ignore'"):
        list(zh.pipe(["北京"], errors="ignore"))  # type: ignore[arg-type]
    for many in (zh.pipe, zh.segment):
        with pytest.raises(TextError, match="expected a list of texts, got a single string"):
            list(many("北京"))


def test_bytes_that_are_no_text(call: Call) -> None:
    bad = "北京\n我们".encode() + b"\xff\xfe" + "去。".encode()
    status, out, err = call("analyze", stdin=bad)
    assert (status, out) == (1, "")
    assert "<stdin>:2: byte 0xff at column 7 (offset 13 of the input) is not utf-8 text" in err
    Path("bad.txt").write_bytes(bad)
    assert "bad.txt:2: byte 0xff at column 7 (offset 13 of the input)" in call("analyze", "bad.txt")[2]
    for arguments in (("bad.txt",), ()):
        status, out, err = call("analyze", "--errors", "replace", "--to", "json", *arguments, stdin=bad)
        assert (status, err) == (0, "")
        assert "我们\ufffd\ufffd去。" in out
    assert call("analyze", "--errors", "ignore", "北京")[0] == 2
    assert "--errors replace" in call("analyze", stdin=b"\xff")[2]
    status, _, err = call("analyze", "\udcff北京")  # a byte 0xff on the command line
    assert status == 1
    assert "byte 0xff at offset 0 of an argument" in err
    assert "\ufffd北京" in call("analyze", "--errors", "replace", "--to", "json", "\udcff北京")[1]


def test_nul_controls_and_nothing(call: Call, zh: Analyzer) -> None:
    status, _, err = call("analyze", stdin="北\0京".encode())
    assert status == 1
    assert "<stdin>:1: a NUL byte" in err
    assert call("analyze", "--errors", "replace", stdin="北\0京".encode())[0] == 0
    assert call("analyze", stdin=b"") == (0, "", "")
    assert call("analyze", stdin=b"\n\n")[0] == 0
    for text in ("北\0京", "\x01\x02", "\x1b[31m红\x1b[0m", "\u202e北京", ""):
        check(zh(text))


def test_a_lexicon_with_a_bad_line_is_named(call: Call) -> None:
    Path("lexicon.txt").write_text("云计算\n大 数据\n", encoding="utf-8")
    status, _, err = call("analyze", "--lexicon", "lexicon.txt", "北京")
    assert status == 1
    assert "lexicon.txt:2:" in err
    Path("lexicon.txt").write_text("云计算\n大数据\tZZ\n", encoding="utf-8")
    status, _, err = call("analyze", "--lexicon", "lexicon.txt", "北京")
    assert status == 1
    assert "lexicon.txt:2: the lexicon's word '大数据' has the tag 'ZZ', which the model does not know" in err
    assert call("analyze", "--explain", "北京")[0] == 2


def test_models_that_are_missing_newer_or_cut_off(call: Call, models: Path) -> None:
    content = (models / "zh.model").read_bytes()
    newer = bytearray(content)
    newer[len(modelfile.MAGIC)] = modelfile.VERSION + 1
    Path("newer.model").write_bytes(newer)
    Path("short.model").write_bytes(content[:-100])
    for name, said in [
        ("newer.model", "made by a newer Duilian"),
        ("short.model", "truncated"),
        ("no.model", "give a model from `duilian train`, or `bundled`"),
    ]:
        status, _, err = call("analyze", "--model", name, "北京")
        assert status == 1
        assert said in err
    with pytest.raises(ModelFileError, match="newer"):
        load("newer.model")


def test_every_flipped_bit_is_noticed(models: Path, tmp_path: Path) -> None:
    content, rng = (models / "zh.model").read_bytes(), random.Random(3)
    for _ in range(30):
        damaged = bytearray(content)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        (tmp_path / "bad.model").write_bytes(damaged)
        with pytest.raises(ModelFileError):
            load(tmp_path / "bad.model")

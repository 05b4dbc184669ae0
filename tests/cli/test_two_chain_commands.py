"""Two-chain models on the command line: training, three modes, a second corpus, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Call, in_demo_folder, run_here

RECIPE = """
[model]
kind = "two-chain"

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[learning]
iterations = 3
"""
CHUNKS = (
    "He PRP B-NP\nsees VBZ B-VP\nold JJ B-NP\nships NNS I-NP\n. . O\n\n"
    "Ships NNS B-NP\nsail VBP B-VP\n. . O\n\n"
)
CHUNK_RECIPE = """
[model]
kind = "two-chain"
level = "word"

[[side]]
standard = "chunk"
format = "columns"
train = "chunks.txt"

[learning]
iterations = 8
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    work = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        (work / "none").mkdir()
        call = in_demo_folder(patch, work, work / "none", {"two.toml": RECIPE, "chunk.toml": CHUNK_RECIPE})
        (work / "chunks.txt").write_text(CHUNKS, encoding="utf-8")
        for name in ("two", "chunk"):
            status, _, err = call("train", f"{name}.toml", "-o", str(folder / f"{name}.model"))
            assert status == 0, err
    return folder


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    (tmp_path / "chunks.txt").write_text(CHUNKS, encoding="utf-8")
    (tmp_path / "two.words").write_text("京去北\n", encoding="utf-8")
    return in_demo_folder(monkeypatch, tmp_path, models, {"two.toml": RECIPE})


def test_three_uses_of_one_model(call: Call) -> None:
    text = "我们去北京。\n\n他 买了iPhone。\n".encode()
    status, tagged, _ = call("tag", "-m", "two.model", stdin=text)
    assert status == 0
    assert tagged.splitlines()[0] == "我们_PN 去_VV 北京_NR 。_PU"
    status, segmented, _ = call("segment", "-m", "two.model", stdin=text)
    assert status == 0
    assert segmented.splitlines()[0] == "我们  去  北京  。"
    assert "".join(segmented.split()) == "".join(text.decode().split())
    status, given, _ = call(
        "tag", "-m", "two.model", "--mode", "tag", "--to", "slash", stdin="我 们 去 北京 。\n".encode()
    )
    assert status == 0
    assert [word.partition("/")[0] for word in given.split()] == ["我", "们", "去", "北京", "。"]


def test_evaluate_has_three_modes(call: Call) -> None:
    found = {}
    for mode in ("joint", "segment", "tag"):
        status, out, _ = call("evaluate", "two.model", "ctb-dev.txt", "--mode", mode, "--json")
        assert status == 0
        found[mode] = json.loads(out)
    assert "word_tag" in found["joint"]
    assert "word_tag" not in found["segment"]
    assert found["tag"]["word"]["f1"] == 100.0
    assert found["tag"]["accuracy"] > found["joint"]["word_tag"]["f1"]


def test_chunks_in_three_modes(call: Call) -> None:
    found = {}
    for mode in ("joint", "segment", "tag"):
        status, out, err = call("evaluate", "chunk.model", "chunks.txt", "--mode", mode, "--json")
        assert status == 0, err
        found[mode] = json.loads(out)
    assert found["joint"]["chunk"]["f1"] == found["tag"]["chunk"]["f1"] == 100.0
    assert found["segment"]["word"]["f1"] == 100.0
    assert found["segment"]["tokens"] == 7  # a word outside of chunks is a segment too
    status, out, _ = call("tag", "-m", "chunk.model", "chunks.txt", "--format", "columns", "--to", "columns")
    assert (status, out) == (0, CHUNKS)
    status, out, _ = call(
        "tag", "-m", "chunk.model", "chunks.txt", "--format", "columns", "--mode", "segment"
    )
    assert (status, out.splitlines()[0]) == (0, "He_B sees_B old_B ships_I ._B")


def test_a_second_side_gives_boundaries(call: Call, tmp_path: Path) -> None:
    more = RECIPE.replace("[learning]", '[[side]]\nstandard = "pku"\ntrain = "pku.txt"\n\n[learning]')
    (tmp_path / "more.toml").write_text(more, encoding="utf-8")
    status, _, err = call("train", "more.toml", "-o", "more.model")
    assert status == 0, err
    assert call("evaluate", "more.model", "ctb-dev.txt", "--json")[0] == 0
    status, out, _ = call("inspect", "more.model", "--json")
    assert json.loads(out)["kind"] == "two-chain"
    (tmp_path / "bad.toml").write_text(more.replace('"pku.txt"', '"pku.txt"\nsample = 5'), encoding="utf-8")
    status, _, err = call("train", "bad.toml", "-o", "bad.model")
    assert status == 1
    assert "sample does not apply to kind two-chain with two corpora" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ("tag", "-m", "two.model", "--mode", "segment"),
            1,
            "only segments text\n  hint: use duilian segment",
        ),
        (("tag", "-m", "two.model", "--mode", "both"), 2, "'both' is not one of joint, segment, tag"),
        (("segment", "-m", "chunk.model"), 1, "'two-chain' reads words and does not segment text"),
        (
            ("tag", "-m", "two.model", "--mode", "tag", "--nbest", "2"),
            1,
            "cannot give n-best lists\n  hint: use mode 'joint'",
        ),
        (
            ("train", "two.toml", "-o", "x.model", "--set", "learning.algorithm=sgd"),
            1,
            "learns by 'pa', got 'sgd'",
        ),
        (
            ("train", "two.toml", "-o", "x.model", "--set", "learning.batch=5"),
            1,
            "batch does not apply to kind",
        ),
        (
            ("train", "two.toml", "-o", "x.model", "--set", "learning.l2=0.1"),
            1,
            "[learning] has no key 'l2'",
        ),
        (
            ("train", "two.toml", "-o", "x.model", "--set", "learning.rate=0.1"),
            1,
            "its largest step is [learning] aggressiveness",
        ),
        (
            ("train", "two.toml", "-o", "x.model", "--set", "features.scheme=IE"),
            1,
            "cannot use the scheme 'IE'",
        ),
        (("train", "two.toml", "-o", "x.model", "--set", "side.train=pku-none.txt"), 1, "there is no file"),
        (("analyze", "-m", "two.model", "--lexicon", "two.words"), 1, "'two-chain' cannot take a lexicon"),
    ],
)
def test_what_cannot_be_done_says_so(
    call: Call, arguments: tuple[str, ...], status: int, message: str
) -> None:
    found, _, err = call(*arguments, stdin="我们 去\n".encode())
    assert (found, message in " ".join(err.split("│"))) == (status, True), err


def test_words_without_boundaries_are_refused_in_mode_tag(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare.txt").write_text("He PRP _\nsees VBZ _\n\n", encoding="utf-8")
    status, _, err = run_here(
        monkeypatch, "tag", "-m", "chunk.model", "bare.txt", "--format", "columns", "--mode", "tag"
    )
    assert status == 1
    assert "sentence 1 has no boundaries" in err

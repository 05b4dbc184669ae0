"""`duilian convert` with a guided model, and with kinds that cannot convert."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import demo
from duilian.learning import AdaGrad
from duilian.models import DynamicTagger, GuidedTagger, load

QUICK = AdaGrad(iterations=2)
TO_CTB = ("--from", "pku", "--to", "ctb")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    ctb, pku = (demo.load(name, name) for name in demo.STANDARDS)
    for level in ("word", "char"):
        tagger = GuidedTagger("ctb", source_standard="pku", level=level, learning=QUICK)
        tagger.fit(ctb[:150], source=pku[:150]).save(folder / level, notes={"reading": {"column": "upos"}})
    segmenter = GuidedTagger("ctb", source_standard="pku", level="char", segment_only=True, learning=QUICK)
    segmenter.fit(ctb[:60], source=pku[:60]).save(folder / "segmenter")
    DynamicTagger("ctb", learning=QUICK).fit(ctb[:20]).save(folder / "dynamic")
    return folder


@pytest.fixture
def duilian(monkeypatch, tmp_path, models) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {})


@pytest.mark.parametrize("level", ["word", "char"])
def test_a_guided_model_converts(duilian, tmp_path, level):
    status, out, err = duilian(
        "convert", level, "both-pku.txt", *TO_CTB, "--unknown-tags", "--to-format", "slash"
    )
    assert status == 0
    assert "tags that the model has never seen" in err or err == ""
    given = [sentence["pku"] for sentence in demo.load("both-pku", "pku")]
    expected = load(tmp_path / level).convert(given, "pku", "ctb", unknown_tags=True)
    lines = ["  ".join(f"{w}/{t}" for w, t in zip(each.words, each.tags, strict=True)) for each in expected]
    assert out.splitlines() == lines


def test_reviews_and_columns(duilian, tmp_path):
    line = "我们/r  去/v  北京/ns  。/w\n".encode()
    options = ("--review", "50%", "--review-to", "r.txt", "--to-format", "conllu", "--confidence")
    status, out, _ = duilian("convert", "word", *TO_CTB, *options, stdin=line)
    assert status == 0
    assert [row.split("\t")[3] for row in out.splitlines() if "\t" in row] == ["PN", "VV", "NR", "PU"]
    assert (tmp_path / "r.txt").exists()


def test_words_alone(duilian):
    line = "我们/r  去/v  北京/ns  。/w\n".encode()
    status, out, _ = duilian("convert", "segmenter", *TO_CTB, "--to-format", "segmented", stdin=line)
    assert (status, out.replace(" ", "")) == (0, "我们去北京。\n")
    review = ("--review", "5%", "--review-to", "r")
    status, _, err = duilian("convert", "segmenter", *TO_CTB, *review, stdin=line)
    assert (status, "there are no tags to review" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("convert", "word", "ctb.txt", "--from", "ctb", "--to", "pku"), "converts from 'pku' to 'ctb' only"),
        (("convert", "dynamic", "pku.txt", *TO_CTB), "a model of kind 'dynamic' cannot convert annotation"),
        (("inspect", "word", "pku.txt"), "word: a model of kind 'guided' learns no mapping"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(duilian, arguments, message):
    status, out, err = duilian(*arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert "hint: " in err

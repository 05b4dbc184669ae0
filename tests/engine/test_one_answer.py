"""One question, one answer: every way through the engine gives the same words and tags."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest

import duilian
from cli.running import run_here
from duilian.engine import Analyzer, long_texts
from duilian.engine import analyzer as engine
from duilian.models.registry import estimator_of
from duilian.models.roles import Ability, Ask
from golden.golden_models import lay_out, train_small
from golden.lines import lines

KINDS = ("crf-char", "guided-char", "coupled-char", "two-chain", "multitask", "dynamic", "analyzer")
KINDS += ("analyzer-joint",)  # whose parser chooses tags
Pairs = list[tuple[str, str]]


def pairs(doc: duilian.Doc, standard: str) -> Pairs:
    return list(zip(doc.words(standard), doc.tags(standard), strict=True))


def said(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    status, out, err = run_here(monkeypatch, *arguments)
    assert status == 0, err
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("models")
    lay_out(found)
    return found


def check_roads(
    zh: Analyzer,
    standard: str,
    texts: list[str],
    model: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compare all ways to ask; lines given to commands contain no line breaks of any kind."""
    expected = [pairs(doc, standard) for doc in zh.pipe(texts)]
    words = [[word for word, _ in each] for each in expected]
    for ask, threads, batch in (
        (Ask((standard,), trees=False), 2, 1),
        (Ask((standard.upper(),)), 1, 700),
        (Ask(confidence=Ability.MARGINALS in zh.labeler.abilities), 2, None),
    ):
        docs = zh.pipe(texts, ask=ask, threads=threads, batch=batch)
        assert [pairs(doc, standard) for doc in docs] == expected
    assert list(zh.segment(texts, standard, threads=2, batch=300)) == words
    assert [pairs(zh(text), standard) for text in texts[::10]] == expected[::10]
    backwards = list(zh.pipe(reversed(texts), ask=Ask((standard,), trees=False)))
    assert [pairs(doc, standard) for doc in reversed(backwards)] == expected
    if Ability.NBEST in zh.labeler.abilities:
        first = [zh.nbest(text, 2, standard)[:1] for text in texts]
        assert [pairs(doc, standard) for each in first for doc in each] == expected
    (folder / "lines.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    options = ("-m", model, "--standard", standard.upper(), str(folder / "lines.txt"))
    out = said(monkeypatch, "analyze", *options, "--to", "json", "--no-trees")
    layers = [json.loads(line)["standards"][standard] for line in out.splitlines()]
    assert [list(zip(each["words"], each["tags"], strict=True)) for each in layers] == expected
    out = said(monkeypatch, "analyze", *options, "--to", "words")
    assert out.split("\n")[:-1] == [" ".join(each) for each in words]
    out = said(monkeypatch, "tag", *options, "--to", "jsonl", "--threads", "2")
    layers = [json.loads(line)["layers"][standard] for line in out.splitlines()]
    tags = [each["tags"] for each in layers]
    assert tags == [[tag for _, tag in each] for each in expected if each]
    assert [visible(each["words"]) for each in layers] == [visible(each) for each in words if each]
    out = said(monkeypatch, "segment", *options)
    for line, text, each in zip(out.split("\n"), texts, words, strict=False):
        assert "".join(line.split()) == "".join(text.split()), "no character is lost"
        assert visible(line.split()) == visible(each)


def visible(words: list[str]) -> list[str]:
    """Words without the invisible characters that lines of text keep."""
    return ["".join(units) for word in words if (units := duilian.text.cut(word, duilian.text.units(word)))]


@pytest.mark.parametrize("standard", ["pku", "ud"])
def test_the_bundled_model(standard: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [line for line in lines() if line.splitlines() == [line]]
    assert len(texts) > 1900
    check_roads(duilian.load(), standard, texts, "", tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = train_small(kind, folder)
    texts = [line for line in lines()[:200] if line.splitlines() == [line]]
    zh = duilian.load(model)
    assert zh.labeler.abilities == estimator_of(zh.model.kind).abilities
    for standard in zh.standards:
        check_roads(zh, standard, texts, str(model), folder, monkeypatch)
        check_constraints(zh, standard)


def check_constraints(zh: Analyzer, standard: str) -> None:
    """A lexicon and given annotation are obeyed, or refused with a hint."""
    given = [duilian.Sentence({standard: duilian.Layer(("天去", "北", "京。"))})]
    if Ability.CONSTRAINTS not in zh.labeler.abilities:
        with pytest.raises(duilian.DuilianError, match=f"{zh.labeler.kind!r} cannot take a lexicon"):
            zh.with_lexicon(duilian.Lexicon(["天去"]))
        with pytest.raises(duilian.DuilianError, match=f"{zh.labeler.kind!r} cannot take"):
            list(zh.fill(given, standard))
        return
    own = zh.with_lexicon(duilian.Lexicon(["天去"]))
    assert "天去" in own("我们明天去北京。").words(standard)
    (filled,) = zh.fill(given, standard)
    assert filled.words(standard) == ["天去", "北", "京。"]
    assert len(filled.tags(standard)) == 3


def test_a_long_text_in_pieces_is_the_same_text(plain: Analyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    texts = [rng.choice(["\n", "", " "]).join(rng.sample(lines(), size)) for size in (600, 1000, 1800)]
    whole = [plain(text, marginals=True) for text in texts]
    for limit in (1000, 2500):
        monkeypatch.setattr(engine, "BATCH_CHARACTERS", limit)
        for text, doc in zip(texts, whole, strict=True):
            assert len(text) > 2 * (limit + long_texts.MARGIN)
            pieces = plain(text, marginals=True)
            assert pieces.tokens() == doc.tokens()
            assert pieces.layer().sentence.tolist() == doc.layer().sentence.tolist()
    blank = " " * 20_000
    assert plain(blank).words() == []
    assert plain(blank + "我们。" + blank).tags() == plain("我们。").tags()


def test_what_was_not_asked_for_does_not_run(parsed: Analyzer, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    assert parsed.parser is not None
    monkeypatch.setattr(type(parsed.parser), "annotate", lambda *_: ran.append("trees"))
    for ask in (Ask(trees=False), Ask(tags=False, trees=False)):
        doc = parsed("我们去北京。", ask=ask)
        assert doc.tree_standard is None
    list(parsed.segment(["我们去北京。"]))
    parsed.nbest("我们去北京。", 2)
    assert ran == []


def test_only_the_standards_asked_for_are_there(coupled: Analyzer) -> None:
    for names in itertools.permutations(coupled.standards, 1):
        assert coupled("我们去北京。", ask=Ask(names)).standards == names

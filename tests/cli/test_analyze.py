"""`duilian analyze`: text or files in, one of six forms out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.running import Call, in_demo_folder
from duilian import demo
from duilian.cli import analyze
from duilian.models import Tagger


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    Tagger("pku", level="char", iterations=3).fit(demo.load("pku", "pku")).save(folder / "char.model")
    Tagger("ctb", iterations=1).fit(demo.load("ctb", "ctb")).save(folder / "words.model")
    return folder


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {})


def test_text_files_and_pipes_are_the_same(call: Call) -> None:
    text = "我们明天去北京。"
    Path("a.txt").write_text(text + "\n", encoding="utf-8")
    given = [
        call("analyze", "--model", "char.model", text),
        call("analyze", "--model", "char.model", "a.txt"),
        call("analyze", "--model", "char.model", stdin=text.encode()),
    ]
    _, out, _ = given[0]
    assert given == [(0, out, ""), (0, f"# newdoc id = a.txt\n{out}", ""), (0, out, "")]
    assert out.startswith("# newpar id = 1\n# sent_id = 1\n# text = 我们明天去北京。\n1\t")


@pytest.mark.parametrize("form", analyze.VIEWS)
def test_every_form_has_every_word(call: Call, form: str) -> None:
    status, out, _ = call("analyze", "--model", "char.model", "--to", form, "北京很大。")
    assert status == 0
    assert "\x1b" not in out  # no colours in a pipe
    assert "北京" in out


@pytest.mark.parametrize("text", ["北京很大。\n\n我们去图书馆。\n", "\ufeff北京很大。\r\n我们去图书馆。\r\n"])
def test_brat_counts_as_the_file_does(call: Call, text: str) -> None:
    Path("b.txt").write_bytes(text.encode())
    command = ("analyze", "--model", "char.model", "--to", "brat")
    status, out, _ = call(*command, "b.txt")
    assert (status, out) == call(*command, stdin=text.encode())[:2]
    for number, line in enumerate(out.splitlines(), start=1):
        name, place, word = line.split("\t")
        assert name == f"T{number}"
        _, start, end = place.split()
        assert text[int(start) : int(end)] == word
    assert "北京" in out.splitlines()[0].split("\t")
    assert call(*command, "b.txt", "b.txt")[0] == 2, "an .ann file belongs to one text"
    Path("b.txt").write_bytes(text.encode() + b"\xff")
    assert "b.txt:" in call(*command, "b.txt")[2]


def test_a_standard_that_is_named_is_the_one_shown(call: Call) -> None:
    command = ("analyze", "--to", "json", "--standard", "pku")
    assert list(json.loads(call(*command, "北京")[1])["standards"]) == ["pku"]
    empty = json.loads(call("analyze", "--to", "json", "")[1])["standards"]
    beside = json.loads(call("analyze", "--to", "json", stdin="好\n\n".encode())[1].splitlines()[1])
    assert empty == beside["standards"], "a text without words looks the same in any company"


def test_without_colours_nothing_is_dim(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyze, "_is_terminal", lambda output: output == "-")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    command = ("analyze", "--model", "char.model", "--to", "pretty", "北京")
    assert "\x1b[1m北京" in call(*command)[1]
    call(*command, "-o", "file.txt")
    assert "\x1b" not in Path("file.txt").read_text("utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in call(*command)[1]


def test_the_best_analyses_are_ranked(call: Call) -> None:
    command = ("analyze", "--model", "char.model", "--standard", "pku", "--to", "slash")
    text = "我们明天去北京。\n\n图书馆\n".encode()
    status, out, _ = call(*command, "--nbest", "3", stdin=text)
    assert status == 0
    first, empty, last = out.split("\n\n")[0], out.splitlines().index(""), out.rstrip("\n").split("\n\n")[-1]
    assert empty > 0  # an empty line has no analysis
    for found in (first, last):
        ranks, chances, answers = zip(*(line.split("\t") for line in found.splitlines()), strict=True)
        assert list(ranks) == [str(k + 1) for k in range(len(ranks))]
        assert sorted(map(float, chances), reverse=True) == list(map(float, chances))
        assert len(set(answers)) == len(answers) > 1
    assert call(*command, stdin=text)[1].splitlines()[0] == first.splitlines()[0].split("\t")[2]


def test_ranks_need_lines(call: Call) -> None:
    assert call("analyze", "--model", "char.model", "--nbest", "2", "--to", "json", "北京")[0] == 2
    assert call("analyze", "--model", "char.model", "--nbest", "0", "北京")[0] == 2


def test_mistakes_are_named(call: Call) -> None:
    assert "there is no file 'no.txt'" in call("analyze", "--model", "char.model", "no.txt")[2]
    status, _, err = call("analyze", "--model", "no.model", "北京")
    assert status == 1
    assert "no.model: there is no such file" in err
    assert "nothing for the bundled one" in err
    assert "character-level" in call("analyze", "--model", "words.model", "北京")[2]
    assert "no standard 'ud'" in call("analyze", "--model", "char.model", "--standard", "ud", "北京")[2]
    assert call("analyze", "--model", "char.model", "--to", "xml", "北京")[0] == 2
    status, _, err = call("analyze", "--model", "char.model", stdin="北京".encode("gbk"))
    assert status == 1
    assert "utf-8" in err.lower()


def test_a_corpus_has_its_gaps_filled(call: Call) -> None:
    rows = ["1\t北京图书馆\t_\t_\t_\t_\t_\t_\t_\t_", "2\t大\t_\tv\t_\t_\t_\t_\t_\t_"]
    Path("a.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    status, out, err = call(
        "analyze", "--model", "char.model", "--format", "conllu", "--to", "slash", "a.conllu"
    )
    assert (status, err) == (0, "")
    words = [word.rsplit("/", 1) for word in out.split()]
    assert [word for word, _ in words] == ["北京图书馆", "大"]
    assert words[1][1] == "v"

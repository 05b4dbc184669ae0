"""`duilian analyze`: text or files in, any output form out."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path

import pytest

from cli.running import Call, in_demo_folder
from duilian import demo
from duilian.cli import analyze
from duilian.learning import AdaGrad
from duilian.models import Tagger
from duilian.views import FORMS


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    Tagger("pku", level="char", learning=AdaGrad(iterations=3)).fit(demo.load("pku", "pku")).save(
        folder / "char.model"
    )
    Tagger("ctb", learning=AdaGrad(iterations=1)).fit(demo.load("ctb", "ctb")).save(folder / "words.model")
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


def test_a_form_that_does_not_exist_is_answered_with_those_that_do(call: Call) -> None:
    status, _, err = call("analyze", "--to", "csv", "北京")
    assert status == 2
    message = " ".join(err.replace("│", " ").split())
    assert "unknown form 'csv': choose one of: pretty, conllu, json, slash" in message
    message = " ".join(call("analyze", "--to", "underscore", "北京")[2].replace("│", " ").split())
    assert "unknown form 'underscore': use slash, or `duilian tag --to underscore`" in message


@pytest.mark.parametrize("form", FORMS)
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
    first, last = out.split("1\t1.000000\t\n")  # an empty line has one analysis
    for found in (first, last):
        ranks, chances, answers = zip(*(line.split("\t") for line in found.splitlines()), strict=True)
        assert list(ranks) == [str(k + 1) for k in range(len(ranks))]
        assert sorted(map(float, chances), reverse=True) == list(map(float, chances))
        assert len(set(answers)) == len(answers) > 1
    assert call(*command, stdin=text)[1].splitlines()[0] == first.splitlines()[0].split("\t")[2]


def test_ranks_as_json(call: Call) -> None:
    status, out, _ = call("analyze", "--model", "char.model", "--nbest", "3", "--to", "json", "北京很大", "")
    assert status == 0
    first, empty = map(json.loads, out.splitlines())
    assert first["text"] == "北京很大"
    assert len(first["analyses"]) == 3
    assert ["".join(each["standards"]["pku"]["words"]) for each in first["analyses"]] == ["北京很大"] * 3
    assert first["analyses"][0]["probability"] >= first["analyses"][1]["probability"]
    assert empty["text"] == ""
    (only,) = empty["analyses"]
    assert (only["probability"], only["standards"]["pku"]["words"]) == (1.0, [])


def test_ranks_need_text_and_lines(call: Call) -> None:
    assert call("analyze", "--model", "char.model", "--nbest", "2", "--to", "brat", "北京")[0] == 2
    assert call("analyze", "--model", "char.model", "--nbest", "2", "--format", "slash", "pku.txt")[0] == 2
    assert call("analyze", "--model", "char.model", "--nbest", "0", "北京")[0] == 2


def test_mistakes_are_named(call: Call) -> None:
    for name in ("no.txt", "新闻.txt", "no.dat", "a/b", "./新闻", "folder/新闻", "新闻.conllu"):
        Path("folder").mkdir(exist_ok=True)
        status, _, err = call("analyze", "--model", "char.model", name)
        assert status == 1
        assert f"there is no file {name!r}" in err
    for text in ("他/她来了", "3.14", "北京", "https://example.org", "长" * 300):
        assert call("analyze", "--model", "char.model", text)[0] == 0
    assert "folder: is a directory" in call("analyze", "--model", "char.model", "folder")[2]
    assert "no/x: no such file" in call("analyze", "--model", "char.model", "-o", "no/x", "北京")[2]
    status, _, err = call("analyze", "--model", "no.model", "北京")
    assert status == 1
    assert "no.model: there is no such file" in err
    assert "or `bundled`" in err
    for text, is_uncut in (
        ("我们明天去北京参观新的图书馆" * 2, True),
        ("我们去。", True),
        ("哈" * 30 + " ！", False),
        ("我们 去 。", False),
    ):
        status, _, err = call("analyze", "--model", "words.model", text)
        assert (status, err.startswith("duilian: warning: the text is not segmented")) == (0, is_uncut)
    assert "no standard 'ud'" in call("analyze", "--model", "char.model", "--standard", "ud", "北京")[2]
    assert call("analyze", "--model", "char.model", "--to", "xml", "北京")[0] == 2
    status, _, err = call("analyze", "--model", "char.model", stdin="北京".encode("gbk"))
    assert status == 1
    assert "utf-8" in err.lower()


HALF = """\
# sent_id = s1
# text = 北京图书馆大
1-2\t北京图书馆大\t_\t_\t_\t_\t_\t_\t_\t_
1\t北京图书馆\tx\tPROPN\t_\tFoo=Bar\t2\t_\t_\tMy=1
1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
2\t大\t_\tADJ\tv\t_\t0\troot\t_\t_

"""


def test_a_corpus_has_its_gaps_filled(call: Call) -> None:
    Path("a.conllu").write_text(HALF, encoding="utf-8")
    Path("a.conll").write_text(HALF, encoding="utf-8")
    status, out, err = call("analyze", "--model", "char.model", "a.conllu")
    assert (status, err) == (0, "")
    given, filled = HALF.split("\n"), out.split("\n")
    assert [line for line in filled if line[:2] != "1\t"] == [line for line in given if line[:2] != "1\t"]
    row = filled[3].split("\t")
    assert row[4] != "_"
    assert [*row[:4], *row[5:]] == ["1", "北京图书馆", "x", "PROPN", "Foo=Bar", "2", "_", "_", "My=1"]
    for arguments in (("a.conll",), ("--format", "conllu", "a.conllu"), ("--format", "conllu")):
        assert call("analyze", "--model", "char.model", *arguments, stdin=HALF.encode())[1] == out
    status, _, err = call("analyze", "--model", "char.model", stdin=HALF.encode())
    assert status == 1
    assert "<stdin>:3: this looks like a row of CoNLL-U" in err
    whole = HALF.replace("PROPN\t_", "PROPN\tns")
    Path("a.conllu").write_text(whole, encoding="utf-8")
    assert call("analyze", "--model", "char.model", "a.conllu")[1] == whole
    assert "newpar id = 6" in call("analyze", "--model", "char.model", "--format", "text", "a.conllu")[1]


def test_words_without_tags_are_gaps(call: Call) -> None:
    given = "20260101-01-001-001/m  [北京/ns  图书馆]nt  大/_  很{hen3}  北京/?\n"
    arguments = ("--model", "char.model", "--format", "slash", "--to", "slash")
    status, out, err = call("analyze", *arguments, stdin=given.encode())
    assert (status, err) == (0, "")
    assert out.startswith("20260101-01-001-001/m  [北京/ns  图书馆/")
    assert "很{hen3}/" in out
    assert "?" not in out
    assert "_" not in out


def test_what_cannot_be_filled_is_said_with_its_line(call: Call) -> None:
    Path("a.txt").write_text("北京/ns\n\n很/d  大/ZZ\n", encoding="utf-8")
    status, _, err = call("analyze", "--model", "char.model", "--format", "slash", "a.txt")
    assert status == 1
    assert "a.txt:3: the tag 'ZZ' is not among the model's tags of 'pku'" in err
    rows = HALF.replace("\tv\t", "\tZZ\t")
    err = call("analyze", "--model", "char.model", "--format", "conllu", stdin=(HALF + rows).encode())[2]
    assert "<stdin>:13: the tag 'ZZ'" in err  # the universal tags next to it are not pku's


def test_what_has_come_is_answered_at_once(models: Path) -> None:
    model = str(models / "char.model")
    for arguments, text in (
        (["analyze", "--model", model, "--to", "slash"], "北京"),
        (["analyze", "--model", model, "--to", "words"], "北京"),
        (["analyze", "--model", model, "--format", "slash"], "北京/ns"),
        (["segment", "-m", model], "北京"),
        (["tag", "-m", model], "北京"),
    ):
        command = [sys.executable, "-m", "duilian.cli", *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin
            assert process.stdout
            for _ in range(2):
                process.stdin.write(f"{text}\n".encode())
                process.stdin.flush()
                assert select.select([process.stdout], [], [], 20)[0]
                assert "北京" in process.stdout.read1().decode()
            process.stdin.close()
            assert process.wait() == 0


@pytest.mark.parametrize(
    ("redirection", "status", "said"), [("| head -n 1", 141, ""), (">&-", 1, "<stdout>: bad")]
)
def test_output_that_nobody_takes(
    models: Path, tmp_path: Path, redirection: str, status: int, said: str
) -> None:
    long = tmp_path / "long.txt"
    long.write_text("北京很大。\n" * 20000, encoding="utf-8")
    command = f"{sys.executable} -m duilian.cli analyze --model {models}/char.model --to words {long}"
    done = subprocess.run(
        ["bash", "-c", f"{command} {redirection}; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert said in done.stderr


def test_input_that_is_closed_is_empty(models: Path) -> None:
    command = f"{sys.executable} -m duilian.cli analyze --model {models}/char.model <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


EXPLAIN = ("analyze", "--model", "char.model", "--lexicon", "lexicon.txt", "--explain")


@pytest.mark.parametrize("form", [("--to", "words"), ("--to", "slash"), ("--nbest", "2"), ("--to", "json")])
def test_the_lexicon_is_explained_in_every_form(call: Call, form: tuple[str, ...]) -> None:
    Path("lexicon.txt").write_text("# 我的词\n京图\n图书\n", encoding="utf-8")
    Path("a.txt").write_text("你好\n去北京图书馆\n", encoding="utf-8")
    status, out, err = call(*EXPLAIN, *form, "a.txt", "北京图")
    assert status == 0
    assert "京图" in out
    lines = [line for line in err.splitlines() if line.startswith("lexicon: ")]
    assert [line.partition(": pku has ")[0] for line in lines] == [
        "lexicon: a.txt:2: 京图 (force, lexicon.txt:2) at 2:4 applied",
        "lexicon: a.txt:2: 图书 (force, lexicon.txt:3) at 3:5 not applied: "
        "overlaps '京图', which has priority",
        "lexicon: 京图 (force, lexicon.txt:2) at 1:3 applied",
    ]


def test_what_is_explained_is_what_is_written(call: Call) -> None:
    Path("lexicon.txt").write_text("图书馆去\t\t0.001\n去北\tv\n", encoding="utf-8")
    blank = "\t_"
    rows = [f"{number}\t{word}\t_\tn{6 * blank}" for number, word in ((1, "图书馆"), (2, "去北"))]
    Path("a.conllu").write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    _, out, err = call(*EXPLAIN, "--format", "conllu", "--to", "slash", "a.conllu")
    assert out == "图书馆/n  去北/n\n"
    assert err.splitlines() == [
        "lexicon: a.conllu, sentence 1: 图书馆去 (prefer, lexicon.txt:1) at 0:4 not applied: "
        "overlaps '去北', which has priority: pku has 图书馆/n 去北/n",
        "lexicon: a.conllu, sentence 1: 去北 (force, lexicon.txt:2) at 3:5 not applied: pku has 去北/n",
    ]
    err = call(*EXPLAIN, "--to", "slash", stdin="我在图书馆去过".encode())[2]
    assert "lexicon: <stdin>:1: 图书馆去 (prefer, lexicon.txt:1) at 2:6 not applied: pku has 图书馆/" in err

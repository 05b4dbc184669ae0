"""What commands that read text have in common: the same options, the same warnings, the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import Tagger, demo
from duilian.learning import AdaGrad

COMMANDS = ("analyze", "tag", "segment")
TAGGED = "我们/r 去/v 北京/ns 。/w\n他/r 是/v 学生/n 。/w\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    Tagger("ctb", level="char", learning=AdaGrad(iterations=2)).fit(demo.load("ctb", "ctb")).save(
        folder / "char"
    )
    return folder


@pytest.fixture
def duilian(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {})


@pytest.mark.parametrize("command", COMMANDS)
def test_words_with_tags_that_are_read_as_text_are_noticed(duilian: Call, command: str) -> None:
    Path("a.txt").write_text(TAGGED, encoding="utf-8")
    Path("b.txt").write_text(TAGGED.replace("/", "_"), encoding="utf-8")
    for name, form in (("a.txt", "slash"), ("b.txt", "underscore")):
        status, _, err = duilian(command, "-m", "char", name)
        assert status == 0
        assert err == (
            f"duilian: warning: {name}: this looks like words with tags, but is read as text; "
            f"use --format {form} to read the tags, or --format text if it is text\n"
        )
        assert duilian(command, "-m", "char", name, "--format", "text")[2] == ""
        assert "look like" not in duilian(command, "-m", "char", name, "--format", form)[2]


@pytest.mark.parametrize(
    "text", ["和/或 1/2 TCP/IP 协议 http://a.cn/b 好\n", "我们 去 北京 。 他 来\n", "a_B\n"]
)
def test_other_text_is_not_taken_for_words_with_tags(duilian: Call, text: str) -> None:
    assert duilian("tag", "-m", "char", stdin=text.encode())[2] == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("tags", ["", "\tNN"])
def test_the_lexicon_is_explained_by_every_command(duilian: Call, command: str, tags: str) -> None:
    Path("words.txt").write_text(f"京图{tags}\n", encoding="utf-8")
    Path("a.txt").write_text("你好\n去北京图书馆\n", encoding="utf-8")
    options = ("-m", "char", "--lexicon", "words.txt", "--explain", "a.txt")
    status, _, err = duilian(command, *options)
    assert (status, err) == (0, "lexicon: a.txt:2: 京图 (force, words.txt:1) at 2:4 applied\n")
    status, _, err = duilian(command, "-m", "char", "--explain", "a.txt")
    assert (status, "nothing to explain without --lexicon" in " ".join(err.split())) == (2, True)
    if command != "segment":
        form = ("--to", "slash", "--nbest", "2")
        assert duilian(command, *options, *form)[2].count("at 2:4 applied") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_invalid_text_is_treated_as_told(duilian: Call, command: str) -> None:
    bad = "北京".encode() + b"\xff\n"
    assert duilian(command, "-m", "char", stdin=bad)[0] == 1
    status, out, _ = duilian(command, "-m", "char", "--errors", "replace", stdin=bad)
    assert (status, "\ufffd" in out) == (0, True)
    assert duilian(command, "-m", "char", "--errors", "ignore", stdin=bad)[0] == 2


def test_universal_tags_are_the_same_by_every_road(duilian: Call) -> None:
    def columns(*command: str) -> list[tuple[str, ...]]:
        text = "我们去北京。\n".encode()
        status, out, err = duilian(*command, "--standard", "ud", "--to", "conllu", stdin=text)
        assert status == 0, err
        rows = [line.split("\t") for line in out.splitlines() if line and line[0] != "#"]
        return [(row[1], row[3], row[4]) for row in rows]

    found = columns("tag")
    assert found == columns("analyze")
    assert found[0] == ("我们", "PRON", "PRP")
    assert columns("tag", "--marginals") == found


def test_a_line_without_words_has_one_analysis(duilian: Call) -> None:
    text = "我们\n\n我们\n".encode()
    for command in ("analyze", "tag"):
        out = duilian(command, "-m", "char", "--nbest", "1", "--to", "slash", stdin=text)[1]
        assert out.split("\n")[1] == "1\t1.000000\t"

"""`duilian corpus`: output and exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from running import accept_control_c, run_here

from duilian import cli
from duilian.corpus import read
from duilian.errors import ConfigError
from duilian.version import __version__

TEXT = "我/r  来/v  。/w\n他/r  去/v  北湖/ns  。/w\n好/a  ！/w  走/v  。/w\n"


@pytest.fixture
def duilian(monkeypatch, tmp_path):
    """Run the command in this process, in an empty folder; return (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")

    return lambda *arguments, stdin=b"": run_here(monkeypatch, *arguments, stdin=stdin)


def test_stats_as_json(duilian):
    status, out, err = duilian("corpus", "stats", "a.txt", "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert (found["sentences"], found["words"], found["characters"]) == (3, 11, 12)
    assert found["tags"]["w"] == 4
    assert found["tag_shares"]["w"] == pytest.approx(100 * 4 / 11)
    assert sum(found["tag_shares"].values()) == pytest.approx(100)
    assert "oov" not in found


def test_stats_for_people(duilian):
    status, out, err = duilian("corpus", "stats", "a.txt", "--against", "a.txt")
    assert (status, err) == (0, "")
    assert "sentences" in out
    assert "0.00 % of the words" in out
    assert "\x1b" not in out, "no colours in a pipe"


def test_stats_list_tags_that_the_standard_does_not_have(duilian, tmp_path):
    (tmp_path / "b.txt").write_text(TEXT + "来/vv1  来/vv1  来/vv2\n", encoding="utf-8")
    status, out, err = duilian("corpus", "stats", "b.txt", "--standard", "pku", "--json")
    assert (status, json.loads(out)["foreign_tags"]) == (0, {"vv1": 2, "vv2": 1})
    told = "来_vv1: 3 words have tags that 'pku' does not have (vv1 2, vv2 1)"
    assert err == f"duilian: warning: b.txt:4: {told}\n"
    out = duilian("corpus", "stats", "b.txt", "--standard", "pku")[1]
    assert out.endswith("\ntags that 'pku' does not have: vv1 2, vv2 1\n")
    assert duilian("corpus", "stats", "a.txt", "--standard", "pku")[2] == ""


def test_stats_check_tags_with_a_file(duilian, tmp_path):
    (tmp_path / "house.toml").write_text(
        '[tags]\nn = { english = "noun", chinese = "名词", example = "书" }\n', encoding="utf-8"
    )
    (tmp_path / "b.txt").write_text("书/n  来/vv1  书/n  来/vv1  书/n\n", encoding="utf-8")
    status, out, _ = duilian("corpus", "stats", "b.txt", "--standard", "house.toml", "--json")
    assert (status, json.loads(out)["foreign_tags"]) == (0, {"vv1": 2})
    status, _, err = duilian("corpus", "stats", "b.txt", "--standard", "missing.toml")
    assert (status, "missing.toml: cannot be read" in err) == (1, True)


def test_stats_name_rare_tags(duilian, tmp_path):
    tags = [f"t{k:02}" for k in range(22)]
    line = " ".join(f"字/{tag}" for tag in [*tags, *tags[:20]])
    (tmp_path / "b.txt").write_text(f"{line}\n", encoding="utf-8")
    out = duilian("corpus", "stats", "b.txt", "--standard", "mine")[1]
    assert "… and 2 more tags: t20, t21\n" in out


def test_a_shell_completes_commands_and_options(duilian, monkeypatch):
    monkeypatch.setenv("_DUILIAN_COMPLETE", "complete_bash")
    for words, place, expected in (
        ("duilian se", 1, "segment\nserve\nselect\n"),
        ("duilian tag --ma", 2, "--marginals\n"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(place))
        assert duilian()[:2] == (0, expected)
    monkeypatch.setenv("COMP_WORDS", "duilian")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert set(duilian()[1].split()) >= set(cli.COMMANDS)


def test_a_shell_can_be_taught_to_complete(duilian):
    assert "--install-completion" in duilian("--help")[1]


def test_several_files_are_one_corpus_and_nothing_is_standard_input(duilian):
    assert json.loads(duilian("corpus", "stats", "a.txt", "a.txt", "--json")[1])["sentences"] == 6
    assert json.loads(duilian("corpus", "stats", "--json", stdin=TEXT.encode())[1])["sentences"] == 3
    cut = duilian("corpus", "stats", "a.txt", "--cut", "sentence", "--json")[1]
    assert json.loads(cut)["sentences"] == 4


def test_convert_to_standard_output_and_to_a_file(duilian, tmp_path):
    status, out, err = duilian("corpus", "convert", "a.txt", "--to", "underscore")
    assert (status, out, err) == (0, TEXT.replace("  ", " ").replace("/", "_"), "")
    assert duilian("corpus", "convert", "a.txt", "-o", "b.conllu")[:2] == (0, "")
    assert duilian("corpus", "convert", "b.conllu", "--to", "slash") == (0, TEXT, "")
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.conllu"]


def test_convert_from_another_encoding(duilian, tmp_path):
    (tmp_path / "gb.txt").write_bytes(TEXT.encode("gb18030"))
    status, out, err = duilian("corpus", "convert", "gb.txt", "--to", "slash")
    assert (status, out) == (1, "")
    assert err.startswith("duilian: gb.txt:1: byte 0x")
    assert (
        "  hint: it looks like gb18030: save it as UTF-8, or, if it is the input, use --encoding gb18030"
        in err
    )
    assert duilian("corpus", "convert", "gb.txt", "--to", "slash", "--encoding", "gb18030")[1] == TEXT


def test_split_and_sample(duilian, tmp_path):
    status, out, _ = duilian("corpus", "split", "a.txt", "--shares", "1,1,1", "--seed", "5", "-o", "parts")
    assert status == 0
    assert len(out.splitlines()) == 3
    assert sorted(os.listdir(tmp_path / "parts")) == ["dev.txt", "test.txt", "train.txt"]
    assert len(read(tmp_path / "parts" / "dev.txt")) == 1
    status, out, _ = duilian("corpus", "sample", "a.txt", "-n", "2", "--seed", "1")
    assert status == 0
    assert len(out.splitlines()) == 2
    assert out == duilian("corpus", "sample", "-n", "2", stdin=TEXT.encode())[1]


def test_lenient_says_what_it_skipped(duilian, tmp_path):
    (tmp_path / "bad.txt").write_text(TEXT + "bad\n", encoding="utf-8")
    status, out, err = duilian("corpus", "stats", "bad.txt", "--lenient", "--json", "--format", "slash")
    assert (status, json.loads(out)["sentences"]) == (0, 3)
    assert err == "duilian: warning: skipped 1 line; first: bad.txt:4: the word 'bad' has no tag\n"
    status, out, err = duilian("corpus", "stats", "bad.txt", "--json", "--format", "slash")
    assert (status, out) == (1, "")
    assert (
        err == "duilian: bad.txt:4: the word 'bad' has no tag\n  hint: write word/? if its tag is unknown\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stats", "none.txt"], "duilian: none.txt: no such file or directory"),
        (["stats", "."], "duilian: .: is a directory"),
        (["stats", "empty.txt"], "duilian: empty.txt:1: the file is empty"),
        (["stats", "a.txt", "--format", "xml"], "duilian: unknown format 'xml'"),
        (["stats", "a.txt", "--encoding", "x"], "duilian: unknown encoding 'x'"),
        (["convert", "a.txt", "-o", "b.txt"], "duilian: cannot tell the format from the name 'b.txt'"),
        (["convert", "a.txt"], "duilian: cannot tell the format from the name '-'"),
        (["convert", "a.txt", "-o", "no/b.conllu"], "no such file or directory"),
        (["sample", "a.txt", "-n", "4"], "duilian: cannot draw 4 sentences from a corpus of 3"),
        (["split", "a.txt", "-o", "x", "--shares", "0"], "duilian: shares must be"),
    ],
)
def test_a_users_mistake_is_one_sentence_and_status_1(duilian, tmp_path, arguments, message):
    (tmp_path / "empty.txt").touch()
    status, out, err = duilian("corpus", *arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) <= 2


@pytest.mark.parametrize(
    "arguments",
    [["bogus"], ["corpus", "bogus"], ["corpus", "stats", "--bogus"], ["corpus", "sample", "a.txt", "-n", "x"],
     ["corpus", "split", "a.txt"], ["corpus", "split", "a.txt", "-o", "x", "--shares", "a,b"]],
)  # fmt: skip
def test_wrong_usage_is_status_2(duilian, arguments):
    status, out, err = duilian(*arguments)
    assert (status, out) == (2, "")
    assert err


@pytest.mark.parametrize("command", ["stats", "convert", "split", "sample"])
def test_help_has_an_example(duilian, command):
    status, out, _ = duilian("corpus", command, "--help")
    assert status == 0
    assert f"Example: duilian corpus {command}" in out


def test_version_and_top_help(duilian):
    assert duilian("--version")[1] == f"duilian {__version__}\n"
    assert "corpus" in duilian("--help")[1]


def test_debug_shows_the_error_itself(duilian):
    with pytest.raises(FileNotFoundError):
        duilian("corpus", "stats", "none.txt", "--debug")
    with pytest.raises(ConfigError):
        duilian("--debug", "corpus", "stats", "a.txt", "--format", "xml")


def test_a_bug_keeps_its_traceback():
    def bug() -> None:
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError):
        cli.exit_status(bug)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "duilian.cli", *arguments]


def test_a_closed_pipe_is_quiet(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TEXT * 20_000, encoding="utf-8")
    with subprocess.Popen(
        command("corpus", "convert", str(path), "--to", "conllu"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_ctrl_c_is_said_and_leaves_what_was_finished(tmp_path):
    target = tmp_path / "b.conllu"
    target.write_text("old")
    with subprocess.Popen(
        command("corpus", "convert", "-", "--format", "slash", "-o", str(target)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=accept_control_c,
    ) as process:
        process.stdin.write(TEXT.encode())
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(os.listdir(tmp_path)) == 2, "it should be writing by now"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        said = process.stderr.read().decode()
    part = tmp_path / "b.conllu.part"
    found = re.fullmatch(rf"duilian: stopped; {part} has the first (\d) answers?; give the rest .*\n", said)
    assert found is not None, said
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == [target.name, part.name]
    assert len(read(part, format="conllu", standard="pku")) == int(found[1])


def test_a_full_disk_is_one_sentence():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("corpus", "convert", "-", "--to", "segmented"),
            input=TEXT.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"duilian: <stdout>: no space left on device\n"


def test_mix_writes_the_format_it_read_and_tells_what_it_did(duilian, tmp_path):
    status, out, err = duilian(
        "corpus", "mix", "a.txt", "--standard", "pku", "--share", "1", "--tags", "NR,VV"
    )
    assert (status, out) == (
        0,
        TEXT.replace("来", "ENG").replace("去", "ENG").replace("北湖", "ENG").replace("走", "ENG"),
    )
    assert err == "duilian: 4 of 11 words are now English (v 3, ns 1)\n"
    assert duilian("corpus", "mix", "a.txt", "--standard", "pku", "--preset", "E", "-o", "b.txt")[0] == 0
    assert len(read(str(tmp_path / "b.txt"), standard="pku")) == 3


def test_mix_refuses_what_it_cannot_do(duilian, tmp_path):
    assert duilian("corpus", "mix", "a.txt")[0] == 2
    status, _, err = duilian("corpus", "mix", "a.txt", "--preset", "Z")
    assert (status, err.splitlines()[0]) == (1, "duilian: there is no preset 'Z'")
    status, _, err = duilian("corpus", "mix", "a.txt", "--preset", "H1")
    assert (status, err.splitlines()[0]) == (1, "duilian: respective replacement needs a dictionary")
    assert duilian("corpus", "mix", "none.txt", "--preset", "A")[0] == 1


def test_merge_puts_a_review_back_and_says_what_it_has_done(duilian, tmp_path):
    (tmp_path / "c.txt").write_text("我/PN  去/VV  了/SP\n好/VA\n", encoding="utf-8")
    (tmp_path / "r.txt").write_text("我/?  去/VV|VC  了/AS\n坏/VA\n", encoding="utf-8")
    status, out, err = duilian("corpus", "merge", "c.txt", "r.txt", "--standard", "ctb")
    assert (status, out) == (0, "我/PN  去/VV  了/AS\n好/VA\n")
    assert "duilian: 1 reviewed sentence, 1 tag and 0 words changed" in err
    assert (
        "r.txt: 1 tag is not valid and left out; first: 去_VV|VC; write one tag, or several in braces" in err
    )
    assert "r.txt: 1 sentence is not in the corpus; first: '坏'" in err


def test_merge_knows_its_own_options_and_names_lines(duilian, tmp_path):
    (tmp_path / "c.txt").write_text("我_PN 房地_NN 产_NN\n他_PN 街_NN 上_LC\n", encoding="utf-8")
    review = "我_PN 房地_{NN|房地产} 产_{NN|房地产}\n他_? 街_街上 上_街上\n"
    (tmp_path / "r.txt").write_text(review, encoding="utf-8")
    status, out, err = duilian("corpus", "merge", "c.txt", "r.txt", "--standard", "ctb")
    assert (status, out) == (0, "我_PN 房地_NN 产_NN\n他_PN 街上_?\n")
    assert err.splitlines() == [
        "duilian: 2 reviewed sentences, 0 tags and 1 word changed",
        "duilian: 1 sentence still has undecided words in braces; first: r.txt:1",
        "duilian: warning: 1 new word has no tag; first: r.txt:2",
    ]
    (tmp_path / "r.txt").write_text("他_PN1 街_NN 上_LC\n", encoding="utf-8")
    _, _, err = duilian("corpus", "merge", "c.txt", "r.txt", "--standard", "ctb")
    assert "r.txt:1: 他_PN1: 1 word has a tag that 'ctb' does not have" in err


def test_a_column_that_no_format_has_is_refused_in_every_format(duilian):
    status, _, err = duilian("corpus", "stats", "a.txt", "--column", "pos")
    assert status == 2
    assert "'pos' is not one of upos, xpos" in err

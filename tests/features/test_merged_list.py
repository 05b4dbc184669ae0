"""The tool that merges lists of words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duilian.features import ListedWord
from scripts import load_script

TOOL = load_script("tools/merged_list.py")
FIRST = [ListedWord("我们", 200, "x"), ListedWord("看见", 60, "v"), ListedWord("少年", 1, "n")]


def test_words_keep_what_their_first_list_says() -> None:
    second = [ListedWord("我们", 100, "r"), ListedWord("看见", 30, "v"), ListedWord("撑起", 5, "v")]
    third = [ListedWord("撑起", 900), ListedWord("少年", 7, "m"), ListedWord("狐妖", 3)]
    assert TOOL.merged([FIRST, second, third]) == sorted(
        [*FIRST, ListedWord("撑起", 10, "v"), ListedWord("狐妖", 3)]
    )


def test_frequencies_without_a_common_word_stay() -> None:
    assert TOOL.ratio({each.word: each for each in FIRST}, [ListedWord("少年", 50)]) == 1.0
    assert TOOL.merged([FIRST, []]) == sorted(FIRST)


def test_rare_words_do_not_become_impossible() -> None:
    assert ListedWord("狐妖", 1) in TOOL.merged([FIRST, [ListedWord("我们", 20000), ListedWord("狐妖", 2)]])


def test_words_of_a_corpus_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "a.txt": "看见 60 v\n",
        "b.txt": "看见 60 n\n撑起 5 v\n狐妖 3\n",
        "c.txt": "他/r  撑起/v  伞/n\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["merged_list.py", "a.txt", "b.txt", "--unless", "c.txt"])
    TOOL.main()
    assert capsys.readouterr().out == "狐妖 3\n看见 60 v\n"

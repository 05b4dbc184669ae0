"""Tags that a declared standard does not have, and names of standards that are slips."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from duilian.corpus import ReadReport, read, read_sentences
from duilian.corpus.declared import likely_slip

ROWS = """\
# sent_id = 1
1\t他\t_\tPRON\tPN\t_\t_\t_\t_\t_

1\t坏\t_\tADJ\tJJ
2\t了

# sent_id = 2
1\t他\t_\tPRON\tPN\t_\t_\t_\t_\t_
2\t来\t_\tVERB\tVV1\t_\t_\t_\t_\t_
3\t了\t_\tPART\tSP\t_\t_\t_\t_\t_
"""


def warnings(path: Path, standard: str, *, lenient: bool = False) -> list[str]:
    report = ReadReport()
    list(read_sentences(path, standard=standard, lenient=lenient, report=report))
    return report.warnings


def test_tags_are_counted_and_the_first_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.wordpos"
    path.write_text("他_PN 来_VV 了_?\n\n他_PN 来_VV1 了_{SP|ZZ}\n去_VV1\n", encoding="utf-8")
    told = "来_VV1: 3 words have tags that 'ctb' does not have (VV1 2, ZZ 1)"
    assert warnings(path, "ctb") == [f"{path}:3: {told}"]
    assert warnings(path, "mine") == []
    path.write_text("他_PN 来_VV1\n", encoding="utf-8")
    assert warnings(path, "ctb") == [f"{path}:1: 来_VV1: 1 word has a tag that 'ctb' does not have (VV1 1)"]


def test_in_rows_the_place_is_that_of_the_word_even_after_a_skipped_block(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(ROWS, encoding="utf-8")
    skipped, foreign = warnings(path, "ctb", lenient=True)
    assert skipped.startswith(f"skipped 1 sentence; first: {path}:")
    assert foreign == f"{path}:9: 来_VV1: 1 word has a tag that 'ctb' does not have (VV1 1)"


def test_reading_logs_it_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "a.txt"
    path.write_text("他_PN 来_VV1\n" * 3, encoding="utf-8")
    with caplog.at_level(logging.WARNING, "duilian"):
        read(path, standard="ctb")
        read(path, standard="ctbb")
    first, second = caplog.messages
    assert first.startswith(f"{path}:1: 来_VV1: 3 words")
    assert second == "the standard 'ctbb' is not built in; did you mean 'ctb'?"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ctbb", "ctb"),
        ("tcb", "ctb"),
        ("cb", "ctb"),
        ("PKU", "pku"),
        ("pkv", "pku"),
        ("uud", "ud"),
        ("ctb", ""),
        ("ctb5", ""),
        ("us", ""),
        ("msr", ""),
        ("", ""),
    ],
)
def test_a_slip_is_one_letter(name: str, meant: str) -> None:
    expected = f"the standard {name!r} is not built in; did you mean {meant!r}?"
    assert likely_slip(name) == (expected if meant else "")

"""The pages of a study: Markdown and HTML say the same, and the quick form says nothing of the full one."""

from __future__ import annotations

import html
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from duilian.experiments import Study, studies
from duilian.experiments.result_pages import markdown_page, write_pages
from duilian.experiments.results import ExperimentResult, FilledTable, ResultRow, _limits
from duilian.experiments.study import Column, ResultTable, ShortForm, TablePlan
from duilian.reports.sections import study_sections

FACTS = {"date": "2026-11-18", "machine": "1 abacus", "version": "0", "seeds": [1]}
ABOUT = ResultTable(name="Table 1", title="models", part="test", compare="a", note="A note.")
COLUMNS = (Column(title="F1", metric="word.f1"), Column(title="words/s", metric="tokens_per_second"))
ROWS = (
    ResultRow("a", "zx", (90.0, 347826.85), (None, None), (91.0, 365.0)),
    ResultRow("b", "zx", (95.0, 12.4), (None, None), (None, None), p=0.00001),
    ResultRow("c", "zx", (95.0, 12.4), (None, None), (None, None), p=0.0312),
)


def result(form: str = "full", **changes: Any) -> ExperimentResult:
    values: dict[str, Any] = {
        "study": "own",
        "title": "A study",
        "paper": "Su (2030), Couplets",
        "differs": ("Other corpora.",),
        "facts": FACTS | {"form": form},
        "tables": [FilledTable(TablePlan(ABOUT, COLUMNS, ()), ROWS, ("dev",))],
        "absent": {"ctb5": "ctb5/chtb_001.fid"},
        "seconds": 61.0,
        "cells": 3,
        "finished": 3,
    }
    return ExperimentResult(**values | changes)


def html_page(found: ExperimentResult, folder: Path) -> str:
    plan: Any = SimpleNamespace(cells=[])
    write_pages(found, plan, folder, folder)
    return html.unescape((folder / "report.html").read_text(encoding="utf-8"))


def test_figures_are_shown_for_people(tmp_path: Path) -> None:
    page = html_page(result(), tmp_path)
    cells = re.findall(r'<td class="number"[^>]*>([^/]*)</td>', page)
    assert cells == ["90.00", "91.00", "347,827", "365", "95.00", "12", "< .0001", "95.00", "12", "0.0312"]
    text = markdown_page(result())
    assert "| zx | a | 90.00 [91.00] | 347,827 [365] |  |" in text
    assert "| zx | b | 95.00 | 12 | < .0001 |" in text


def test_both_pages_say_the_same_first(tmp_path: Path) -> None:
    found = result("quick", limits="at most 60 training sentences of a corpus, 2 iterations")
    for page in (html_page(found, tmp_path), markdown_page(found)):
        assert "Paper: Su (2030)" in page
        assert (
            "at most 60 training sentences of a corpus, 2 iterations. It shows that everything runs" in page
        )
        assert "What differs from the paper:" in page
        assert "Other corpora." in page
        assert re.search(r"Not run: ctb5 \(there is no `?chtb_001.fid`?\)", page)
        assert "61 s of CPU time in all" in page
        assert "Judged on dev sets; the full form is judged on test sets." in page


def test_cells_that_are_missing_are_said(tmp_path: Path) -> None:
    found = result(finished=1)
    for page in (html_page(found, tmp_path), markdown_page(found)):
        assert "1 of 3 cells" in page
        assert "Not finished: 2 cells; the tables lack their figures." in page


def test_what_there_is_not_has_no_title(tmp_path: Path) -> None:
    found = result(paper="", differs=(), absent={})
    for page in (html_page(found, tmp_path), markdown_page(found)):
        for title in ("Paper:", "differs", "Notes:", "Not run", "Not finished", "quick form"):
            assert title not in page
    assert '<p class="note"></p>' not in html_page(found, tmp_path)


def test_a_report_shows_the_same_tables() -> None:
    (section,) = study_sections(result().to_dict())
    assert section.title == "Table 1: models"
    text = html.unescape("".join(section.parts))
    heads = re.findall(r"<button[^>]*>([^<]*)</button>", text)
    assert heads == ["data", "row", "F1", "F1, paper", "words/s", "words/s, paper"]
    cells = re.findall(r'<td class="number"[^>]*>([^/]*)</td>', text)
    assert cells[:2] == ["90.00", "91.00"]


@pytest.mark.parametrize("name", studies())
def test_the_quick_form_has_no_untrue_note(name: str) -> None:
    study = Study.load(name)
    assert study.differs
    short = study.in_form("quick")
    assert short.differs == study.quick.notes
    assert not re.search(
        r"\ball of UD|\d iterations|\d rounds|judged on its", str((short.differs, short.tables))
    )


def test_the_quick_form_says_what_was_run() -> None:
    study = Study.load("li2017")
    assert _limits(study.quick, [{"iterations": 2}, {"iterations": 2}, {}]) == (
        "at most 400 training sentences of a corpus, at most 100 sentences of a dev or test set, "
        "2 iterations in the last stage of training"
    )
    runs = [{"iterations": 3}, {"iterations": 1}]
    assert _limits(ShortForm(), runs) == "1 to 3 iterations in the last stage of training"
    sample = ShortForm(limit=300, other_limit=1200)
    assert _limits(sample, []) == (
        "at most 300 training sentences of the first corpus of the data, and 1,200 of any other"
    )


def test_a_sample_says_so(tmp_path: Path) -> None:
    found = result("sample", limits="at most 300 training sentences of a corpus")
    for page in (html_page(found, tmp_path), markdown_page(found)):
        assert re.search(r"On samples:(\*\*)? at most 300 training sentences of a corpus\. Comp", page)
    assert "duilian experiment own.toml --data DIR -o OUT --sample" in markdown_page(found)

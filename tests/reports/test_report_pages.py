"""Pages: everything is escaped and nothing is loaded; plots, tables, couplets; calibration."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from duilian import Analyzer, Layer, demo
from duilian.evaluation import compare_layers, evaluate_layers
from duilian.learning.run_log import Curve
from duilian.reports.calibration_bins import measure_reliability, reliability
from duilian.reports.charts import bar_chart, heat_map, line_chart
from duilian.reports.html_page import Section, page, table
from duilian.reports.sections import (
    comparison_sections,
    couplet_table,
    curve_sections,
    evaluation_sections,
)

EVIL = '<script>alert("x")</script>'
VOID = {"meta", "link", "br", "img", "path", "circle", "rect"}


class Checker(HTMLParser):
    """Notes tags that are not closed, and addresses that are loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.loaded += [str(value) for name, value in attrs if name in ("src", "href") and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(text: str) -> Checker:
    found = Checker()
    found.feed(text)
    assert found.open == []
    assert all(address.startswith(("#", "data:")) for address in found.loaded)
    return found


GOLD = [Layer((EVIL, "来"), ("PN", EVIL), (2, 0), ("nsubj", "root"))] * 3
GUESS = [Layer((EVIL, "来"), (EVIL, "NN"), (0, 1), ("root", EVIL))] * 3


def test_pages_of_evaluations_and_comparisons_escape_every_text() -> None:
    evaluation = evaluate_layers(GOLD, GUESS, standard=EVIL, vocabulary={"来"}).to_dict()
    comparison = compare_layers(GOLD, {EVIL: [GUESS], "b": [GOLD]}, standard=EVIL, trials=10).to_dict()
    curves = [Curve([1, 2], {"loss": [2.0, 1.0], EVIL: [50.0, 60.0], "ctb oracle": [99.0, None]})]
    sections = [
        *evaluation_sections(evaluation, EVIL),
        *comparison_sections(comparison),
        *curve_sections(curves, EVIL),
    ]
    text = page(EVIL, EVIL, sections)
    assert checked(text).scripts == 1
    assert "alert(&quot;x&quot;)" in text
    assert 'lang="en"' in text
    assert "Content-Security-Policy" in text
    assert len(re.findall(r'role="img"', text)) >= 4


def test_a_table_sorts_numbers_as_numbers() -> None:
    text = table(("name", "count"), [("a", 10_000), ("b", None)], caption="c")
    assert 'data-kind="text"' in text
    assert 'data-kind="number"' in text
    assert 'data-value="10000">10,000<' in text
    assert table(("name",), [], caption="c") == ""
    checked(text)


def test_plots_say_what_they_show() -> None:
    lines = line_chart({"dev": [(1, 70.0), (2, 80.0)]}, title="t", x="iteration", y="score")
    assert "score by iteration. dev: from 70 to 80." in lines
    assert line_chart({}, title="t", x="", y="") == ""
    checked(line_chart({"one": [(1.0, 5.0)]}, title="t", x="x", y="y", diagonal=True))
    bars = bar_chart([("NN", [50.0, 100.0])], ["a", "b"], title="t")
    assert "NN, a: 50.00" in bars
    cells = heat_map(["NN"], ["n", "v"], [[0.9, 0.1]], title="t", said="s")
    assert "NN → n: 90.0 %" in cells
    for text in (lines, bars, cells):
        checked(text)


def test_iterations_have_whole_numbers() -> None:
    few = line_chart({"dev": [(1, 70.0), (2, 80.0), (3, 81.0)]}, title="t", x="iteration", y="score")
    assert ">2</text>" in few
    assert ">1.5</text>" not in few
    shares = line_chart({"dev": [(0.1, 70.0), (0.4, 80.0)]}, title="t", x="share", y="score")
    assert ">0.2</text>" in shares


def test_the_number_of_a_bar_stands_at_its_end() -> None:
    bars = bar_chart([("SB", [80.0, 0.0])], ["a", "b"], title="t")
    (left,) = re.findall(r'<rect x="(\d+)" y="13"', bars)
    (place,) = re.findall(r'<text x="([\d.]+)" y="\d+">0\.0</text>', bars)
    assert float(place) - float(left) == 4


def test_a_long_list_of_sections_is_closed() -> None:
    sections = [Section(f"Part {k}", []) for k in range(13)]
    assert "<summary>Contents: 13 sections</summary>" in page("t", "n", sections)
    assert "<summary>" not in page("t", "n", sections[:12])


def test_details_of_trees_are_tables_of_their_own() -> None:
    gold = [Layer(("他", "来"), ("PN", "VV"), (2, 0), ("nsubj", "root"))]
    found = evaluate_layers(gold, gold, standard="ctb", vocabulary={"他"}).to_dict()
    scores, *_, details = evaluation_sections(found, "ctb")
    assert "→" not in "".join(scores.parts)
    text = "".join(details.parts)
    assert "<caption>Wrong heads by tags</caption>" in text
    assert "heads with relations" in text


def test_couplets_mark_what_is_wrong() -> None:
    found = {"number": 1, "gained": 1.0, "lost": 0.0}
    found |= {
        "gold": [["北京", "NR"], ["来", "VV"]],
        "first": [["北京来", "NN"]],
        "other": [["北京", "NR"], ["来", "NN"]],
    }
    text = couplet_table(found, "a", "b")
    checked(text)
    assert text.count('class="wrong"') == 2
    assert "Sentence 1: 1 gained, 0 lost" in text


def test_reliability_by_hand() -> None:
    found = reliability(np.array([1.0, 0.95, 0.55]), np.array([True, False, True]))
    assert found.words == (1, 2)
    assert found.probability == pytest.approx((0.55, 0.975))
    assert found.right == (1.0, 0.5)
    assert found.error == pytest.approx(100 * (0.45 + 2 * 0.475) / 3)


def test_a_model_that_has_learned_its_text_is_right_when_it_is_sure(plain: Analyzer) -> None:
    found = measure_reliability(plain, demo.load("pku", "pku")[:20], "pku")
    assert found is not None
    assert found.right[-1] > 0.9
    assert sum(found.words) > 100


def test_an_empty_page_is_one() -> None:
    checked(page("t", "n", [Section("s", [])]))

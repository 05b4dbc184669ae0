"""Reports in a real browser: no error on the console, nothing wider than a phone, tables that sort.

A suite of its own: `nox -s browser`, or `DUILIAN_BROWSER=1 pytest tests/browser`, with chromium installed.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from duilian.corpus import Layer
from duilian.evaluation import compare_layers, evaluate_layers
from duilian.learning.run_log import Curve
from duilian.reports.html_page import page
from duilian.reports.inspection import LearnedMapping
from duilian.reports.sections import (
    comparison_sections,
    curve_sections,
    evaluation_sections,
    mapping_section,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(
    not os.environ.get("DUILIAN_BROWSER") or CHROMIUM is None,
    reason="the browser suite is not run: it needs chromium and DUILIAN_BROWSER=1 (nox -s browser)",
)
# In the frame: sort the first table by its first title, then tell what there is.
PROBE = """
addEventListener("load", () => {
  const inner = document.getElementById("report").contentDocument;
  const root = inner.documentElement;
  const button = inner.querySelector("th button");
  button.focus();
  button.click();
  const names = [...inner.querySelector("tbody").rows].map((row) => row.cells[0].textContent);
  const facts = {
    width: root.clientWidth, content: root.scrollWidth,
    focused: inner.activeElement === button,
    sorted: names.every((name, k) => k === 0 || names[k - 1].localeCompare(name, "zh") <= 0),
    said: inner.getElementById("said").textContent,
    unlabelled: inner.querySelectorAll("svg:not([aria-label])").length,
    plots: inner.querySelectorAll("svg").length,
  };
  document.body.dataset.facts = JSON.stringify(facts);
});
"""


def report() -> str:
    """A page with every kind of section and long words in it."""
    tags = [f"TAG{k}" for k in range(45)]
    gold = [Layer(tuple(f"词{tag}" for tag in tags), tuple(tags))] * 2
    guess = [Layer(gold[0].words, (*tags[1:], tags[0]))] * 2
    vocabulary = set(gold[0].words[:9])
    evaluation = evaluate_layers(gold, guess, standard="ctb", vocabulary=vocabulary).to_dict()
    evaluation["calibration"] = {
        "words": [3, 9],
        "probability": [0.5, 0.97],
        "right": [0.4, 1.0],
        "error": 3.0,
    }
    comparison = compare_layers(gold, {"a-system-with-a-very-long-name": [guess], "b": [gold]}, trials=10)
    curve = Curve([1, 2, 3], {"loss": [3.0, 2.0, 1.0], "dev": [70.0, 80.0, 81.0], "ctb oracle": [99.0] * 3})
    mapping = LearnedMapping("ctb", "pku", tuple(tags), tuple(tags), np.eye(45) + 0.1)
    sections = [
        *evaluation_sections(evaluation, "ctb"),
        *comparison_sections(comparison.to_dict()),
        *curve_sections([curve]),
        mapping_section(mapping),
    ]
    return page("A report", "n" * 200, sections)


@pytest.mark.parametrize("width", [360, 1200])
def test_a_report_in_a_browser(tmp_path: Path, width: int) -> None:
    frame = (
        f'<iframe id="report" style="border:0;width:{width}px;height:900px" srcdoc="{html.escape(report())}">'
    )
    outer = tmp_path / "outer.html"
    outer.write_text(f"<!DOCTYPE html><body>{frame}</iframe><script>{PROBE}</script>", encoding="utf-8")
    assert CHROMIUM is not None
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    options += [
        f"--user-data-dir={tmp_path}",
        f"--window-size={width + 40},1000",
        "--virtual-time-budget=5000",
    ]
    done = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", outer.as_uri()], capture_output=True, text=True, timeout=280
    )
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    found = re.search(r'data-facts="([^"]*)"', done.stdout)
    assert found is not None, done.stderr[-2000:]
    facts = json.loads(html.unescape(found[1]))
    assert facts["content"] <= facts["width"] <= width
    assert facts["focused"]
    assert facts["sorted"]
    assert facts["said"].endswith("ascending")
    assert facts["plots"] >= 6
    assert facts["unlabelled"] == 0

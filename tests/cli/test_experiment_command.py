"""`duilian experiment`: a study on the demo corpora, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import run_here


def test_a_study_runs_and_shows_its_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    status, said, progress = run_here(monkeypatch, "experiment", "demo", "-o", out, "--quick")
    assert status == 0
    assert "Table 1: tagging accuracy of given words (dev)" in said
    assert "together" in said
    assert "2 of 2 cells" in said
    assert "cell 1 of 2: alone@demo seed=1 (dev)" in progress
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    status, again, progress = run_here(monkeypatch, "experiment", "demo", "-o", out, "--quick")
    assert (status, again, progress) == (0, said, "")


def test_the_list_has_every_study(monkeypatch: pytest.MonkeyPatch) -> None:
    status, said, _ = run_here(monkeypatch, "experiment", "--list")
    assert status == 0
    assert "li2017" in said
    assert "Qiu, Zhao and Huang (2013)" in said


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("li2071", "-o", "out"), 1, "did you mean 'li2017'?"),
        (("li2017", "-o", "out"), 1, "--data DIR"),
        (("demo",), 2, "give a study and a folder"),
        ((), 2, "give a study and a folder"),
        (("demo", "-o", "out", "--jobs", "0"), 2, "0 is not in the range"),
        (("demo", "-o", "out", "--quick", "--only", "nothing"), 1, "no cell of the study matches 'nothing'"),
    ],
)
def test_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    found, _, errors = run_here(monkeypatch, "experiment", *arguments)
    assert found == status
    assert said in " ".join(errors.split())


def test_a_stopped_study_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("duilian.cli.experiment.experiment", stopped)
    status, _, errors = run_here(monkeypatch, "experiment", "demo", "-o", str(tmp_path / "out"))
    assert status == 130
    assert "out keeps the finished cells; run the same command to continue" in errors

"""Running a study: cells once, resumed after a kill, the same in several processes; test sets at the end."""

from __future__ import annotations

import dataclasses
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import pytest

import duilian as dl
from duilian import demo
from duilian.errors import ConfigError
from duilian.experiments import cell_run
from duilian.experiments.results import ExperimentResult

DEMO = Path(demo.__file__).parent


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ExperimentResult]:
    """The demonstration, run once."""
    folder = tmp_path_factory.mktemp("experiment") / "out"
    return folder, dl.experiment("demo", folder)


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell may be trained, and no model asked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a finished cell was run again")

    monkeypatch.setattr(cell_run, "train", refuse)
    monkeypatch.setattr(cell_run, "evaluate", refuse)


def figures(result: ExperimentResult) -> list[tuple[object, ...]]:
    return result.rows()


def copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def test_tables_have_our_figures(finished: tuple[Path, ExperimentResult]) -> None:
    folder, result = finished
    alone, together = result.tables[0].rows
    assert alone.values[1] is None, "the system has one side"
    assert together.p is not None
    assert all(value is not None and 50 < value <= 100 for value in (alone.values[0], *together.values))
    cell = next((folder / "cells").glob("coupled-*"))
    gold = dl.read(cell / "dev-1.gold.jsonl", standard="ctb")
    answer = dl.read(cell / "dev-1.answer.jsonl", standard="ctb")
    assert dl.evaluate(answer, gold).accuracy == together.values[0]


def test_a_cell_is_what_train_makes_of_its_recipe(
    finished: tuple[Path, ExperimentResult], tmp_path: Path
) -> None:
    folder, result = finished
    cell = next((folder / "cells").glob("coupled-*"))
    dl.train(cell / "recipe.toml", tmp_path / "m", data=DEMO)
    found = dl.evaluate(dl.load(tmp_path / "m"), dl.read(DEMO / "ctb-dev.txt", standard="ctb"))
    assert found.accuracy == result.tables[0].rows[1].values[0]


def test_what_is_finished_is_not_run_again(finished: tuple[Path, ExperimentResult], untrained: None) -> None:
    folder, result = finished
    again = dl.experiment("demo", folder)
    assert figures(again) == figures(result)
    assert again.facts == result.facts


def test_the_result_as_data(finished: tuple[Path, ExperimentResult]) -> None:
    folder, result = finished
    assert json.loads((folder / "results.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(result.to_dict())
    )
    assert (folder / "results.csv").read_text(encoding="utf-8") == result.to_csv()
    frame = result.to_frame()
    assert list(frame.columns) == ["table", "data", "row", "column", "value", "spread", "paper", "p"]
    assert len(frame) == 8
    assert "<caption>Table 1: tagging accuracy of given words</caption>" in result._repr_html_()
    page = (folder / "report.md").read_text(encoding="utf-8")
    assert "Test sets were read 3 times, at the end, to judge 2 models." in page
    assert f"| demo | together | {result.tables[0].rows[1].values[0]:.2f} |" in page
    assert "seed 1" in page


def test_test_sets_are_logged_and_read_last(finished: tuple[Path, ExperimentResult]) -> None:
    folder, _ = finished
    lines = (folder / "test-sets.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["cell"] for line in lines] == [
        "alone@demo seed=1",
        *["together@demo seed=1"] * 2,
    ]
    judged = {path.name[:4]: path for path in (folder / "cells").glob("*/*-1.json")}
    newest_dev = max(path.stat().st_mtime_ns for path in (folder / "cells").glob("*/dev-?.json"))
    assert newest_dev < min(path.stat().st_mtime_ns for path in (folder / "cells").glob("*/test-?.json"))
    assert set(judged) == {"dev-", "test"}


def test_the_quick_form_leaves_test_sets_alone(tmp_path: Path) -> None:
    result = dl.experiment("demo", tmp_path / "out", quick=True)
    assert [(table.name, table.parts) for table in result.tables] == [("Table 1", ("dev",))]
    assert not (tmp_path / "out" / "test-sets.jsonl").exists()
    assert "No test set was read." in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_one_form_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="quick and sample are two forms of a study"):
        dl.experiment("demo", tmp_path / "out", quick=True, sample=True)


def test_models_are_gone_when_all_is_done(finished: tuple[Path, ExperimentResult]) -> None:
    folder, _ = finished
    assert list(folder.glob("cells/*/model")) == []


def test_a_killed_run_goes_on(
    finished: tuple[Path, ExperimentResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the first iteration of the second cell, and between training and measuring."""
    train = cell_run.train

    def killed_train(recipe, run):
        if recipe.kind == "coupled":
            run = dataclasses.replace(run, on_iteration=killed)
        return train(recipe, run)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cell_run, "train", killed_train)
        with pytest.raises(KeyboardInterrupt):
            dl.experiment("demo", tmp_path / "out")
    assert list(tmp_path.glob("out/cells/*/*.checkpoint")), "the state of training is kept"
    told = []
    with monkeypatch.context() as patch:
        patch.setattr(cell_run, "_measure", killed)
        with pytest.raises(KeyboardInterrupt):
            dl.experiment("demo", tmp_path / "out")
    result = dl.experiment("demo", tmp_path / "out", on_progress=told.append)
    assert figures(result) == figures(finished[1])
    assert [each.name for each in told] == [
        "together@demo seed=1 (dev)",
        "alone@demo seed=1 (test)",
        "together@demo seed=1 (test)",
    ]
    assert (told[0].done, told[0].total, told[-1].seconds_left) == (2, 2, 0.0)
    assert [each.number for each in told] == [2, 1, 2], "a cell has one number"


def test_an_executor_gives_the_same(finished: tuple[Path, ExperimentResult], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        result = dl.experiment("demo", tmp_path / "out", executor=executor)
    assert figures(result) == figures(finished[1])


def test_workers_of_joblib_give_the_same(finished: tuple[Path, ExperimentResult], tmp_path: Path) -> None:
    told = []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        result = dl.experiment("demo", tmp_path / "out", on_progress=told.append)
    assert figures(result) == figures(finished[1])
    assert {each.number for each in told} == {1, 2}


def test_two_processes_give_the_same(finished: tuple[Path, ExperimentResult], tmp_path: Path) -> None:
    assert figures(dl.experiment("demo", tmp_path / "out", jobs=2)) == figures(finished[1])


def test_other_data_and_machines_are_said(
    finished: tuple[Path, ExperimentResult], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, data = copied(finished[0], tmp_path / "out"), copied(DEMO, tmp_path / "data")
    lines = (data / "pku.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "pku.txt").write_text("".join(lines[5:]), encoding="utf-8")
    state = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    state["machine"] = "1 abacus"
    (folder / "experiment.json").write_text(json.dumps(state), encoding="utf-8")
    told = []
    dl.experiment("demo", folder, data=data, on_progress=told.append)
    assert {each.name for each in told} == {"together@demo seed=1 (dev)", "together@demo seed=1 (test)"}
    assert "corpora have changed since the last run: pku.txt" in caplog.text
    assert "another machine (1 abacus)" in caplog.text


def test_gold_that_changed_is_judged_anew(finished: tuple[Path, ExperimentResult], tmp_path: Path) -> None:
    folder, data = copied(finished[0], tmp_path / "out"), copied(DEMO, tmp_path / "data")
    lines = (data / "both-ctb.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "both-ctb.txt").write_text("".join(lines[10:]), encoding="utf-8")
    told = []
    dl.experiment("demo", folder, data=data, on_progress=told.append, only="alone")
    assert [each.name for each in told] == ["alone@demo seed=1 (test)"]


def test_one_cell_alone(tmp_path: Path) -> None:
    result = dl.experiment("demo", tmp_path / "out", only="alone")
    assert [row.values[0] is None for row in result.tables[0].rows] == [False, True]
    assert result.finished == 1
    with pytest.raises(ConfigError, match="no cell of the study matches 'alnoe'"):
        dl.experiment("demo", tmp_path / "out", only="alnoe")


def test_folders_that_are_refused(finished: tuple[Path, ExperimentResult], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has the study 'demo' \(full\)"):
        dl.experiment("demo", finished[0], quick=True)
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="not from an experiment"):
        dl.experiment("demo", tmp_path)
    with pytest.raises(ConfigError, match="is not a folder"):
        dl.experiment("demo", tmp_path / "thesis.txt")
    with pytest.raises(ConfigError, match="there is no such folder"):
        dl.experiment("li2017", tmp_path / "out", data=tmp_path / "nowhere")


def test_a_wrong_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUILIAN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="there is no such folder") as caught:
        dl.experiment("li2017", tmp_path / "out")
    assert "the variable DUILIAN_DATA is" in caught.value.hint
    with pytest.raises(ConfigError, match="there is no such folder") as caught:
        dl.experiment("li2017", tmp_path / "out", data=tmp_path / "typo")
    assert "the variable DUILIAN_DATA is" not in caught.value.hint
    with pytest.raises(ConfigError, match="there is no file") as caught:
        dl.train("papers/li2017-coupled", tmp_path / "m")
    assert "nowhere', which is not a folder: correct it, or use --data DIR" in caught.value.hint


def test_a_study_needs_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    with pytest.raises(ConfigError, match="the study 'li2017' needs corpora") as caught:
        dl.experiment("li2017", tmp_path / "out")
    assert "--data DIR" in caught.value.hint

"""The log of a training run: what it has, resumed runs, other files, and the curve in the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from duilian.errors import CorpusError
from duilian.learning import IterationReport
from duilian.learning.run_log import RunLog, curve_of, read_log, sparkline
from duilian.modelfile import read_model
from duilian.recipes import Recipe, Run, train


def report(iteration: int, score: float, **details: float) -> IterationReport:
    return IterationReport(iteration, 1.0 / (iteration + 1), score, True, 0.1, details, 5)


def test_nothing_is_written_before_the_first_iteration(tmp_path: Path) -> None:
    path = tmp_path / "m.log.jsonl"
    log = RunLog(path, is_resumed=False, facts={"kind": "crf"})
    log.stage("features")
    assert not path.exists()
    log.iteration(report(1, 80.0, ctb=80.0))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["start", "stage", "iteration"]
    assert lines[2]["details"] == {"ctb": 80.0}
    assert lines[2]["memory"] is None or lines[2]["memory"] > 1_000_000


def test_parts_and_resumed_runs_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "m.log.jsonl"
    log = RunLog(path, is_resumed=False, facts={})
    for k in (1, 2):
        log.iteration(report(k, 80.0 + k))
    again = RunLog(path, is_resumed=True, facts={})
    for k in (2, 3):  # stopped before the state of the second was saved
        again.iteration(report(k, 80.0 + k))
    for k in (1, 2):  # the next part of the model
        again.iteration(report(k, 70.0 + k, las=60.0))
    again.end(83.0)
    first, second = read_log(path)
    assert list(first.iterations) == [1, 2, 3]
    assert list(first.scores["dev"]) == [81.0, 82.0, 83.0]
    assert list(second.scores) == ["dev", "las"]
    fresh = RunLog(path, is_resumed=False, facts={})
    fresh.iteration(report(1, 50.0))
    assert [list(curve.scores["dev"]) for curve in read_log(path)] == [[50.0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("他_PN 来_VV", "this is not a line of a training log"),
        ("[1]", "this is not a line of a training log"),
        ('{"event": "iteration", "iteration": "1"}', "values that are not numbers"),
        ('{"event": "iteration", "iteration": 1, "details": {"ctb": "x"}}', "values that are not numbers"),
    ],
)
def test_other_files_are_refused_with_their_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "x.log.jsonl"
    path.write_text('{"event": "start"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"x\.log\.jsonl:2: .*{message}"):
        read_log(path)


def test_a_curve_leaves_times_out() -> None:
    found = curve_of([{"iteration": 1, "loss": 0.123456, "score": None, "details": {}, "seconds": 3.0}])
    assert found.to_dict() == {"iteration": [1], "loss": [0.1235]}


def test_a_line_of_bars() -> None:
    assert sparkline([1.0, None, 2.0]) == "▁ █"
    assert sparkline([5.0, 5.0]) == "▁▁"
    assert sparkline([]) == ""


def test_the_curve_is_in_the_model_and_the_same_when_resumed(
    recipe: Callable[..., Recipe], tmp_path: Path
) -> None:
    log = tmp_path / "a.log.jsonl"
    train(recipe(), Run(output=tmp_path / "a", log=log))
    notes = read_model(tmp_path / "a")[0]["notes"]
    (curve,) = read_log(log)
    assert notes["curve"] == curve.to_dict()
    assert len(notes["curve"]["dev"]) == 2

    def stop(_: IterationReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(recipe(), Run(output=tmp_path / "b", on_iteration=stop))
    train(recipe(), Run(output=tmp_path / "b", resume=True))
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()

"""Jobs in other processes: the same answers, in the same order, and models of the same bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import joblib
import pytest

from duilian.learning.jobs import has_workers, run_jobs
from golden.golden_models import lay_out, train_small

FOLDED = ("guided-word", "coupled-word-heard", "parser-2", "joint-parser")  # trained in folds, or by sides


@pytest.fixture
def workers() -> Iterator[None]:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        yield


def place(number: int) -> tuple[int, int, bool]:
    return number, os.getpid(), has_workers()


def test_jobs_stay_here_unless_joblib_is_told_otherwise() -> None:
    assert not has_workers()
    for threads in (1, 2):
        found = list(run_jobs(place, [(k,) for k in range(4)], threads))
        assert found == [(k, os.getpid(), False) for k in range(4)]


def test_jobs_run_in_other_processes_in_order(workers: None) -> None:
    assert has_workers()
    found = list(run_jobs(place, [(k,) for k in range(4)]))
    assert [number for number, _, _ in found] == [0, 1, 2, 3]
    assert os.getpid() not in {process for _, process, _ in found}
    assert not any(is_nested for _, _, is_nested in found)
    assert list(run_jobs(place, [(7,)])) == [(7, os.getpid(), True)]  # a single one is not worth the way


def test_an_error_in_a_job_is_told(workers: None) -> None:
    with pytest.raises(ZeroDivisionError):
        list(run_jobs(divmod, [(1, 1), (1, 0)]))


@pytest.mark.parametrize("name", FOLDED)
def test_models_have_the_same_bytes(name: str, workers: None, tmp_path: Path) -> None:
    lay_out(tmp_path)
    found = train_small(name, tmp_path).read_bytes()
    with joblib.parallel_config(backend="sequential"):
        assert train_small(name, tmp_path).read_bytes() == found

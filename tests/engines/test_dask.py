"""Dask, the real one, which `python tools/engines.py` installs: two worker processes of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: NOT RUN (python tools/engines.py runs it)")

import joblib
from distributed import Client, LocalCluster
from documents_for_engines import COUNT, expected_hash, table
from mixed_documents import ASK, sorted_hash
from pyarrow import parquet

import duilian as dl
from duilian.scale import ArrowAnalyzer
from golden.golden_models import lay_out, train_small
from learning.test_jobs import FOLDED
from scripts import load_script

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
        Client(cluster) as found,
    ):
        yield found


def probe(analyze: ArrowAnalyzer, part: Any) -> tuple[Any, int, int]:
    from duilian.scale.model_cache import loads

    return analyze(part), os.getpid(), loads()


def test_workers_give_the_answers_of_the_api_and_load_once(client: Client) -> None:
    analyze = ArrowAnalyzer(ask=ASK)
    parts = [table().slice(at, 100) for at in range(0, COUNT, 100)]
    # Dask takes all slices of a table for one argument, and would answer only the first.
    found = client.gather(client.map(probe, [analyze] * len(parts), parts, pure=False))
    assert sorted_hash(row for answer, _, _ in found for row in answer.to_pylist()) == expected_hash()
    assert len({pid for _, pid, _ in found}) <= 2
    assert {loads for _, _, loads in found} == {1}


def test_the_example_runs(client: Client, tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(table(), source, row_group_size=500)
    load_script("examples/arrow_engines.py").main(["dask", str(source), str(target)])
    assert sorted_hash(parquet.read_table(target).to_pylist()) == expected_hash()


def test_cells_of_a_study_run_on_the_workers(client: Client, tmp_path: Path) -> None:
    """One switch: the executor of a cluster instead of processes; the same figures."""
    here = dl.experiment("demo", tmp_path / "here", quick=True)
    there = dl.experiment("demo", tmp_path / "there", quick=True, executor=client.get_executor())
    assert there.rows() == here.rows()
    with joblib.parallel_config(backend="dask"):
        again = dl.experiment("demo", tmp_path / "again", quick=True)
    assert again.rows() == here.rows()


def test_the_command_takes_the_address_of_a_scheduler(client: Client, tmp_path: Path) -> None:
    address = client.scheduler.address
    command = ["experiment", "demo", "-o", str(tmp_path / "out"), "--quick", "--dask", address]
    done = subprocess.run([sys.executable, "-m", "duilian", *command], capture_output=True, text=True)
    assert (done.returncode, "2 of 2 cells" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("name", FOLDED)
def test_models_trained_on_the_cluster_have_the_same_bytes(client: Client, tmp_path: Path, name: str) -> None:
    lay_out(tmp_path)
    here = train_small(name, tmp_path).read_bytes()
    before = client.run(jobs_done)
    with joblib.parallel_config(backend="dask"):
        assert train_small(name, tmp_path).read_bytes() == here
    after = client.run(jobs_done)
    assert sum(after.values()) >= sum(before.values()) + 2


def jobs_done(dask_worker: Any) -> int:
    """How many tasks a worker has finished."""
    return int(dask_worker.state.transition_counter)

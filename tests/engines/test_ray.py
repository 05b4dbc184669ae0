"""Ray Data, the real one, which `python tools/engines.py` installs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="Ray is not installed: NOT RUN (python tools/engines.py runs it)")

import joblib
import pyarrow as pa
import ray
from documents_for_engines import FAULTS, analyzer_of_own_model, expected_hash, spoiled, table
from mixed_documents import ASK, sorted_hash
from ray.util.joblib import register_ray

import duilian as dl
from duilian.errors import ConfigError
from duilian.scale import ArrowAnalyzer
from duilian.scale.ray_data import BatchAnalyzer, analyze_dataset
from golden.golden_models import lay_out, train_small
from learning.test_jobs import FOLDED

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]
ACTORS: dict[str, Any] = {
    "batch_format": "pyarrow",
    "batch_size": 100,
    "compute": ray.data.ActorPoolStrategy(size=2),
    "num_cpus": 0.5,
}


@pytest.fixture(scope="module")
def dataset() -> Iterator[Any]:
    tests = Path(__file__).parent.parent
    folders = os.pathsep.join(map(str, (tests, tests / "engines", tests / "scale")))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200_000_000,
        runtime_env={"env_vars": {"PYTHONPATH": folders}},  # workers import this module
    )
    yield ray.data.from_arrow(table()).repartition(8)
    ray.shutdown()


class Probe(BatchAnalyzer):
    """Adds the process, and how many models it has loaded."""

    def __call__(self, batch: Any) -> Any:
        from duilian.scale.model_cache import loads

        found = super().__call__(batch)
        count = len(found)
        return found.append_column("pid", [[os.getpid()] * count]).append_column("loads", [[loads()] * count])


class Deadly(BatchAnalyzer):
    """Kills its process once, in the middle."""

    def __init__(self, analyze: ArrowAnalyzer, mark: str) -> None:
        super().__init__(analyze)
        self._mark = mark

    def __call__(self, batch: Any) -> Any:
        found = super().__call__(batch)
        if not os.path.exists(self._mark):
            Path(self._mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return found


def test_map_batches_gives_the_answers_of_the_api(dataset: Any) -> None:
    found = analyze_dataset(dataset, ArrowAnalyzer(ask=ASK), workers=2)
    assert sorted_hash(found.take_all()) == expected_hash()


def test_a_model_is_loaded_once_a_worker(dataset: Any) -> None:
    found = dataset.map_batches(Probe, fn_constructor_args=(ArrowAnalyzer(ask=ASK),), **ACTORS).take_all()
    assert len({row["pid"] for row in found}) <= 2
    assert {row["loads"] for row in found} == {1}


def test_a_killed_worker_loses_and_doubles_nothing(dataset: Any, tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")
    found = dataset.map_batches(
        Deadly, fn_constructor_args=(ArrowAnalyzer(ask=ASK), mark), **ACTORS
    ).take_all()
    assert sorted_hash(found) == expected_hash()
    assert os.path.exists(mark)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_driver_says_what_is_wrong_with_a_worker(dataset: Any, tmp_path: Path, fault: str) -> None:
    few = ray.data.from_arrow(table().slice(0, 10))
    worker = spoiled(analyzer_of_own_model(tmp_path), fault)
    job = few.map_batches(BatchAnalyzer, fn_constructor_args=(worker,), **ACTORS)
    with pytest.raises(ray.exceptions.RayTaskError, match=FAULTS[fault]):
        job.take_all()


def test_wrong_columns_are_refused(dataset: Any) -> None:
    analyze = ArrowAnalyzer(ask=ASK)
    with pytest.raises(ConfigError, match="the texts must be strings, got int64"):
        analyze_dataset(ray.data.from_arrow(pa.table({"text": [1]})), analyze, workers=2)
    hidden = ray.data.range(10).map_batches(lambda batch: {"text": batch["id"]})  # Ray knows nothing of it
    with pytest.raises(ray.exceptions.RayTaskError, match="the texts must be strings, got int64"):
        analyze_dataset(hidden, analyze, workers=2).take_all()


@pytest.mark.parametrize("name", FOLDED)
def test_models_trained_on_the_cluster_have_the_same_bytes(dataset: Any, tmp_path: Path, name: str) -> None:
    lay_out(tmp_path)
    here = train_small(name, tmp_path).read_bytes()
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=-1):  # one, if we do not say so
        assert joblib.effective_n_jobs(None) == 2
        assert train_small(name, tmp_path).read_bytes() == here


def test_cells_of_a_study_run_on_the_workers(dataset: Any, tmp_path: Path) -> None:
    here = dl.experiment("demo", tmp_path / "here", quick=True)
    register_ray()
    with joblib.parallel_config(backend="ray", n_jobs=-1):
        there = dl.experiment("demo", tmp_path / "there", quick=True)
    assert there.rows() == here.rows()

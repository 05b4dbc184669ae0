"""Spark, the real one: needs Java and pyspark, which `python tools/engines.py` installs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: NOT RUN (python tools/engines.py runs it)")

import pyarrow as pa
from documents_for_engines import COUNT, FAULTS, PROBE, analyzer_of_own_model, expected_hash, spoiled, table
from mixed_documents import ASK, sorted_hash
from pyarrow import parquet
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from duilian.errors import ConfigError
from duilian.scale import ArrowAnalyzer
from duilian.scale.spark import PartitionAnalyzer, analyze_frame, register_function

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    found = (
        SparkSession.builder.master(os.environ.get("DUILIAN_SPARK", "local[2,4]"))
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    yield found
    found.stop()


@pytest.fixture(scope="module")
def frame(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("docs")
    step = COUNT // 8
    for k in range(8):
        parquet.write_table(table().slice(k * step, step), folder / f"{k}.parquet")
    return session.read.parquet(str(folder)).repartition(8)


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a job, by Arrow: an object of Spark for each word would take longer than the analysis."""
    found: list[dict[str, Any]] = frame.toArrow().to_pylist()
    return found


def test_map_in_arrow_gives_the_answers_of_the_api(frame: Any) -> None:
    assert sorted_hash(rows_of(analyze_frame(frame, ArrowAnalyzer(ask=ASK)))) == expected_hash()


def test_a_model_is_loaded_once_a_worker(frame: Any) -> None:
    analyze = ArrowAnalyzer(ask=ASK)

    def probe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from duilian.scale.model_cache import loads

        for _ in PartitionAnalyzer(analyze)(batches):
            yield pa.RecordBatch.from_pylist([{"pid": os.getpid(), "loads": loads()}], PROBE)

    found = rows_of(frame.mapInArrow(probe, "pid long, loads long"))
    loads = {row["pid"]: max(each["loads"] for each in found if each["pid"] == row["pid"]) for row in found}
    assert len(loads) <= 2
    assert set(loads.values()) == {1}


def test_a_killed_worker_loses_and_doubles_nothing(frame: Any, tmp_path: Path) -> None:
    analyze, mark = ArrowAnalyzer(ask=ASK), str(tmp_path / "killed")

    def deadly(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for k, part in enumerate(PartitionAnalyzer(analyze)(batches)):
            yield part
            if k == 0 and not os.path.exists(mark):
                Path(mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)

    schema = analyze_frame(frame, analyze).schema
    assert sorted_hash(rows_of(frame.mapInArrow(deadly, schema))) == expected_hash()
    assert os.path.exists(mark)


def test_sql(session: SparkSession, frame: Any) -> None:
    register_function(session, "words_of", ArrowAnalyzer(ask=ASK))
    frame.createOrReplaceTempView("docs")
    found = session.sql("SELECT id, a.pku, a.error FROM (SELECT id, words_of(text) AS a FROM docs)")
    assert sorted_hash(rows_of(found)) == expected_hash()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_driver_says_what_is_wrong_with_a_worker(
    session: SparkSession, tmp_path: Path, fault: str
) -> None:
    analyze, few = analyzer_of_own_model(tmp_path), session.sql("SELECT '好' AS text")
    schema = analyze_frame(few, analyze).schema
    job = few.mapInArrow(PartitionAnalyzer(spoiled(analyze, fault)), schema)
    with pytest.raises(PythonException, match=FAULTS[fault]):
        job.collect()


def test_wrong_columns_are_refused(session: SparkSession) -> None:
    analyze = ArrowAnalyzer(ask=ASK)
    with pytest.raises(ConfigError, match="the texts must be strings, got int64"):
        analyze_frame(session.sql("SELECT 1L AS text"), analyze)
    register_function(session, "words_of", analyze)
    with pytest.raises(PythonException, match="the texts must be strings, got int64"):
        session.sql("SELECT words_of(1L)").collect()

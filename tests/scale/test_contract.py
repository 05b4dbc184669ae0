"""The same documents through the API, `run`, DuckDB and Polars give the same answers."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from mixed_documents import ASK, api_hash, documents, sorted_hash
from pyarrow import parquet

from duilian import load
from duilian.scale import ArrowAnalyzer, FolderRun
from duilian.scale.input_parts import find_parts
from scripts import load_script

COUNT = int(os.environ.get("DUILIAN_DOCUMENTS", "1500"))
TEXTS = documents(COUNT, seed=1)


@pytest.fixture(scope="module")
def expected() -> str:
    return api_hash(load(), TEXTS)


@pytest.fixture(scope="module")
def analyze() -> ArrowAnalyzer:
    return ArrowAnalyzer(ask=ASK)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table({"id": range(len(TEXTS)), "text": pa.array(TEXTS, pa.string())})


def test_run(expected: str, analyze: ArrowAnalyzer, table: pa.Table, tmp_path: Path) -> None:
    step = COUNT // 3 + 1
    for k in range(3):
        parquet.write_table(table.slice(step * k, step), tmp_path / f"{k}.parquet", row_group_size=200)
    run = FolderRun(find_parts([str(tmp_path)], None, tmp_path / "out"), tmp_path / "out", analyze)
    last = list(run)[-1]
    assert (last.finished, last.documents, run.failures) == (3, COUNT, [])
    assert sorted_hash(parquet.read_table(tmp_path / "out").to_pylist()) == expected


def test_duckdb(expected: str, analyze: ArrowAnalyzer, table: pa.Table) -> None:
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.register("docs", table)
    con.register("empty", pa.table({"answer": pa.array([], analyze.answer_type)}))
    (kind,) = con.sql("SELECT answer FROM empty").types
    con.create_function(
        "words_of", analyze.answers, [duckdb.sqltypes.VARCHAR], kind, type="arrow", null_handling="special"
    )
    rows = con.sql("SELECT id, words_of(text) AS answer FROM docs").to_arrow_table().to_pylist()
    assert sorted_hash({"id": row["id"], **row["answer"]} for row in rows) == expected


def test_polars(expected: str, analyze: ArrowAnalyzer, table: pa.Table) -> None:
    answers = pl.col("text").map_batches(
        lambda texts: pl.Series(analyze.answers(texts.to_arrow())),
        return_dtype=pl.from_arrow(pa.array([], analyze.answer_type)).dtype,
    )
    frame = pl.from_arrow(table).lazy().with_columns(answers.alias("answer")).unnest("answer").collect()
    assert sorted_hash(frame.to_dicts()) == expected


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_the_example_runs(expected: str, table: pa.Table, tmp_path: Path, engine: str) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    parquet.write_table(table, source)
    load_script("examples/arrow_engines.py").main([engine, str(source), str(target)])
    assert sorted_hash(parquet.read_table(target).to_pylist()) == expected

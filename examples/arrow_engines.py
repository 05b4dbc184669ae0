"""Analyse a Parquet file with the engine that you run already; each takes a few lines.

python examples/arrow_engines.py duckdb texts.parquet words.parquet
python examples/arrow_engines.py polars texts.parquet words.parquet
python examples/arrow_engines.py dask texts.parquet words.parquet
"""

from __future__ import annotations

import sys

import pyarrow as pa

import duilian as dl
from duilian.scale import ArrowAnalyzer

# DuckDB and Polars call a function from one thread, so give it several; in Dask, take 1.
ANALYZE = ArrowAnalyzer(ask=dl.Ask(standards=("pku",), trees=False), threads=2)


def with_duckdb(source: str, target: str) -> None:
    import duckdb

    con = duckdb.connect()
    con.register("example", pa.table({"answer": pa.array([], ANALYZE.answer_type)}))
    (kind,) = con.sql("SELECT answer FROM example").types
    given = [duckdb.sqltypes.VARCHAR]
    con.create_function("words_of", ANALYZE.answers, given, kind, type="arrow", null_handling="special")
    query = f"SELECT * EXCLUDE answer, answer.* FROM (SELECT *, words_of(text) AS answer FROM '{source}')"
    con.sql(f"COPY ({query}) TO '{target}'")


def with_polars(source: str, target: str) -> None:
    import polars as pl

    kind = pl.Series(pa.array([], ANALYZE.answer_type)).dtype
    answer = pl.col("text").map_batches(lambda texts: pl.Series(ANALYZE.answers(texts.to_arrow())), kind)
    frame = pl.scan_parquet(source).with_columns(answer.alias("answer"))
    frame.unnest("answer").collect().write_parquet(target)


def with_dask(source: str, target: str) -> None:
    import dask
    from pyarrow import parquet

    # The callable travels to workers as a path; each loads the model once.
    work = dask.delayed(lambda group: ANALYZE(parquet.ParquetFile(source).read_row_group(group)))
    groups = range(parquet.ParquetFile(source).metadata.num_row_groups)
    parquet.write_table(pa.concat_tables(dask.compute(*map(work, groups))), target)


def main(arguments: list[str]) -> None:
    engine, source, target = arguments
    {"duckdb": with_duckdb, "polars": with_polars, "dask": with_dask}[engine](source, target)
    print(f"{target}: done with {engine}")


if __name__ == "__main__":
    main(sys.argv[1:])

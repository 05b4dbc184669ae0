"""Analyse Parquet files with Spark, on this machine or a cluster.

    python examples/spark_job.py texts/ words/
    spark-submit --files zh.model examples/spark_job.py texts/ words/ zh.model    # ships your own model

See docs/howto/scale.md for batch size, memory and threads.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

import duilian as dl
from duilian.scale import ArrowAnalyzer
from duilian.scale.spark import analyze_frame


def main(source: str, target: str, model: str | None = None) -> None:
    spark = (
        SparkSession.builder.appName("duilian")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .getOrCreate()
    )
    analyze = ArrowAnalyzer(model=model, ask=dl.Ask(standards=("pku",), trees=False))
    analyze_frame(spark.read.parquet(source), analyze).write.mode("overwrite").parquet(target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Spark: a few lines over the Arrow callable.

Ship the model with `--files` or put it on a path that every machine has; never broadcast it. Give each Python
worker one thread, and let `spark.sql.execution.arrow.maxRecordsPerBatch` suit the length of your documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duilian.scale.arrow import pa
from duilian.scale.arrow_analyzer import ArrowAnalyzer


class PartitionAnalyzer:
    """The callable for `mapInArrow`: batches of a partition in, the same rows with their analysis out."""

    def __init__(self, analyze: ArrowAnalyzer) -> None:
        self._analyze = analyze

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from self._analyze.parts(batch)


def analyze_frame(frame: Any, analyze: ArrowAnalyzer) -> Any:
    """Return a Spark data frame with the analysis of its texts."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    schema = from_arrow_schema(analyze.schema(to_arrow_schema(frame.schema)))
    return frame.mapInArrow(PartitionAnalyzer(analyze), schema)


def register_function(session: Any, name: str, analyze: ArrowAnalyzer) -> None:
    """Make the analysis a function of Spark SQL, from a string to a struct: `SELECT name(text).pku`."""
    from pyspark.sql.functions import arrow_udf  # Spark 4.1
    from pyspark.sql.pandas.types import from_arrow_type

    def answers(texts: pa.Array) -> pa.Array:
        return analyze.answers(texts)

    session.udf.register(name, arrow_udf(answers, from_arrow_type(analyze.answer_type)))

"""Chinese words in Spark: Duilian by `mapInArrow` and by a function of one text, and jieba as people use it.

    python benchmarks/spark_functions.py FILE [--documents 2000] [--rounds 3]

Needs Java, pyspark and jieba. One core, wall time of whole jobs in interleaved rounds, after one that starts
the workers and loads the models.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import duilian as dl
from duilian.scale import ArrowAnalyzer
from duilian.scale.spark import analyze_frame

ASK = dl.Ask(standards=("pku",), trees=False)
FAST = dl.Ask(standards=("pku",), trees=False, tags=False, fast=True)
WORDS = "array<string>"
TAGGED = "array<struct<word:string,tag:string>>"


def duilian_row(text: str) -> list[tuple[str, str]]:
    doc = ArrowAnalyzer(ask=ASK).place.analyzer()(text, ask=ASK)
    return [(each.text, each.tag or "") for each in doc]


def jieba_words(text: str) -> list[str]:
    import jieba

    return jieba.lcut(text)


def jieba_tags(text: str) -> list[tuple[str, str]]:
    import jieba.posseg

    return [(each.word, each.flag) for each in jieba.posseg.cut(text)]


def ways_of(frame: Any) -> dict[str, Callable[[], Any]]:
    """Each way as a frame with a column of words."""

    def by_function(function: Callable[[str], Any], kind: str) -> Callable[[], Any]:
        return lambda: frame.select(udf(function, kind)("text").alias("words"))

    return {
        "Duilian, words and tags, mapInArrow": lambda: analyze_frame(frame, ArrowAnalyzer(ask=ASK)),
        "Duilian, words and tags, udf": by_function(duilian_row, TAGGED),
        "Duilian, fast words, mapInArrow": lambda: analyze_frame(frame, ArrowAnalyzer(ask=FAST)),
        "jieba, words and tags, udf": by_function(jieba_tags, TAGGED),
        "jieba, words, udf": by_function(jieba_words, WORDS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    lines = [line for line in asked.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = (lines * (asked.documents // len(lines) + 1))[: asked.documents]
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.createDataFrame([(text,) for text in texts], "text string").repartition(1).cache()
    frame.count()
    ways, spent = ways_of(frame), {}
    for number in range(asked.rounds + 1):
        for way, make in ways.items():
            start = time.monotonic()
            make().write.format("noop").mode("overwrite").save()
            if number:
                spent.setdefault(way, []).append(time.monotonic() - start)
    characters = sum(map(len, texts))
    print(f"{len(texts):,} documents, {characters:,} characters, median of {asked.rounds} rounds")
    for way, seconds in spent.items():
        print(f"{way:38} {characters / statistics.median(seconds):12,.0f} characters/s")
    session.stop()


if __name__ == "__main__":
    main()

"""Analyse Parquet files with Ray Data, on this machine or a cluster.

    python examples/ray_job.py texts/ words/ 2

The last argument is the number of actors. See docs/howto/scale.md for CPUs, batch size and memory.
"""

from __future__ import annotations

import sys

import ray

import duilian as dl
from duilian.scale import ArrowAnalyzer
from duilian.scale.ray_data import analyze_dataset


def main(source: str, target: str, workers: str) -> None:
    analyze = ArrowAnalyzer(ask=dl.Ask(standards=("pku",), trees=False))
    analyze_dataset(ray.data.read_parquet(source), analyze, workers=int(workers)).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])

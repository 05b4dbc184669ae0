"""Ray Data: a few lines over the Arrow callable."""

from __future__ import annotations

from typing import Any

from duilian.scale.arrow import pa
from duilian.scale.arrow_analyzer import ArrowAnalyzer


class BatchAnalyzer:
    """An actor for Ray Data, which loads the model once; a function would load it in every task."""

    def __init__(self, analyze: ArrowAnalyzer) -> None:
        self._analyze = analyze

    def __call__(self, batch: Any) -> Any:
        return self._analyze(batch)


def analyze_dataset(
    dataset: Any, analyze: ArrowAnalyzer, *, workers: int, cpus: float = 0.5, rows: int = 2048
) -> Any:
    """Return a Ray dataset with the analysis of its texts.

    Each actor reserves `cpus`. Together they must leave some free, or the tasks that read data wait forever.
    Wrong columns are refused here if Ray knows them, otherwise by the first actor that meets them.
    """
    import ray

    known = dataset.schema(fetch_if_missing=False)
    if known is not None and isinstance(known.base_schema, pa.Schema):
        analyze.schema(known.base_schema)
    return dataset.map_batches(
        BatchAnalyzer,
        fn_constructor_args=(analyze,),
        batch_format="pyarrow",
        batch_size=rows,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=cpus,
    )

"""Independent jobs, which run one after the other here, or wherever joblib is told to run them.

    with joblib.parallel_config(backend="dask", n_jobs=-1):
        recipe.train(...)

The caller decides; the results are the same, in the same order. Functions, arguments and results travel to
other processes, so they hold no open files and no progress callbacks.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from duilian import _native

Answer = TypeVar("Answer")


def run_jobs(
    job: Callable[..., Answer], arguments: Sequence[tuple[Any, ...]], threads: int = 1
) -> Iterator[Answer]:
    """Yield `job(*each)` for each of the arguments, in order; without joblib, in this many threads."""
    if len(arguments) > 1 and has_workers():
        yield from _run_elsewhere(job, arguments)
    elif threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(lambda each: job(*each), arguments)
    else:
        yield from (job(*each) for each in arguments)


def run_jobs_elsewhere(job: Callable[..., Answer], arguments: Sequence[tuple[Any, ...]]) -> Iterator[Answer]:
    """Yield `job(*each)` for each of the arguments on joblib's workers, whichever is ready first.

    A backend that cannot do that, as Ray's, yields them all when the last is ready.
    """
    import joblib

    backend, _ = joblib.parallel.get_active_backend()
    form = "generator_unordered" if backend.supports_return_generator else "list"
    parallel = joblib.Parallel(batch_size=1, max_nbytes=None, return_as=form)
    yield from parallel(joblib.delayed(_run_alone)(job, each) for each in arguments)


def has_workers() -> bool:
    """Whether joblib has been imported and told to use several workers."""
    joblib = sys.modules.get("joblib")
    return joblib is not None and joblib.effective_n_jobs(None) > 1


def _run_elsewhere(job: Callable[..., Answer], arguments: Sequence[tuple[Any, ...]]) -> list[Answer]:
    import joblib

    # Arrays travel with their jobs: memory-mapped files would exist on this machine only.
    parallel = joblib.Parallel(batch_size=1, max_nbytes=None)
    found: list[Answer] = parallel(joblib.delayed(_run_alone)(job, each) for each in arguments)
    return found


def _run_alone(job: Callable[..., Answer], arguments: tuple[Any, ...]) -> Answer:
    """Run a job with its own jobs in the same worker: workers that wait for each other may wait forever."""
    import joblib

    with joblib.parallel_config(backend="sequential"):
        return job(*arguments)


def _parts_of_rows(rows: _native.FeatureRows) -> tuple[Any, ...]:
    return _native.FeatureRows, (rows.first, rows.rows, rows.strength)


def _parts_of_sets(sets: _native.TagSets) -> tuple[Any, ...]:
    return _native.TagSets, (sets.first, sets.tags)


def _parts_of_pruning(pruning: _native.Pruning) -> tuple[Any, ...]:
    candidates = (pruning.max_candidates, pruning.candidate_mass)
    return _native.Pruning, (*candidates, pruning.negligible_share, pruning.coarse_window)


copyreg.pickle(_native.FeatureRows, _parts_of_rows)
copyreg.pickle(_native.TagSets, _parts_of_sets)
copyreg.pickle(_native.Pruning, _parts_of_pruning)

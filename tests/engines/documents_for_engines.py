"""The documents that every engine gets, and what the Python API says of them."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import sys
from pathlib import Path

import pyarrow as pa

sys.path.append(str(Path(__file__).parent.parent / "scale"))

from mixed_documents import ASK, api_hash, documents

from duilian import load
from duilian.engine.loading import find_model
from duilian.scale import ArrowAnalyzer

COUNT = int(os.environ.get("DUILIAN_DOCUMENTS", "2000"))
FAULTS = {
    "missing": r"own\.model: the job's model is not on this worker",
    "different": r"own\.model: a different model \(checksum \w+\) from the job's",
    "version": r"this worker has duilian .*, but the job started with 0\.0",
}  # of a worker, and what the driver's error says
PROBE = pa.schema([("pid", pa.int64()), ("loads", pa.int64())])


def table() -> pa.Table:
    """The documents with their numbers."""
    return pa.table({"id": range(COUNT), "text": pa.array(documents(COUNT, seed=2), pa.string())})


@functools.cache
def expected_hash() -> str:
    """The hash of the answers of the Python API; `tools/engines.py` asks once for all suites."""
    return os.environ.get("DUILIAN_EXPECTED_HASH") or api_hash(load(), documents(COUNT, seed=2))


def analyzer_of_own_model(folder: Path) -> ArrowAnalyzer:
    """An analyser whose model is a file of its own, which the driver has loaded."""
    path = folder / "own.model"
    shutil.copy(find_model(None), path)
    found = ArrowAnalyzer(model=str(path), ask=ASK)
    found.place.analyzer()
    return found


def spoiled(analyze: ArrowAnalyzer, fault: str) -> ArrowAnalyzer:
    """What workers get, after their model or their version is no longer the driver's."""
    assert analyze.model is not None
    path = Path(analyze.model)
    if fault == "missing":
        path.unlink()
    elif fault == "different":
        path.write_bytes(path.read_bytes()[::-1])
    else:
        return dataclasses.replace(analyze, place=analyze.place._replace(version="0.0"))
    return analyze

"""The documents that every engine gets, and what the Python API says of them."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pyarrow as pa

sys.path.append(str(Path(__file__).parent.parent / "scale"))

from mixed_documents import api_hash, documents

from duilian import load

COUNT = int(os.environ.get("DUILIAN_DOCUMENTS", "2000"))
PROBE = pa.schema([("pid", pa.int64()), ("loads", pa.int64())])


def table() -> pa.Table:
    """The documents with their numbers."""
    return pa.table({"id": range(COUNT), "text": pa.array(documents(COUNT, seed=2), pa.string())})


@functools.cache
def expected_hash() -> str:
    """The hash of the answers of the Python API."""
    return api_hash(load(), documents(COUNT, seed=2))

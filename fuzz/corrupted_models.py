"""Damaged model files: none is ever accepted, and each is refused with a ModelFileError.

    python fuzz/corrupted_models.py --runs 10000 --seed 1
    python fuzz/corrupted_models.py --runs 1000 --models a.model b.model

Bits flip, bytes change, blocks are lost, repeated, swapped, zeroed or cut off. The checksum is not mended.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from duilian.errors import ModelFileError
from duilian.modelfile import read_model, write_model


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """The file after one accident; never the file itself."""
    while True:
        at, to = sorted((rng.randrange(len(raw)), rng.randrange(len(raw))))
        match rng.randrange(8):
            case 0:
                found = raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]
            case 1:
                found = raw[:at] + rng.randbytes(min(8, len(raw) - at)) + raw[at + 8 :]
            case 2:
                found = raw[:at]
            case 3:
                found = raw[:at] + raw[to:]
            case 4:
                found = raw[:to] + raw[at:]
            case 5:
                found = raw[:at] + bytes(to - at) + raw[to:]
            case 6:
                found = raw + rng.randbytes(rng.randrange(1, 100))
            case _:
                found = raw[to:] + raw[at:to] + raw[:at]
        if found != raw:
            return found


def judge(path: Path) -> str:
    """What became of a file: refused, or a finding."""
    try:
        read_model(path)
    except ModelFileError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


def attack(model: Path, folder: Path, runs: int, seed: int) -> collections.Counter[str]:
    """Judge damaged copies of a model."""
    raw, path, outcomes = model.read_bytes(), folder / "damaged.model", collections.Counter[str]()
    for run in range(runs):
        path.write_bytes(damaged(random.Random(f"{seed} {run}"), raw))
        outcomes[judge(path)] += 1
    return outcomes


def small_model(folder: Path) -> Path:
    """A model with arrays of several types, one of them empty."""
    path = folder / "small.model"
    arrays = {
        "weight": np.linspace(-1, 1, 90, dtype="<f4").reshape(9, 10),
        "label": np.arange(33, dtype="<u2"),
        "used": np.array([True, False, True]),
        "none": np.zeros((0, 4)),
    }
    write_model(path, {"kind": "crf", "tags": ["名", "动"], "config": {"level": "char"}}, arrays)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--models", type=Path, nargs="*", help="Models to damage copies of; a small one if none is given."
    )
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        models = options.models or [small_model(Path(name))]
        outcomes = collections.Counter[str]()
        for model in models:
            outcomes += attack(model, Path(name), -(-options.runs // len(models)), options.seed)
    print(dict(outcomes), f"{time.monotonic() - began:.0f} s")
    sys.exit(set(outcomes) != {"refused"})


if __name__ == "__main__":
    main()

"""Writes a model again, smaller: weights in another precision, all else as this version stores it.

    python tools/repack.py MODEL OUT [--precision int4]

`precision` in `[saving]` does the same in training. Weights that already have few bits get no more with
a higher precision.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from duilian.modelfile import read_model
from duilian.models.base.precision import Precision
from duilian.models.registry import SUITE, estimator_of
from duilian.models.suite.model import Suite


def main() -> None:
    """Write the model again and print both sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--precision", choices=get_args(Precision), default="int4")
    options = parser.parse_args()
    header, _ = read_model(options.model)
    kind = Suite if header["kind"] == SUITE else estimator_of(header["kind"])
    found = kind.load(options.model)
    found.save(options.out, precision=options.precision, notes=header["notes"])
    print(f"{options.model.stat().st_size:,} bytes → {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

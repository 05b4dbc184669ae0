"""Segmentation of raw text, with and without tags: characters per CPU second on one thread.

python benchmarks/characters.py --data DIR        # DIR/zx
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from duilian.corpus import read
from duilian.models import Tagger
from measure import Row, show

COPIES = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--plot")
    options = parser.parse_args()
    train, dev = (
        read(str(options.data / "zx" / f"{part}.wordpos"), standard="ctb") for part in ("train", "dev")
    )
    text = "".join(sentence.text + "\n" for sentence in dev) * COPIES
    rows: list[Row] = []
    for name, segment_only in (("words and tags", False), ("words only", True)):
        tagger = Tagger("ctb", level="char", segment_only=segment_only).fit(train, dev=dev).trim(0.02)
        source = text.encode()
        times = []
        for _ in range(3):
            start = time.process_time()
            tagger.tag_lines(source)
            times.append(time.process_time() - start)
        rows.append((name, len(text) / min(times) / 1e3, f"F1 {100 * tagger.score(dev):.2f}"))
    show(f"zx, {len(text):,} characters", "1000 characters/s", rows, options.plot)


if __name__ == "__main__":
    main()

"""Reading a corpus, counting features, and extracting them with index look-up: words per second on one core.

python benchmarks/features.py --data DIR        # DIR/pd/train.txt
python benchmarks/features.py --file my.txt --standard pku
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from duilian import _native
from duilian.corpus import read
from duilian.features import Templates, pack
from duilian.text import Folding
from measure import Row, best_seconds, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--standard", default="pku")
    parser.add_argument("--templates", default="pos-word")
    parser.add_argument("--plot")
    options = parser.parse_args()
    path = options.file or (options.data / "pd" / "train.txt" if options.data else None)
    if path is None:
        parser.error("name a corpus: --data DIR or --file FILE")

    start = time.perf_counter()
    corpus = read(str(path), standard=options.standard)
    reading = time.perf_counter() - start
    sentences = [sentence[options.standard].words for sentence in corpus]
    words = sum(map(len, sentences))
    templates = Templates.load(options.templates)
    start = time.perf_counter()
    packed = pack(sentences, Folding())
    packing = time.perf_counter() - start
    start = time.perf_counter()
    keys = _native.count_keys(templates.native, packed, 1)
    counting = time.perf_counter() - start
    index = _native.FeatureIndex(keys)
    extracting = best_seconds(lambda: _native.extract_rows(templates.native, packed, index, 1), 5)
    thousand = words / 1e3
    rows: list[Row] = [
        ("read", thousand / reading, f"{reading:.2f} s for {path.stat().st_size / 1e6:.1f} MB"),
        ("pack (fold, hash)", thousand / packing, f"{packing:.2f} s"),
        ("count features", thousand / counting, f"{counting:.2f} s, {len(keys):,} features"),
        ("extract + look up", thousand / extracting, f"{extracting:.2f} s, {len(index):,} keys"),
    ]
    show(f"{path.name}, {words:,} words, {options.templates}", "k words/s", rows, options.plot)


if __name__ == "__main__":
    main()

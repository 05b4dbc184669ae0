"""Segment lines of raw text with one segmenter, as its users would; run by speed.py in its own process.

    python -P segmenters.py NAME TEXT ANSWER [MODEL]

Writes the words of each line separated by spaces (with tags as word/TAG) and prints time and memory as JSON.
The interpreter needs only the peer: Duilian is not imported for others. `-P` hides the modules next to this
file, some of which have names of peers.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

Cut = Callable[[list[str]], Iterable[Iterable[str]]]


def jieba(name: str = "jieba") -> Cut:
    module = importlib.import_module(name)
    module.setLogLevel(logging.WARNING)
    module.initialize()
    return lambda lines: (module.lcut(line) for line in lines)


def jieba_posseg() -> Cut:
    jieba()
    module = importlib.import_module("jieba.posseg")
    return lambda lines: ([f"{word}/{tag}" for word, tag in module.lcut(line)] for line in lines)


def jieba_fast() -> Cut:
    return jieba("jieba_fast")


def rjieba() -> Cut:
    module = importlib.import_module("rjieba")
    return lambda lines: (module.cut(line) for line in lines)


def pkuseg() -> Cut:
    segmenter = importlib.import_module("spacy_pkuseg").pkuseg()
    return lambda lines: (segmenter.cut(line) for line in lines)


def thulac() -> Cut:
    segmenter = importlib.import_module("thulac").thulac(seg_only=True)
    return lambda lines: ((word for word, _ in segmenter.cut(line)) for line in lines)


def snownlp() -> Cut:
    module = importlib.import_module("snownlp")
    return lambda lines: (module.SnowNLP(line).words for line in lines)


def named_model(variable: str) -> str:
    """The path of a model that is not in the package."""
    if variable not in os.environ:
        sys.exit(f"no model: {variable} names none")
    return os.environ[variable]


def ltp_perceptron() -> Cut:
    path = named_model("LTP_CWS")
    segmenter = importlib.import_module("ltp_extension.perceptron").CWSModel.load(path)
    return lambda lines: (segmenter.predict(line) for line in lines)


def vaporetto() -> Cut:
    path = named_model("VAPORETTO")
    segmenter = importlib.import_module("vaporetto").Vaporetto(Path(path).read_bytes())
    return lambda lines: (segmenter.tokenize_to_string(line).split(" ") for line in lines)


def duilian_both(model: str) -> Cut:
    """Words and tags in every standard."""
    analyzer = importlib.import_module("duilian").load(model)
    bare = type(analyzer)(analyzer.model)
    return lambda lines: (doc.words("pku") for doc in bare.pipe(lines))


def duilian_trees(model: str) -> Cut:
    """Words, tags and trees."""
    analyzer = importlib.import_module("duilian").load(model)
    return lambda lines: (doc.words("pku") for doc in analyzer.pipe(lines))


def duilian_fast(model: str) -> Cut:
    """Words only, by the fast segmenter."""
    analyzer = importlib.import_module("duilian").load(model)
    return lambda lines: analyzer.segment(lines, fast=True)


def duilian_segment(model: str) -> Cut:
    """Words only, in one standard."""
    analyzer = importlib.import_module("duilian").load(model)
    return lambda lines: analyzer.segment(lines, "pku")


SEGMENTERS = (jieba, jieba_fast, jieba_posseg, rjieba, pkuseg, thulac, snownlp, ltp_perceptron, vaporetto)
OURS = (duilian_fast, duilian_segment, duilian_both, duilian_trees)


def main() -> None:
    name, source, target, *model = sys.argv[1:]
    make = next(each for each in (*SEGMENTERS, *OURS) if each.__name__ == name)
    start = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):  # some print loading times
        cut = make(*model)
        loaded = time.process_time()
        lines = Path(source).read_text(encoding="utf-8").splitlines()
        list(cut(lines[:5]))
        begin = time.process_time()
        answers = [list(words) for words in cut(lines)]
        spent = time.process_time() - begin
    Path(target).write_text("".join(" ".join(words) + "\n" for words in answers), encoding="utf-8")
    print(json.dumps({"load": loaded - start, "seconds": spent, "peak_mb": peak_mb()}))


def peak_mb() -> float:
    """Return the peak of this process alone; getrusage() includes its parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return math.nan


if __name__ == "__main__":
    main()

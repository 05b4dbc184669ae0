"""Texts of strange shapes, up to a million characters: time must be linear and memory bounded.

    python fuzz/long_texts.py --most 1000000
    python fuzz/long_texts.py --model a.model --most 100000

Each shape is asked at a sixteenth, a quarter and all of the length; the slope is that of log time over log
length, between the last two. By default a small tagger is asked, which is trained first.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import duilian as dl
from golden.golden_models import lay_out, train_small
from random_texts import lost

MOST_SLOPE = 1.25
LEAST_SECONDS = 0.05  # shorter times say nothing
MOST_BYTES = 3000  # of memory, for a character
PIECES = (
    "中", "我们", "的", "我们明天去北京。", "。", "，", "！？", "…", "—", "“", "”", "（", "）", "（）",
    "《中》", "a", "A", "a ", "ab cd ", "aB", "iPhone 15 ", "Latin words and more ", "a中", "中 ",
    "中\u3000", "a.", "a-", "1", "1 ", "1.", "1,", "１", "2026年11月18日", "3.14%", "￥5", "+86 ", "U.S.A.",
    "http://a.b/c?d=e ", "http://", "www.", "a@b.cn ", "@", "#", "#话题#", "@a ", "<b>", "<", "&nbsp;", "&",
    "\n", "\r\n", "\r", " ", "\t", "\u200b", "\u200d", "\ufeff", "\0", "\u0301", "e\u0301", "😀",
    "👨\u200d👩\u200d", "🇨", "🇨🇳", "𠀀", "한국", "ア", "\U0010ffff", "/", "\\", "'", "\"", "=", "_",
)  # fmt: skip
ENDS = (("http://", "a"), ("", "a.b@"), ("（", "中"), ("“", "a"), ("#", "中"), ("<", "a "), ("1", "e"))


def shapes() -> Iterator[tuple[str, str, str]]:
    """How a text begins, and what is repeated after that, with a name."""
    for piece in PIECES:
        yield ascii(piece), "", piece
    for begin, piece in ENDS:
        yield f"{begin!a} {piece!a}", begin, piece


def seconds(zh: dl.Analyzer, text: str) -> float:
    """How long the processor takes to cut a text into words; none of it may be lost."""
    began = time.process_time()
    (words,) = zh.segment([text])
    taken = time.process_time() - began
    if len(text) <= 100_000 and (problem := lost(text, list(words))) is not None:
        raise AssertionError(problem[:200])
    return taken


def slope(zh: dl.Analyzer, begin: str, piece: str, most: int) -> tuple[float, float]:
    """The slope between a quarter of the length and all of it, and the time of all."""
    texts = [begin + piece * (length // len(piece)) for length in (most // 16, most // 4, most)]
    _, some, whole = (seconds(zh, text) for text in texts)
    if whole < LEAST_SECONDS:
        return 0.0, whole
    return math.log(whole / max(some, 0.005)) / math.log(len(texts[2]) / len(texts[1])), whole


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--most", type=int, default=1_000_000, help="Characters of the longest texts.")
    parser.add_argument("--model", type=Path, help="A model; a small one if not given.")
    options = parser.parse_args()
    findings = 0
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name))
        zh = dl.load(options.model or train_small("crf-char", Path(name)))
        for shape, begin, piece in shapes():
            steep, taken = slope(zh, begin, piece, options.most)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            is_bad = steep > MOST_SLOPE or memory > MOST_BYTES * options.most + 2**29
            findings += is_bad
            print(
                f"{shape:24} {taken:6.2f} s  slope {steep:5.2f}  {memory >> 20} MB{' !' * is_bad}", flush=True
            )
    print(f"{sum(1 for _ in shapes())} shapes, {findings} findings")
    sys.exit(findings > 0)


if __name__ == "__main__":
    main()

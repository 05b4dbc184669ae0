"""A lexicon of a million words: loading time, memory and search speed.

    python benchmarks/lexicon.py [--words 1000000] [--seed 1] [--plot FILE]

Words and text are random, from a seed: words of two to six of 4,000 characters, some with tags and weights;
and a text of these characters in which a lexicon word begins at every tenth position. Loading is measured in
its own process, memory as the increase in that process. Times are CPU times.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import measure
from duilian.lexicon import Lexicon
from duilian.text import simplified

# Without traditional characters: the lexicon would take some of their words for the same.
CHARACTERS = [each for each in map(chr, range(0x4E00, 0x9FA6)) if simplified(each) == each][:4000]
TAGS = ("", "NN", "VV", "NR", "JJ|VA")
SENTENCE = 40
# getrusage() includes the peak of the parent process; /proc does not.
LOAD = """
import re, sys, time
from duilian.lexicon import Lexicon
def peak():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) / 1024
before = peak()
start = time.process_time()
lexicon = Lexicon.read(sys.argv[1])
print(time.process_time() - start, peak() - before, len(lexicon))
"""


def make_words(count: int, rng: random.Random) -> list[str]:
    """Return distinct words in the order drawn."""
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(rng.choices(CHARACTERS, k=rng.choice((2, 2, 2, 3, 3, 4, 4, 5, 6))))] = None
    return list(words)


def make_line(word: str, rng: random.Random) -> str:
    """Return an entry: half have only tags, one in ten a weight."""
    tags = rng.choice(TAGS)
    if rng.random() < 0.1:
        return f"{word}\t{tags}\t{rng.uniform(0.5, 5.0):.2f}\n"
    return f"{word}\t{tags}\n" if tags else f"{word}\n"


def make_sentences(words: list[str], count: int, rng: random.Random) -> list[list[str]]:
    """Return sentences as single characters."""
    out = []
    for _ in range(count):
        text = ""
        while len(text) < SENTENCE:
            text += rng.choice(words) if rng.random() < 0.1 else rng.choice(CHARACTERS)
        out.append(list(text[:SENTENCE]))
    return out


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", help="write a bar chart to this file")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    words = make_words(options.words, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.txt"
        path.write_text("".join(make_line(word, rng) for word in words), encoding="utf-8")
        loads = [
            subprocess.run([sys.executable, "-c", LOAD, path], capture_output=True, text=True, check=True)
            for _ in range(3)
        ]
        seconds, megabytes, count = min(tuple(map(float, load.stdout.split())) for load in loads)
        lexicon = Lexicon.read(path)
    assert int(count) == len(lexicon) == options.words
    sentences = make_sentences(words, 5000, rng)
    matching = min(_seconds(lambda: lexicon._matches(sentences, "char", None)) for _ in range(7))
    characters = sum(map(len, sentences))
    found = sum(map(len, lexicon._matches(sentences, "char", None)))
    measure.show(
        f"a lexicon of {options.words:,} words",
        "value",
        [
            ("load, seconds", seconds, "bar: 2"),
            ("memory, MB", megabytes, "bar: 200"),
            ("search, million characters per second", characters / matching / 1e6, f"{found:,} matches"),
        ],
        options.plot,
    )


if __name__ == "__main__":
    main()

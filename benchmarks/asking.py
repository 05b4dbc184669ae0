"""Users pay only for what they ask for: the engine's cost ratios on the bundled model, and its memory.

    python benchmarks/asking.py [--repeats 9] [--characters 5000000]

CPU time of one thread in one process; the two sides of a ratio take turns, and the best round of each counts.
Memory is that of separate processes. The texts are the golden lines of tests/golden. jieba is measured too,
if it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import duilian
from duilian.engine import Analyzer
from duilian.models.roles import Ask
from measure import facts

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from golden.lines import lines

CALL = "我们明天一起去北京参观国家博物馆吧好不好"  # 20 characters
CALLS = 300
Work = Callable[[], object]


def rounds(repeats: int, *works: Work) -> list[float]:
    """Return the least CPU time of each work; they take turns."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for k, work in enumerate(works):
            start = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - start)
    return best


def drained(docs: object) -> Work:
    """Return a work that takes all answers."""
    return lambda: sum(1 for _ in docs())  # type: ignore[operator]


def calls(work: Callable[[str], object]) -> Work:
    """Return a work of many calls on a short text."""
    return lambda: [work(CALL) for _ in range(CALLS)]


def ratios(table: Table, repeats: int) -> None:
    """Measure the ratios."""
    zh, texts = duilian.load(), lines()
    bare = Analyzer(zh.model, segmenter=zh.segmenter)
    own = zh.with_lexicon(duilian.Lexicon(["国家博物馆"]))
    pku, slash = Ask(["pku"], trees=False), Ask(["pku"])
    a, b = rounds(
        repeats, drained(lambda: zh.pipe(texts, ask=pku)), drained(lambda: bare.pipe(texts, ask=slash))
    )
    table.add_row("one standard without trees, with a parser at hand / without one", f"{a / b:.2f}", "≤ 1.15")
    for name, options in (("segment", {}), ("segment, fast", {"fast": True})):
        a, b = rounds(
            repeats,
            drained(lambda options=options: own.segment(texts, **options)),
            drained(lambda options=options: zh.segment(texts, **options)),
        )
        table.add_row(f"{name}: with a lexicon of one word / without", f"{a / b:.2f}", "≤ 1.3")
    works = [calls(lambda text: zh(text, ask=Ask(trees=False))), calls(zh)]
    if importlib.util.find_spec("jieba"):
        import jieba

        jieba.initialize()
        works.append(calls(jieba.lcut))
    found = rounds(repeats, *works)
    names = (
        "zh(text), 20 characters, no trees",
        "zh(text), 20 characters, with trees",
        "jieba.lcut, the same",
    )
    for name, seconds in zip(names, found, strict=False):
        limit = "≤ 200 µs" if "no trees" in name else ""
        table.add_row(name, f"{seconds / CALLS * 1e6:.0f} µs", limit)


def peak(mode: str, characters: int) -> float:
    """Return the peak memory in MB of a process that analyses this many characters."""
    command = [sys.executable, __file__, "--child", mode, "--characters", str(characters)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def child(mode: str, characters: int) -> None:
    """Analyse many short texts, or one long one, and print the peak memory."""
    zh, size = duilian.load(), 0
    texts = []
    for line in itertools.cycle(lines()):
        texts.append(line + "\n")
        size += len(line) + 1
        if size >= characters:
            break
    if mode == "short":
        for _ in zh.pipe(texts):
            pass
    else:
        text = "".join(texts)
        del texts
        zh(text)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--characters", type=int, default=5_000_000)
    parser.add_argument("--child", choices=["short", "long"])
    options = parser.parse_args()
    if options.child:
        child(options.child, options.characters)
        return
    table = Table("question", "found", "bar")
    ratios(table, options.repeats)
    short, long = (peak(mode, options.characters) for mode in ("short", "long"))
    table.add_row(
        f"one text of {options.characters:,} characters, over many short ones",
        f"{long - short:+.0f} MB",
        "≤ +100 MB",
    )
    Console().print(table)
    print(facts())


if __name__ == "__main__":
    main()

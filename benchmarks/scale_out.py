"""What Arrow and `duilian run` cost beside `zh.pipe`, and the memory of one huge document among short ones.

    python benchmarks/scale_out.py speed [--texts FILE] [--documents 10000] [--rounds 5]
    python benchmarks/scale_out.py skew [--megabytes 50]
    python benchmarks/scale_out.py soak [--minutes 20]

Speed is CPU time of one thread, in interleaved rounds, so a busy machine disturbs all ways alike.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import duilian as dl
from duilian import demo
from duilian.scale import ArrowAnalyzer, FolderRun
from duilian.scale.input_parts import find_parts

ASK = dl.Ask(standards=("pku",), trees=False)
KIND = pa.list_(
    pa.struct([("start", pa.int32()), ("end", pa.int32()), ("word", pa.string()), ("tag", pa.string())])
)


def texts_of(path: Path | None, count: int) -> list[str]:
    """Documents: the lines of a file, or the demo corpus, again and again."""
    if path is None:
        lines = [each["pku"].text for each in demo.load("pku", "pku")]
    else:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return list(itertools.islice(itertools.cycle(lines), count))


def by_pipe(zh: dl.Analyzer, texts: Sequence[str]) -> None:
    for _ in zh.pipe(texts, ask=ASK):
        pass


def by_lists(zh: dl.Analyzer, texts: Sequence[str]) -> None:
    """A Python function of a batch, as one writes it for an engine: a list of dictionaries for each text."""
    column = pa.array(texts)
    answers = []
    for doc in zh.pipe(column.to_pylist(), ask=ASK):
        answers.append([{"start": t.start, "end": t.end, "word": t.text, "tag": t.tag} for t in doc])
    pa.array(answers, KIND)


def by_rows(zh: dl.Analyzer, texts: Sequence[str]) -> None:
    """A Python function of one text, the simplest thing to write."""
    found = [
        [{"start": t.start, "end": t.end, "word": t.text, "tag": t.tag} for t in zh(text, ask=ASK)]
        for text in texts
    ]
    pa.array(found, KIND)


def by_arrow(analyze: ArrowAnalyzer, texts: Sequence[str]) -> None:
    analyze.answers(pa.array(texts))


def by_run(analyze: ArrowAnalyzer, folder: Path, number: list[int]) -> None:
    number[0] += 1
    output = folder / f"out{number[0]}"
    for _ in FolderRun(find_parts([str(folder / "in")], None, output), output, analyze):
        pass


def speed(asked: argparse.Namespace) -> None:
    zh, analyze = dl.load(), ArrowAnalyzer(ask=ASK)
    texts = texts_of(asked.texts, asked.documents)
    characters = sum(map(len, texts))
    with tempfile.TemporaryDirectory() as name:
        folder, number = Path(name), [0]
        (folder / "in").mkdir()
        half = len(texts) // 2
        for k, part in enumerate((texts[:half], texts[half:])):
            parquet.write_table(pa.table({"text": part}), folder / "in" / f"{k}.parquet")
        ways: dict[str, Callable[[], None]] = {
            "zh.pipe": lambda: by_pipe(zh, texts),
            "Python function, by batches": lambda: by_lists(zh, texts),
            "Python function, row by row": lambda: by_rows(zh, texts),
            "ArrowAnalyzer": lambda: by_arrow(analyze, texts),
            "run, Parquet to Parquet": lambda: by_run(analyze, folder, number),
        }
        spent: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(asked.rounds):
            for way, call in ways.items():
                start = time.process_time()
                call()
                spent[way].append(time.process_time() - start)
    base = statistics.median(spent["zh.pipe"])
    print(f"{len(texts):,} documents, {characters:,} characters, median of {asked.rounds} rounds")
    for way, seconds in spent.items():
        own = statistics.median(seconds)
        rates = f"{characters / own:12,.0f} characters/s {len(texts) / own:9,.0f} documents/s"
        print(f"{way:28} {rates} {base / own:6.0%}")


def skew(asked: argparse.Namespace) -> None:
    short = texts_of(None, 10_000)
    size = asked.megabytes * 1_000_000
    long = "".join(itertools.islice(itertools.cycle(short), size // sum(map(len, short)) * len(short) // 3))
    long = (long * (size // len(long.encode()) + 1)).encode()[:size].decode(errors="ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = pa.array([*short[:5000], long, *short[5000:]])
        parquet.write_table(pa.table({"text": texts}), folder / "a.parquet")
        del texts, long
        analyze = ArrowAnalyzer(ask=ASK)
        for _ in FolderRun(
            find_parts([str(folder / "a.parquet")], None, folder / "out"), folder / "out", analyze
        ):
            pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"one document of {asked.megabytes} MB among 10,000: peak of {peak:,.0f} MB")


def soak(asked: argparse.Namespace) -> None:
    """Analyse the same batches again and again, and tell how memory grows."""
    analyze, batch = ArrowAnalyzer(ask=ASK), pa.table({"text": texts_of(None, 2000)}).to_batches()[0]
    end, told, documents = time.monotonic() + 60 * asked.minutes, 0.0, 0
    while time.monotonic() < end:
        for part in analyze.parts(batch):
            documents += len(part)
        if time.monotonic() - told >= 60:
            told = time.monotonic()
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            print(f"{documents:,} documents, {pages * resource.getpagesize() / 2**20:,.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "skew", "soak"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=20)
    asked = parser.parse_args()
    {"speed": speed, "skew": skew, "soak": soak}[asked.what](asked)


if __name__ == "__main__":
    main()

"""What Arrow and `duilian run` cost beside `zh.pipe`, and the memory of one huge document among short ones.

    python benchmarks/scale_out.py speed [--texts FILE] [--documents 10000] [--rounds 5] [--fast]
    python benchmarks/scale_out.py growth [--texts FILE] [--documents 10000]
    python benchmarks/scale_out.py skew [--megabytes 50]
    python benchmarks/scale_out.py soak --documents 10000000 [--folder FOLDER] [--log soak.tsv]

Speed is CPU time of one thread, in interleaved rounds, so a busy machine disturbs all ways alike.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import resource
import statistics
import subprocess
import sys
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
DRAWS = 100  # of the sizes of parts, in the simulation of many cores
FAST = dl.Ask(standards=("pku",), trees=False, tags=False, fast=True)
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


def by_pipe(zh: dl.Analyzer, ask: dl.Ask, texts: Sequence[str]) -> None:
    for _ in zh.pipe(texts, ask=ask):
        pass


def rows_of(doc: dl.Doc, ask: dl.Ask) -> list[dict[str, object]]:
    """The words of a document as plain Python objects, as users build them for an engine."""
    if not ask.tags:
        return [{"start": t.start, "end": t.end, "word": t.text} for t in doc]
    return [{"start": t.start, "end": t.end, "word": t.text, "tag": t.tag} for t in doc]


def by_lists(zh: dl.Analyzer, ask: dl.Ask, texts: Sequence[str]) -> None:
    """A Python function of a batch, such as Spark's `pandas_udf`: a list of dictionaries for each text."""
    column = pa.array(texts)
    pa.array([rows_of(doc, ask) for doc in zh.pipe(column.to_pylist(), ask=ask)], kind_of(ask))


def by_rows(zh: dl.Analyzer, ask: dl.Ask, texts: Sequence[str]) -> None:
    """A Python function of one text, such as Spark's `udf`: the simplest thing to write."""
    pa.array([rows_of(zh(text, ask=ask), ask) for text in texts], kind_of(ask))


def kind_of(ask: dl.Ask) -> pa.DataType:
    return (
        KIND if ask.tags else pa.list_(pa.struct([field for field in KIND.value_type if field.name != "tag"]))
    )


def by_arrow(analyze: ArrowAnalyzer, texts: Sequence[str]) -> None:
    analyze.answers(pa.array(texts))


def by_run(analyze: ArrowAnalyzer, folder: Path, number: list[int]) -> None:
    number[0] += 1
    output = folder / f"out{number[0]}"
    for _ in FolderRun(find_parts([str(folder / "in")], None, output), output, analyze):
        pass


def speed(asked: argparse.Namespace) -> None:
    ask = FAST if asked.fast else ASK
    zh, analyze = dl.load(), ArrowAnalyzer(ask=ask)
    texts = texts_of(asked.texts, asked.documents)
    characters = sum(map(len, texts))
    with tempfile.TemporaryDirectory() as name:
        folder, number = Path(name), [0]
        (folder / "in").mkdir()
        half = len(texts) // 2
        for k, part in enumerate((texts[:half], texts[half:])):
            parquet.write_table(pa.table({"text": part}), folder / "in" / f"{k}.parquet")
        ways: dict[str, Callable[[], None]] = {
            "zh.pipe": lambda: by_pipe(zh, ask, texts),
            "Python function, by batches": lambda: by_lists(zh, ask, texts),
            "Python function, row by row": lambda: by_rows(zh, ask, texts),
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


def growth(asked: argparse.Namespace) -> None:
    """Characters per second by document length and lexicon size, and the use of cores by simulation."""
    text = "".join(texts_of(asked.texts, asked.documents))
    plain = ArrowAnalyzer(ask=ASK)
    for size in (10, 100, 1000, 10_000):
        texts = pa.array([text[at : at + size] for at in range(0, len(text) - size, size)])
        print(f"documents of {size:6,} characters: {rate(plain, texts, len(text)):9,.0f} characters/s")
    texts, draw = pa.array(texts_of(asked.texts, asked.documents)), random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        for size in (1, 1000, 100_000):
            path = Path(name) / f"{size}.txt"
            words = {"".join(draw.choices(text, k=4)) for _ in range(size)}
            path.write_text("".join(f"{word}\n" for word in sorted(words) if word.strip()), encoding="utf-8")
            own = ArrowAnalyzer(ask=ASK, lexicon=str(path))
            print(f"lexicon of {size:7,} words: {rate(own, texts, len(text)):9,.0f} characters/s")
    for cores in (8, 64, 512):
        shares = [f"{busy(cores, parts):.0%} busy with {parts} parts a core" for parts in (1, 4, 16, 64)]
        print(f"{cores:4} cores: {', '.join(shares)}")


def rate(analyze: ArrowAnalyzer, texts: pa.Array, characters: int) -> float:
    """Characters in a second of CPU time, the best of three."""
    analyze.answers(texts[:10])
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        analyze.answers(texts)
        best = min(best, time.process_time() - start)
    return characters / best


def busy(cores: int, parts: int) -> float:
    """The share of time that cores are busy if parts of log-normal sizes (σ = 1) wait in one queue."""
    draw, shares = random.Random(1), []
    for _ in range(DRAWS):
        sizes = [draw.lognormvariate(0, 1) for _ in range(cores * parts)]
        ends = [0.0] * cores
        for size in sizes:
            heapq.heapreplace(ends, ends[0] + size)
        shares.append(sum(sizes) / (cores * max(ends)))
    return statistics.mean(shares)


def skew(asked: argparse.Namespace) -> None:
    short = texts_of(None, 10_000)
    size = asked.megabytes * 1_000_000
    text = "".join(short)
    long = (text * (size // len(text.encode()) + 1)).encode()[:size].decode(errors="ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = pa.array([*short[:5000], long, *short[5000:]])
        parquet.write_table(pa.table({"text": texts}), folder / "a.parquet")
        options = ["--standard", "pku", "--no-trees"]
        command = [sys.executable, "-m", "duilian", "run", str(folder / "a.parquet"), str(folder / "out")]
        subprocess.run([*command, *options], check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"`run` of one document of {asked.megabytes} MB among 10,000: peak of {peak:,.0f} MB")


def soak(asked: argparse.Namespace) -> None:
    """Let `duilian run` analyse millions of short documents, and report how its memory grows."""
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        source, output = Path(name) / "in", Path(name) / "out"
        write_short_documents(source, asked.documents)
        options = ["--standard", "pku", "--no-trees", "--columns", "id"]
        command = [sys.executable, "-m", "duilian", "run", str(source), str(output), *options]
        process = subprocess.Popen(command)
        began, told = time.monotonic(), -60.0
        with open(asked.log, "w", encoding="utf-8") as log:
            log.write("seconds\tparts\tMB\n")
            while process.poll() is None:
                seconds = time.monotonic() - began
                if seconds - told >= 60 and (found := resident_megabytes(process.pid)) is not None:
                    told = seconds
                    log.write(f"{seconds:.0f}\t{len(list(output.glob('*.parquet')))}\t{found:.0f}\n")
                    log.flush()
                time.sleep(1)
        rows = sum(parquet.read_metadata(path).num_rows for path in output.glob("*.parquet"))
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{rows:,} documents in {seconds / 60:.0f} minutes, status {process.returncode}, peak {peak:,.0f} MB"
    )


def write_short_documents(folder: Path, count: int) -> None:
    """Pieces of 4 to 24 characters of the demo corpus, in parts of 100,000."""
    folder.mkdir()
    draw, text = random.Random(1), "".join(texts_of(None, 10_000))
    for at in range(0, count, 100_000):
        rows = range(at, min(at + 100_000, count))
        places = [draw.randrange(len(text) - 24) for _ in rows]
        texts = [text[place : place + draw.randint(4, 24)] for place in places]
        parquet.write_table(pa.table({"id": rows, "text": texts}), folder / f"{at // 100_000:04}.parquet")


def resident_megabytes(process: int) -> float | None:
    """Memory of a process without the pages of mapped files, which processes share."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon")]
    return found[0] if found else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "growth", "skew", "soak"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fast", action="store_true", help="words by the small segmenter, in speed")
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--folder", help="for the files of soak, which have some 2 GB")
    parser.add_argument("--log", default="soak.tsv", help="memory by minutes, of soak")
    asked = parser.parse_args()
    {"speed": speed, "growth": growth, "skew": skew, "soak": soak}[asked.what](asked)


if __name__ == "__main__":
    main()

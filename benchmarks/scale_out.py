"""What Arrow and `duilian run` cost beside `zh.pipe`, and the memory of one huge document among short ones.

    python benchmarks/scale_out.py speed [--texts FILE] [--documents 10000] [--rounds 5]
    python benchmarks/scale_out.py skew [--megabytes 50]
    python benchmarks/scale_out.py soak --documents 10000000 [--folder FOLDER] [--log soak.tsv]

Speed is CPU time of one thread, in interleaved rounds, so a busy machine disturbs all ways alike.
"""

from __future__ import annotations

import argparse
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
    """Let `duilian run` analyse millions of short documents, and tell how its memory grows."""
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
    """Memory of a process without the pages of files that it maps: those belong to all who read them."""
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
    parser.add_argument("what", choices=["speed", "skew", "soak"])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--folder", help="for the files of soak, which have some 2 GB")
    parser.add_argument("--log", default="soak.tsv", help="memory by minutes, of soak")
    asked = parser.parse_args()
    {"speed": speed, "skew": skew, "soak": soak}[asked.what](asked)


if __name__ == "__main__":
    main()

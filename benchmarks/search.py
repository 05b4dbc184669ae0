"""Full-text search in SQLite: the tokenizer `duilian` beside FTS5's own, in one run.

    python benchmarks/search.py --data DIR [--documents 100000]

Needs `apsw` and `jieba`. Systems: `duilian`; `trigram`; `unicode61` on text segmented by jieba (in its search
mode, queries too). Documents are the lines of People's Daily, repeated up to the requested number.

Relevance is decided by the gold words of dev and test, which our segmenter has not seen: a query occurs where
it begins and ends between gold words. 和服 does not occur in 产品 和 服务. Times are those of one core.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import jieba

import duilian as dl
from duilian.integrations import sqlite

# fmt: off
QUERIES = (
    "北京", "中国", "经济", "大学", "学会", "和服", "人大", "国有企业",
    "市场经济", "国务院", "新闻发布会", "委员会", "合作社", "现代化", "研究所", "图书馆",
    "农民", "干部", "问题", "发展", "人民", "企业", "改革开放", "电视台",
    "奥运会", "运动员", "教授", "科学家", "地震", "春节", "足球", "比赛",
    "美元", "金融危机", "香港", "总统", "访问", "会谈", "外交部", "发言人",
)
# fmt: on


class System(NamedTuple):
    """A tokenizer, and how documents and queries are prepared for it."""

    name: str
    tokenize: str
    document: Callable[[str], str] = str
    query: Callable[[str], str] = str


SYSTEMS = (
    System("duilian", "duilian"),
    System("duilian, no parts", "duilian parts 0"),
    System("trigram", "trigram"),
    System(
        "jieba + unicode61",
        "unicode61",
        lambda text: " ".join(jieba.cut_for_search(text)),
        lambda q: " ".join(jieba.cut(q)),
    ),
)


def gold(path: Path) -> list[list[str]]:
    """The words of each line."""
    return [list(sentence["pku"].words) for sentence in dl.read(path, standard="pku")]


def occurs(query: str, words: list[str]) -> bool:
    """Whether a query begins and ends between words."""
    edges = {0, *itertools.accumulate(map(len, words))}
    text, at = "".join(words), -1
    while (at := text.find(query, at + 1)) >= 0:
        if at in edges and at + len(query) in edges:
            return True
    return False


def index(system: System, texts: list[str]) -> tuple[Any, float]:
    """A table of the texts, and the seconds that it took."""
    base = apsw.Connection(":memory:")
    sqlite.load(base)
    base.execute(f"CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = '{system.tokenize}')")
    start = time.process_time()
    with base:
        base.executemany("INSERT INTO docs(rowid, text) VALUES (?, ?)", rows(system, texts))
    return base, time.process_time() - start


def rows(system: System, texts: list[str]) -> Iterator[tuple[int, str]]:
    """Numbered documents."""
    return ((k, system.document(text)) for k, text in enumerate(texts))


def search(base: Any, system: System, query: str) -> set[int]:
    """Numbers of the documents found; a query is a phrase."""
    return {row[0] for row in base.execute("SELECT rowid FROM docs(?)", (f'"{system.query(query)}"',))}


def measure_quality(system: System, words: list[list[str]]) -> tuple[float, float, int]:
    """Recall and precision over all pairs of query and document, and the number of relevant pairs."""
    base, _ = index(system, ["".join(each) for each in words])
    right = found = relevant = 0
    for query in QUERIES:
        wanted = {k for k, each in enumerate(words) if occurs(query, each)}
        got = search(base, system, query)
        right, found, relevant = right + len(got & wanted), found + len(got), relevant + len(wanted)
    return 100 * right / max(relevant, 1), 100 * right / max(found, 1), relevant


def measure_speed(system: System, texts: list[str]) -> tuple[float, float, float]:
    """Documents indexed in a second, megabytes of the index, and milliseconds a query."""
    base, seconds = index(system, texts)
    size = base.execute("SELECT sum(length(block)) FROM docs_data").fetchall()[0][0]
    start = time.process_time()
    for query in QUERIES:
        search(base, system, query)
    return len(texts) / seconds, size / 2**20, 1000 * (time.process_time() - start) / len(QUERIES)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with pd/train.txt, dev.txt and test.txt"
    )
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    jieba.setLogLevel(60)
    jieba.initialize()
    unseen = [words for name in ("dev", "test") for words in gold(options.data / "pd" / f"{name}.txt")]
    lines = ["".join(words) for words in gold(options.data / "pd" / "train.txt")]
    texts = list(itertools.islice(itertools.cycle(lines), options.documents))
    print(f"{len(texts):,} documents, {sum(map(len, texts)) / len(texts):.0f} characters each on average")
    for system in SYSTEMS:
        recall, precision, relevant = measure_quality(system, unseen)
        speed, size, milliseconds = measure_speed(system, texts)
        print(
            f"{system.name:18} recall {recall:5.1f} %  precision {precision:5.1f} %  (of {relevant} pairs)  "
            f"{speed:8,.0f} documents/s  index {size:6.1f} MB  {milliseconds:6.2f} ms/query",
            flush=True,
        )


if __name__ == "__main__":
    main()

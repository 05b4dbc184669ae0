"""Search with BM25 over words in two standards: long words for precision, short ones so that parts are found.

    python examples/bm25_search.py 国务院 大学          # searches the sentences of the demo
    python examples/bm25_search.py 图书馆 < news.txt     # or lines of your own

A word that both standards have counts once; where they differ, both cuts are indexed; so are parts of words.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable

import duilian as dl
from duilian import demo

WORDS_AND_NO_MORE = dl.Ask(tags=False, trees=False)


class Index:
    """BM25 (Robertson and Zaragoza, 2009) in memory."""

    def __init__(self, zh: dl.Analyzer, texts: Iterable[str], k: float = 1.2, b: float = 0.75) -> None:
        self.zh, self.texts = zh, list(texts)
        self.counts = [Counter(doc.search_terms()) for doc in zh.pipe(self.texts, ask=WORDS_AND_NO_MORE)]
        self.documents = Counter(word for counts in self.counts for word in counts)
        mean = sum(counts.total() for counts in self.counts) / max(1, len(self.counts))
        self.k, self.lengths = k, [k * (1 - b + b * each.total() / mean) for each in self.counts]

    def weight(self, word: str) -> float:
        with_word = self.documents[word]
        return math.log(1 + (len(self.texts) - with_word + 0.5) / (with_word + 0.5))

    def search(self, query: str, count: int = 3) -> list[tuple[float, str]]:
        """Return the best texts with their scores."""
        words = set(self.zh(query, ask=WORDS_AND_NO_MORE).search_terms())
        scores = [
            sum(
                self.weight(w) * counts[w] * (self.k + 1) / (counts[w] + length) for w in words if w in counts
            )
            for counts, length in zip(self.counts, self.lengths, strict=True)
        ]
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[:count]
        return [(scores[place], self.texts[place]) for place in best if scores[place] > 0]


if __name__ == "__main__":
    own = [] if sys.stdin.isatty() else sys.stdin.read().splitlines()
    index = Index(dl.load(), own or [sentence.text for sentence in demo.load("pku", "pku")])
    for query in sys.argv[1:] or ["图书馆", "大学"]:
        print(query, *(f"{score:5.2f}  {text}" for score, text in index.search(query)), sep="\n")

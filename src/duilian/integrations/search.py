"""Search terms of texts, for search libraries and database columns.

The terms are the words of every standard and their parts, so a query finds a word no matter which standard
cuts it; see `Doc.search_words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duilian.arguments import checked
from duilian.document import Doc, SearchWord
from duilian.engine import Analyzer, load
from duilian.engine.analyzer import WORDS
from duilian.models.roles import Ask

MAX_POSITION = 16383  # limit of PostgreSQL
MAX_POSITIONS = 256  # limit for each term


class SearchTokenizer:
    """Turns texts into terms: a callable for `rank_bm25`, `bm25s` and other libraries that take a tokenizer.

    `ask` chooses standards, or the fast segmenter: `Ask(fast=True)`. For queries that must match exactly,
    use a second tokenizer with `parts=False`.

    >>> terms = SearchTokenizer()
    >>> "北京" in terms("我们去北京。")
    True
    """

    @checked
    def __init__(
        self,
        analyzer: Analyzer | None = None,
        *,
        ask: Ask | None = None,
        parts: bool = True,
        fold: bool = True,
        threads: int = 1,
    ) -> None:
        self.analyzer = load() if analyzer is None else analyzer
        self.ask, self.parts, self.fold, self.threads = ask or WORDS, parts, fold, threads

    def __repr__(self) -> str:
        return f"SearchTokenizer({self.analyzer!r}, parts={self.parts}, fold={self.fold})"

    @checked
    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, repeated as often as they occur."""
        return self._terms(self.analyzer(text, ask=self.ask))

    def pipe(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Yield the terms of many texts, in order and in constant memory."""
        return map(self._terms, self._docs(texts))

    def words(self, texts: Iterable[str]) -> Iterator[list[SearchWord]]:
        """Yield the same terms with offsets and positions."""
        return (doc.search_words(parts=self.parts, fold=self.fold) for doc in self._docs(texts))

    def columns(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the terms of each text as one string, separated by spaces: a column for engines that split at
        white space, such as DuckDB and tantivy.
        """
        return map(" ".join, self.pipe(texts))

    def tsvectors(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield each text as PostgreSQL writes a `tsvector`: `'北京':1,7 '大学':2`.

        PostgreSQL allows positions up to 16383, and 256 for each term; beyond that, only the term is kept.
        """
        return map(tsvector, self.words(texts))

    def _docs(self, texts: Iterable[str]) -> Iterator[Doc]:
        return self.analyzer.pipe(texts, ask=self.ask, threads=self.threads)

    def _terms(self, doc: Doc) -> list[str]:
        return doc.search_terms(parts=self.parts, fold=self.fold)


def tsvector(words: Iterable[SearchWord]) -> str:
    """Write the words of a text as PostgreSQL writes a `tsvector`."""
    places: dict[str, list[int]] = {}
    for word in words:
        found = places.setdefault(word.text, [])
        if (
            word.position < MAX_POSITION
            and len(found) < MAX_POSITIONS
            and word.position + 1 not in found[-1:]
        ):
            found.append(word.position + 1)
    return " ".join(_quoted(term) + ":"[: len(at)] + ",".join(map(str, at)) for term, at in places.items())


def _quoted(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"

"""A corpus: an immutable sequence of sentences, and ways to divide it."""

from __future__ import annotations

import hashlib
import itertools
import numbers
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from duilian.arguments import checked
from duilian.corpus.formats.jsonlines import write_jsonlines
from duilian.corpus.sentence import Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN, format_tags
from duilian.errors import ArgumentError, ConfigError
from duilian.result_tables import html_table
from duilian.wording import counted

SENTENCES_IN_HTML, WORDS_IN_HTML = 5, 40


class Corpus(Sequence[Sentence]):
    """An immutable sequence of sentences that all have a layer of one standard.

    >>> from duilian import Layer
    >>> corpus = Corpus([Sentence({"pku": Layer(("我们", "去"), ("r", "v"))})], standard="pku")
    >>> len(corpus), corpus[0].text
    (1, '我们去')
    """

    __slots__ = ("_sentences", "format", "problems", "skipped", "source", "standard")

    @checked
    def __init__(
        self,
        sentences: Iterable[Sentence],
        *,
        standard: str,
        source: str = "",
        format: str = "",
        skipped: int = 0,
        problems: Iterable[str] = (),
    ) -> None:
        self._sentences = tuple(sentences)
        self.standard = standard
        self.source = source
        self.format = format
        self.skipped = skipped  # number of malformed lines or sentences that a lenient read skipped
        self.problems = tuple(problems)  # the first few messages about them

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice) -> Sentence | Corpus:
        if isinstance(index, slice):
            return self._part(self._sentences[index])
        if not isinstance(index, numbers.Integral):
            raise ArgumentError(f"index must be a whole number or a slice, got {index!r}")
        return self._sentences[index]

    def __len__(self) -> int:
        return len(self._sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self._sentences)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Corpus):
            return NotImplemented
        return self.standard == other.standard and self._sentences == other._sentences

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        source = f" from {self.source}" if self.source else ""
        return f"<Corpus: {counted(len(self), 'sentence')}, {self.standard}{source}>"

    def _repr_html_(self) -> str:
        """The first sentences, for notebooks."""
        rows = (
            (number, sentence.id, " ".join(_words_shown(sentence[self.standard])))
            for number, sentence in enumerate(self[:SENTENCES_IN_HTML], start=1)
        )
        rest = len(self) - SENTENCES_IN_HTML
        more = f", the first {SENTENCES_IN_HTML} of them" if rest > 0 else ""
        return html_table(("", "id", "words and tags"), rows, caption=f"{repr(self)[1:-1]}{more}")

    def _part(self, sentences: Iterable[Sentence]) -> Corpus:
        return Corpus(sentences, standard=self.standard, source=self.source, format=self.format)

    def fingerprint(self) -> str:
        """SHA-256 of the corpus in the format jsonl: equal for equal content, whatever its source."""
        digest = hashlib.sha256()
        for line in write_jsonlines(self._sentences):
            digest.update(line.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @checked
    def split(self, shares: Sequence[float], seed: int) -> list[Corpus]:
        """Split into disjoint random parts in proportion to the shares; each part keeps the corpus order."""
        sizes = _sizes(len(self), shares)
        order = list(range(len(self)))
        random.Random(seed).shuffle(order)
        ends = itertools.accumulate(sizes)
        return [
            self._part(self._sentences[place] for place in sorted(order[end - size : end]))
            for size, end in zip(sizes, ends, strict=True)
        ]

    @checked
    def sample(self, n: int, seed: int) -> Corpus:
        """Draw `n` different sentences at random, in corpus order."""
        if not 0 <= n <= len(self):
            raise ConfigError(f"cannot draw {counted(n, 'sentence')} from a corpus of {len(self)}")
        places = random.Random(seed).sample(range(len(self)), n)
        return self._part(self._sentences[place] for place in sorted(places))

    @checked
    def folds(self, k: int) -> list[tuple[Corpus, Corpus]]:
        """Pairs (training, held out) for jack-knifing.

        Held-out parts are contiguous, so only documents at their ends are on both sides.
        """
        return [
            (self._part(self._sentences[:start] + self._sentences[end:]), self[start:end])
            for start, end in fold_bounds(len(self), k)
        ]


def _words_shown(layer: Layer) -> Iterator[str]:
    words = layer.words[:WORDS_IN_HTML]
    if layer.tags is None:
        yield from words
    else:
        tags = format_tags(layer.tags, len(layer), UNKNOWN)
        yield from (f"{word}/{tag}" for word, tag in zip(words, tags, strict=False))
    if len(layer) > WORDS_IN_HTML:
        yield "…"


def fold_bounds(count: int, k: int) -> list[tuple[int, int]]:
    """The start and end of each of k folds of `count` sentences."""
    if not 2 <= k <= count:
        raise ConfigError(
            f"cannot make {k} folds of {counted(count, 'sentence')}", f"choose from 2 to {count}"
        )
    return list(itertools.pairwise(count * fold // k for fold in range(k + 1)))


def _sizes(count: int, shares: Sequence[float]) -> list[int]:
    """Integers that sum to `count`, rounded by the largest-remainder method."""
    if not shares or not all(0 <= share < float("inf") for share in shares) or not sum(shares) > 0:
        raise ConfigError(f"shares must be 0 or more, and not all 0, got {list(shares)}")
    wanted = [count * share / sum(shares) for share in shares]
    sizes = [int(size) for size in wanted]
    by_remainder = sorted(range(len(shares)), key=lambda place: sizes[place] - wanted[place])
    for place in by_remainder[: count - sum(sizes)]:
        sizes[place] += 1
    return sizes

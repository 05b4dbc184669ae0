"""A corpus: sentences that do not change, and the ways to divide them."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from duilian.corpus.formats.jsonlines import write_jsonlines
from duilian.corpus.sentence import Sentence
from duilian.errors import ConfigError


class Corpus(Sequence[Sentence]):
    """An immutable sequence of sentences with a layer of one standard in common."""

    __slots__ = ("_sentences", "format", "problems", "skipped", "source", "standard")

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
        self.skipped = skipped  # how many malformed lines or blocks a lenient reading left out
        self.problems = tuple(problems)  # the first few messages about them

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: int | slice) -> Sentence | Corpus:
        if isinstance(index, slice):
            return self._part(self._sentences[index])
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
        return f"<Corpus: {len(self)} sentences, {self.standard}{source}>"

    def _part(self, sentences: Iterable[Sentence]) -> Corpus:
        return Corpus(sentences, standard=self.standard, source=self.source, format=self.format)

    def fingerprint(self) -> str:
        """SHA-256 of the corpus in the format jsonl: the same for the same content, wherever it came from."""
        digest = hashlib.sha256()
        for line in write_jsonlines(self._sentences):
            digest.update(line.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def split(self, shares: Sequence[float], seed: int) -> list[Corpus]:
        """Disjoint random parts, sized in proportion to the shares; each keeps the order of the corpus."""
        sizes = _sizes(len(self), shares)
        order = list(range(len(self)))
        random.Random(seed).shuffle(order)
        ends = itertools.accumulate(sizes)
        return [
            self._part(self._sentences[place] for place in sorted(order[end - size : end]))
            for size, end in zip(sizes, ends, strict=True)
        ]

    def sample(self, n: int, seed: int) -> Corpus:
        """`n` different sentences by chance, in the order of the corpus."""
        if not 0 <= n <= len(self):
            raise ConfigError(f"cannot draw {n} sentences from a corpus of {len(self)}")
        places = random.Random(seed).sample(range(len(self)), n)
        return self._part(self._sentences[place] for place in sorted(places))

    def folds(self, k: int) -> list[tuple[Corpus, Corpus]]:
        """(training, held out) pairs for jack-knifing.

        Held-out parts are runs of neighbours, so that no text is on both sides except at the seams.
        """
        return [
            (self._part(self._sentences[:start] + self._sentences[end:]), self[start:end])
            for start, end in fold_seams(len(self), k)
        ]


def fold_seams(count: int, k: int) -> list[tuple[int, int]]:
    """Where each of k folds of so many sentences begins and ends."""
    if not 2 <= k <= count:
        raise ConfigError(f"cannot make {k} folds of {count} sentences", "2 or more, one sentence each")
    return list(itertools.pairwise(count * fold // k for fold in range(k + 1)))


def _sizes(count: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers that sum to `count`; what rounding down leaves goes to the largest remainders."""
    if not shares or not all(0 <= share < float("inf") for share in shares) or not sum(shares) > 0:
        raise ConfigError(f"shares must be numbers of 0 or more, not all 0: {list(shares)}")
    wanted = [count * share / sum(shares) for share in shares]
    sizes = [int(size) for size in wanted]
    by_remainder = sorted(range(len(shares)), key=lambda place: sizes[place] - wanted[place])
    for place in by_remainder[: count - sum(sizes)]:
        sizes[place] += 1
    return sizes

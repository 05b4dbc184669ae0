"""What to annotate next: the words of each sentence that a tagger is least sure of.

As Li et al. (2017) chose the words of their conversion set: a word is the harder, the lower the marginal
probability of its most probable tag. Everything else stays unknown, so that what annotators fill in is
partial annotation, which training takes as it is.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer, Sentence, Tag
from duilian.corpus.formats.jsonlines import read_jsonlines, write_jsonlines
from duilian.errors import ConfigError
from duilian.models import StandardTagger

BATCH = 1000
MASS = 0.99
MOST_CANDIDATES = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """A sentence with sets of candidate tags on the words to annotate, and how unsure the tagger is of it."""

    sentence: Sentence
    uncertainty: float  # mean over words of 1 - probability of the best tag


def select(tagger: StandardTagger, sentences: Iterable[Sentence], share: float) -> Iterator[Selection]:
    """Each sentence with its most uncertain words: `share` of them (0 to 1), rounded up."""
    if not 0 < share <= 1:
        raise ConfigError(f"the share of words must be above 0 and at most 1, got {share!r}")
    if tagger.level != "word":
        raise ConfigError("selection needs a word-level model", "cut the text into words first")
    given = iter(sentences)
    while batch := list(itertools.islice(given, BATCH)):
        layers = [sentence[tagger.standard] for sentence in batch]
        for sentence, layer, marginals in zip(batch, layers, tagger.marginals(layers), strict=True):
            if layer.words:
                yield _selected(sentence, layer, marginals, share, tagger)


def most_uncertain(selections: Iterable[Selection], count: int) -> list[Selection]:
    """The sentences with the highest mean uncertainty, the highest first; ties in the order given."""
    return heapq.nlargest(count, selections, key=lambda selection: selection.uncertainty)


def hardest(best: npt.NDArray[np.float64], share: float) -> list[int]:
    """The places of the lowest probabilities: `share` of all, rounded up; ties from the left."""
    # The rounding forgives what a float adds to a whole number: 0.2 · 15 is 3.
    count = math.ceil(round(share * len(best), 9))
    return sorted(np.argsort(best, kind="stable")[:count].tolist())


def candidates(probabilities: npt.NDArray[np.float64], tags: Sequence[str]) -> frozenset[str]:
    """The most probable tags, at least two (if there are) and at most four, until they hold 99 % together."""
    order = np.argsort(-probabilities, kind="stable")[:MOST_CANDIDATES]
    reached = int(np.searchsorted(np.cumsum(probabilities[order]), MASS)) + 1
    return frozenset(tags[place] for place in order[: max(2, reached)])


def _selected(
    sentence: Sentence, layer: Layer, marginals: npt.NDArray[np.float64], share: float, tagger: StandardTagger
) -> Selection:
    best = marginals.max(axis=1)
    tags: list[Tag] = [None] * len(layer)
    for place in hardest(best, share):
        tags[place] = candidates(marginals[place], tagger.encoding_.labels)
    chosen = Layer(layer.words, tuple(tags), spaces=layer.spaces)
    return Selection(Sentence({tagger.standard: chosen}, sentence.id), float(1.0 - best.mean()))


class Review:
    """The least certain words of a whole corpus, which nobody knows before its end.

    Sentences wait in a temporary file, with candidates on every word; only how sure each word is stays in
    memory. Use it in a `with` block.
    """

    def __init__(self, standard: str) -> None:
        self.standard = standard
        self._sure = array("f")
        # Closed by __exit__.
        self._waiting = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115

    def __enter__(self) -> Review:
        return self

    def __exit__(self, *error: object) -> None:
        self._waiting.close()

    def add(
        self,
        words: Sequence[str],
        tags: Sequence[frozenset[str]],
        confidence: Sequence[float],
        *,
        id: str = "",
    ) -> None:
        """One more sentence: the candidates of each word, and how sure the best of them is."""
        layer = Layer(tuple(words), tuple(tags))
        self._waiting.writelines(write_jsonlines([Sentence({self.standard: layer}, id)]))
        self._sure.extend(confidence)

    def selected(self, share: float) -> Iterator[Sentence]:
        """The sentences with words among the least certain `share` of all; the other words are unknown."""
        is_hard = np.zeros(len(self._sure), np.bool_)
        is_hard[hardest(np.asarray(self._sure, np.float64), share)] = True
        self._waiting.seek(0)
        first = 0
        for sentence in read_jsonlines(enumerate(self._waiting, start=1), path="<review>"):
            layer = sentence[self.standard]
            hard = is_hard[first : first + len(layer)].tolist()
            first += len(layer)
            if any(hard):
                tags = tuple(tag if h else None for tag, h in zip(layer.tags or (), hard, strict=True))
                yield Sentence({self.standard: Layer(layer.words, tags)}, sentence.id)

"""Selection of the words that a tagger is least sure of, for manual annotation.

As in Li et al. (2017): the lower the marginal probability of a word's best tag, the harder the word. The tags
of all other words stay unknown; the result is partial annotation, which can be used for training as it is.
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
from duilian.corpus.batches import batches
from duilian.corpus.formats.jsonlines import read_jsonlines, write_jsonlines
from duilian.corpus.merging import given_cuts
from duilian.engine import Analyzer
from duilian.errors import ConfigError
from duilian.models import StandardTagger
from duilian.models.roles import Ask

CANDIDATE_MASS = 0.99
MAX_CANDIDATES = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """A sentence with candidate tags for the words to annotate, and the tagger's uncertainty."""

    sentence: Sentence
    uncertainty: float  # mean over words of 1 - probability of the best tag


def select(
    tagger: StandardTagger, sentences: Iterable[Sentence], share: float, *, threads: int = 1
) -> Iterator[Selection]:
    """Select the most uncertain words of each sentence: a `share` of them (0 to 1), rounded up.

    >>> from duilian import Tagger, demo
    >>> tagger = Tagger("ctb").fit(demo.load("ctb", "ctb"))
    >>> found = next(select(tagger, demo.load("both-ctb", "ctb"), 0.2))
    >>> sum(tag is not None for tag in found.sentence["ctb"].tags)
    2
    """
    _check_share(share)
    if tagger.level != "word":
        raise ConfigError("select needs a word-level model", "use select_with for a character-level one")
    for batch in batches(sentences):
        layers = [sentence[tagger.standard] for sentence in batch]
        rows = tagger.marginals(layers, threads=threads)
        for sentence, layer, marginals in zip(batch, layers, rows, strict=True):
            if layer.words:
                yield _selected(sentence, layer, marginals, share, tagger)


def select_with(
    analyzer: Analyzer, sentences: Iterable[Sentence], share: float, standard: str, *, threads: int = 1
) -> Iterator[Selection]:
    """The same with an analyser, whose model may be of character level: the words are given.

    >>> import duilian
    >>> sentence = Sentence({"pku": Layer(("经济", "发展", "了"))})
    >>> next(select_with(duilian.load(), [sentence], 0.2, "pku")).sentence["pku"].tags[1] > {"v", "vn"}
    True
    """
    _check_share(share)
    ask = Ask(standards=(standard,), marginals=True, trees=False)
    for batch in batches(sentences):
        open_tags = [Sentence({standard: Layer(each[standard].words)}) for each in batch]
        docs = analyzer.fill(open_tags, standard, ask=ask, threads=threads)
        for sentence, doc in zip(batch, docs, strict=True):
            layer, rows = sentence[standard], [token.marginals or {} for token in doc.tokens(standard)]
            if layer.words:
                best = np.array([max(row.values(), default=0.0) for row in rows])
                tags: list[Tag] = [None] * len(layer)
                for place in hardest(best, share):
                    found = rows[place]
                    tags[place] = probable_tags(np.array(list(found.values())), list(found))
                yield _selection(sentence, layer, tags, best, standard)


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise ConfigError(f"the share of words must be above 0 and at most 1, got {share!r}")


def most_uncertain(selections: Iterable[Selection], count: int) -> list[Selection]:
    """Return the sentences with the highest mean uncertainty, highest first; ties in order."""
    return heapq.nlargest(count, selections, key=lambda selection: selection.uncertainty)


def hardest(best: npt.NDArray[np.float64], share: float) -> list[int]:
    """Return the positions of the lowest probabilities: a `share` of all, rounded up; ties from the left."""
    # round() absorbs floating-point error, so that 0.2 · 15 is 3.
    count = math.ceil(round(share * len(best), 9))
    return sorted(np.argsort(best, kind="stable")[:count].tolist())


def probable_tags(probabilities: npt.NDArray[np.float64], tags: Sequence[str]) -> frozenset[str]:
    """Return the most probable tags that together reach 99 %, at least two (if any) and at most four."""
    order = np.argsort(-probabilities, kind="stable")[:MAX_CANDIDATES]
    reached = int(np.searchsorted(np.cumsum(probabilities[order]), CANDIDATE_MASS)) + 1
    return frozenset(tags[place] for place in order[: max(2, reached)])


def _selected(
    sentence: Sentence, layer: Layer, marginals: npt.NDArray[np.float64], share: float, tagger: StandardTagger
) -> Selection:
    best = marginals.max(axis=1)
    tags: list[Tag] = [None] * len(layer)
    for place in hardest(best, share):
        tags[place] = probable_tags(marginals[place], tagger.encoding_.labels)
    return _selection(sentence, layer, tags, best, tagger.standard)


def _selection(
    sentence: Sentence, layer: Layer, tags: Sequence[Tag], best: npt.NDArray[np.float64], standard: str
) -> Selection:
    chosen = Layer(layer.words, tuple(tags), spaces=layer.spaces)
    return Selection(Sentence({standard: chosen}, sentence.id), float(1.0 - best.mean()))


class Review:
    """Finds the least certain words of a whole corpus.

    Sentences wait in a temporary file, with candidates for every word; only the confidence of each word stays
    in memory. Use it in a `with` block.
    """

    def __init__(self, standard: str) -> None:
        self.standard = standard
        self.words = self.sentences = 0  # selected so far
        self._confidence = array("f")
        self._pending = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115

    def __enter__(self) -> Review:
        return self

    def __exit__(self, *error: object) -> None:
        self._pending.close()

    def add(
        self,
        words: Sequence[str],
        tags: Sequence[frozenset[str]],
        confidence: Iterable[float],
        *,
        id: str = "",
        given: Sequence[str] = (),
    ) -> None:
        """Add a sentence: the candidates of each word, and the confidence in the best of them.

        `given` are the words before conversion. Where they are cut differently, they are a candidate too, and
        all words in that place count as uncertain as the least certain of them.
        """
        cuts = given_cuts(words, given)
        for cut, group in itertools.groupby(zip(cuts, confidence, strict=True), key=lambda pair: pair[0]):
            sure = [each for _, each in group]
            self._confidence.extend([min(sure)] * len(sure) if cut else sure)
        shown = tuple(tag | {cut} if cut else tag for tag, cut in zip(tags, cuts, strict=True))
        self._pending.writelines(write_jsonlines([Sentence({self.standard: Layer(tuple(words), shown)}, id)]))

    def selected(self, share: float) -> Iterator[Sentence]:
        """Yield the sentences with words among the least certain `share`; all other words are unknown."""
        is_hard = np.zeros(len(self._confidence), np.bool_)
        is_hard[hardest(np.asarray(self._confidence, np.float64), share)] = True
        self._pending.seek(0)
        first = 0
        for sentence in read_jsonlines(enumerate(self._pending, start=1), path="<review>"):
            layer = sentence[self.standard]
            hard = is_hard[first : first + len(layer)].tolist()
            first += len(layer)
            if any(hard):
                self.words += sum(hard)
                self.sentences += 1
                tags = tuple(tag if h else None for tag, h in zip(layer.tags or (), hard, strict=True))
                yield Sentence({self.standard: Layer(layer.words, tags)}, sentence.id)

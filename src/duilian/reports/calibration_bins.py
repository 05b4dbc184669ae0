"""Calibration: is a word with a probability of 90 % right nine times out of ten?"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.corpus import Corpus, Layer, Sentence
from duilian.engine import Analyzer
from duilian.evaluation.judged import Judged
from duilian.models.roles import Ability, Ask, chosen_standard

BINS = 10


@dataclasses.dataclass(frozen=True)
class Reliability:
    """Words of an answer in groups by their probability: how many, mean probability, share of right ones."""

    words: tuple[int, ...]
    probability: tuple[float, ...]  # from 0 to 1
    right: tuple[float, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean difference of both, weighted by words, in points."""
        gaps = [n * abs(p - r) for n, p, r in zip(self.words, self.probability, self.right, strict=True)]
        return 100.0 * sum(gaps) / max(sum(self.words), 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**{name: list(row) for name, row in dataclasses.asdict(self).items()}, "error": self.error}


def reliability(probability: npt.NDArray[np.float64], is_right: npt.NDArray[np.bool_]) -> Reliability:
    """Group words by probability, in tenths; groups without words are left out.

    >>> found = reliability(np.array([0.95, 0.95, 0.5]), np.array([True, False, True]))
    >>> found.words, found.right
    ((1, 2), (1.0, 0.5))
    """
    group = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    words = np.bincount(group, minlength=BINS)
    here = words > 0
    means = [
        np.bincount(group, np.asarray(each, np.float64), minlength=BINS)[here] / words[here]
        for each in (probability, is_right)
    ]
    return Reliability(tuple(words[here].tolist()), *(tuple(each.tolist()) for each in means))


def measure_reliability(
    analyzer: Analyzer, gold: Corpus, standard: str | None = None, *, threads: int = 1
) -> Reliability | None:
    """Compare probabilities of words and tags with gold; None if the model has no probabilities.

    Words whose gold tag is unknown do not count.
    """
    if Ability.MARGINALS not in analyzer.labeler.abilities:
        return None
    name = chosen_standard(standard, analyzer.standards)
    sentences = [Sentence({name: Layer(each.words, each.tags)}) for each in (s[gold.standard] for s in gold)]
    ask = Ask((name,), trees=False, confidence=True)
    docs = list(analyzer.anew(sentences, name, ask=ask, threads=threads))
    guess = [Layer(tuple(doc.words(name)), _tags(doc, name)) for doc in docs]
    judged = Judged.of([sentence[name] for sentence in sentences], guess)
    sure = np.array([token.confidence or 0.0 for doc in docs for token in doc.tokens(name)], np.float64)
    right, counts = np.zeros(len(sure), np.bool_), np.ones(len(sure), np.bool_)
    match = judged.alignment.match
    right[match[judged.is_found]] = True
    if judged.is_tagged:
        unknown = np.array([tag is None for tag, _, _ in judged.matched_tags], np.bool_)
        counts[match[unknown & (match >= 0)]] = False
    return reliability(sure[counts], right[counts])


def _tags(doc: Any, name: str) -> tuple[str, ...] | None:
    return None if doc.layer(name).tags is None else tuple(doc.tags(name))

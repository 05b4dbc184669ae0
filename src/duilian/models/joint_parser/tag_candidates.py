"""Which tags a word may have in a joint search: those that a plain tagger finds probable enough.

A tag is a candidate if its marginal is at least λ times that of the word's best tag (Li et al. 2014, Eq.
11-13). On training sentences, the marginals come from jack-knifed taggers, so that candidates are as accurate
there as on new text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Tag
from duilian.learning import Session, jackknifed
from duilian.lexicon.constraint_builder import NO_BONUS
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.parser.tree_packing import Words

Marginals = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]

SHARE = 0.4  # of the plain tagger in a decision with a labeler; 0.3 and 0.5 do about as well
LEAST = 1e-4  # the plain tagger rules nothing out
LEAST_PROBABILITY = 1e-30  # of a given tag that the tagger finds impossible
# The upper ends of classes of probabilities, denser where small differences matter.
LIKELIHOODS = np.array([0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995])


@dataclasses.dataclass(frozen=True, eq=False)
class TagCandidates:
    """The candidates of the words of all sentences, concatenated."""

    first: npt.NDArray[np.int64]  # [words + 1]
    tag: Ids  # [candidates]
    likelihood: npt.NDArray[np.uint8]  # [candidates]  classes of probabilities
    best: Ids  # [words]  the likeliest candidates

    @property
    def per_word(self) -> float:
        """The mean number of candidates per word."""
        return len(self.tag) / max(len(self.best), 1)

    def share_with(self, gold: Ids) -> float:
        """The share of words with their gold tag among the candidates, in percent; -1 does not count."""
        owner = np.repeat(np.arange(len(self.best)), np.diff(self.first))
        found = np.bincount(owner, self.tag == gold[owner], minlength=len(gold)) > 0
        known = gold >= 0
        return float(100.0 * found[known].mean()) if known.any() else 0.0


def candidates(
    marginals: Marginals,
    threshold: float,
    *,
    added: Ids | None = None,
    given: npt.NDArray[np.bool_] | None = None,
) -> TagCandidates:
    """The candidates for marginals [words, tags]; `added` are tags to keep in any case, -1 for none.

    `given` [words, tags] says which tags are allowed; a row without any allows all.
    """
    allowed = marginals
    if given is not None:
        is_open = np.logical_not(given.any(axis=1, keepdims=True))
        allowed = np.where(given | is_open, np.maximum(marginals, LEAST_PROBABILITY), 0.0)
    top = allowed.max(axis=1, keepdims=True)
    kept = (allowed >= threshold * top) & (allowed > 0)
    if added is not None:
        kept[np.flatnonzero(added >= 0), added[added >= 0]] = True
    word, tag = np.nonzero(kept)
    first = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=len(marginals)))])
    return TagCandidates(
        first.astype(np.int64),
        tag.astype(np.int32),
        np.searchsorted(LIKELIHOODS, marginals[word, tag]).astype(np.uint8),
        allowed.argmax(axis=1).astype(np.int32),
    )


def marginals_of(
    tagger: CrfPredictor, layers: Sequence[Layer], tags: Sequence[str], threads: int = 1
) -> Marginals:
    """[words, tags] the marginals of all sentences, for these tags; 0 for a tag that the tagger lacks."""
    found = tagger.marginals(layers, threads=threads)
    place = {tag: k for k, tag in enumerate(tags)}
    out = np.zeros((sum(map(len, found)), len(tags)))
    own = [place[tag] for tag in tagger.encoding_.tags or ()]
    out[:, own] = np.concatenate([np.zeros((0, len(own))), *found])
    return out


def united_marginals(
    tagger: CrfPredictor, words: Words, labeler: Marginals, tags: Sequence[str], threads: int = 1
) -> Marginals:
    """[words, tags] the marginals of two models together: p ∝ p(labeler)^(1 - share) · p(tagger)^share.

    A labeler of characters sees the text around a word, a tagger of words sees words. They make different
    errors, so they are better together than alone. Only tags that the labeler finds possible count: what a
    lexicon or given annotation rules out stays ruled out.
    """
    place = {tag: k for k, tag in enumerate(tags)}
    own = np.array([place[tag] for tag in tagger.encoding_.tags or ()], np.int64)
    word, tag = np.nonzero(labeler[:, own])
    first = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=len(labeler)))])
    # It is faster to try only these tags.
    allowed = _native.TagSets(first.astype(np.int32), tag.astype(np.int32))
    constraints = _native.Constraints(allowed, *NO_BONUS)
    packed = tagger.packer.pack(words, [], threads)
    tagged = np.zeros_like(labeler)
    tagged[:, own] = tagger.native.predict_marginals(packed, constraints, threads)
    found = np.zeros_like(labeler)
    word, tag = np.nonzero(labeler)
    found[word, tag] = labeler[word, tag] ** (1.0 - SHARE) * np.maximum(tagged[word, tag], LEAST) ** SHARE
    total = found.sum(axis=1, keepdims=True)
    # If all of the labeler's tags are unknown, the tagger decides alone.
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), tagged)


def jackknifed_marginals(
    fit: Callable[[list[Layer]], CrfPredictor],
    layers: Sequence[Layer],
    tags: Sequence[str],
    folds: int,
    session: Session,
) -> Marginals:
    """The marginals of training sentences, each from a tagger that has learned from the other folds."""
    answer = lambda others, held_out: marginals_of(fit(others), held_out, tags, session.threads)  # noqa: E731
    return np.concatenate(jackknifed(layers, min(folds, len(layers)), answer, session, "tagging"))


def tag_numbers(layers: Sequence[Layer], tags: Sequence[str]) -> Ids:
    """[words] the number of each gold tag; -1 if it is unknown or there are several."""
    place: dict[Tag, int] = {tag: k for k, tag in enumerate(tags)}
    rows = [tag for layer in layers for tag in layer.tags or (None,) * len(layer)]
    return np.array([place.get(tag, -1) for tag in rows], np.int32)

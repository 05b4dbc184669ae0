"""The main score of a tagger straight from its label numbers.

A dev set is scored twice in every iteration of a training; to write out its words and tags each time would
take longer than to tag it. The answer is that of `main_score`: if every unit is a word, the F1 of words with
their tags is the accuracy of tags.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus.sentence import Tag
from duilian.evaluation.score import IntArray, Score, is_right
from duilian.standards import LabelMeaning


class LabelScorer:
    """Gold words, given as their sizes in units, with their tags; or None if only words are judged."""

    def __init__(
        self, meaning: LabelMeaning, first: IntArray, sizes: Sequence[int], tags: Sequence[Tag] | None
    ) -> None:
        self._meaning = meaning
        self._sentence = first[:-1][np.diff(first) > 0]  # where sentences begin that have units
        self._end = np.cumsum(np.array(sizes, np.int64))
        self._start = self._end - np.array(sizes, np.int64)
        given: Sequence[Tag] = [""] * len(sizes) if tags is None else tags
        kinds = {tag: number for number, tag in enumerate(dict.fromkeys(given))}
        self._kind = np.fromiter(map(kinds.__getitem__, given), np.int64, len(given))  # [words]
        self._judged = np.array([tag is not None for tag in kinds], np.bool_)[self._kind]  # [words]
        # [kinds, L] whether a word with this gold tag is right if its first unit has the label
        self._right = np.array(
            [[tags is None or is_right(gold, guess) for guess in meaning.tags] for gold in kinds], np.bool_
        ).reshape(len(kinds), len(meaning.tags))

    def score(self, labels: npt.NDArray[np.int32]) -> Score:
        """The words (with their tags) of labels for all units, which must be legal."""
        cut = np.ones(len(labels) + 1, np.bool_)
        cut[1:-1] = self._meaning.ends[labels[:-1]] & self._meaning.starts[labels[1:]]
        cut[self._sentence] = True
        words = np.cumsum(cut)
        # Gold's words that are there: cut before, cut behind, and not in between.
        found = cut[self._start] & cut[self._end] & (words[self._end - 1] == words[self._start])
        right = found & self._judged & self._right[self._kind, labels[self._start]]
        guess = np.count_nonzero(cut[:-1]) - np.count_nonzero(found & ~self._judged)
        return Score(int(np.count_nonzero(self._judged)), int(guess), int(np.count_nonzero(right)))

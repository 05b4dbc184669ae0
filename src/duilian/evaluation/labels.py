"""The main score of a tagger, computed directly from label numbers.

Training scores the dev set twice in every iteration; building its words and tags each time would take longer
than tagging it. The result equals that of `main_score`: if every unit is a word, the F1 of words with tags is
the tagging accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus.sentence import Tag
from duilian.evaluation.score import IntArray, Score, is_right
from duilian.standards import LabelMeaning


class LabelScorer:
    """Scores labels against gold words, given by their sizes in units, and tags (None: words only)."""

    def __init__(
        self, meaning: LabelMeaning, first: IntArray, sizes: Sequence[int], tags: Sequence[Tag] | None
    ) -> None:
        self._meaning = meaning
        self._sentence = first[:-1][np.diff(first) > 0]  # the first units of non-empty sentences
        self._end = np.cumsum(np.array(sizes, np.int64))
        self._start = self._end - np.array(sizes, np.int64)
        given: Sequence[Tag] = [""] * len(sizes) if tags is None else tags
        kinds = {tag: number for number, tag in enumerate(dict.fromkeys(given))}
        self._kind = np.fromiter(map(kinds.__getitem__, given), np.int64, len(given))  # [words]
        self._judged = np.array([tag is not None for tag in kinds], np.bool_)[self._kind]  # [words]
        # [kinds, L] whether a word with this gold tag is right if its first unit has this label
        self._right = np.array(
            [[tags is None or is_right(gold, guess) for guess in meaning.tags] for gold in kinds], np.bool_
        ).reshape(len(kinds), len(meaning.tags))

    def score(self, labels: npt.NDArray[np.int32]) -> Score:
        """Score the words (with their tags) of a legal sequence of labels for all units."""
        cut = np.ones(len(labels) + 1, np.bool_)
        cut[1:-1] = self._meaning.ends[labels[:-1]] & self._meaning.starts[labels[1:]]
        cut[self._sentence] = True
        words = np.cumsum(cut)
        # Gold words that were found: cut before, cut after, and not in between.
        found = cut[self._start] & cut[self._end] & (words[self._end - 1] == words[self._start])
        right = found & self._judged & self._right[self._kind, labels[self._start]]
        guess = np.count_nonzero(cut[:-1]) - np.count_nonzero(found & ~self._judged)
        return Score(int(np.count_nonzero(self._judged)), int(guess), int(np.count_nonzero(right)))

"""An answer compared with gold, word by word: what every metric and every table of details counts.

Each metric is a ratio of sums over sentences, so it is kept as counts per sentence; `significance` and
`comparison` need no more.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from itertools import chain

import numpy as np

from duilian.corpus.sentence import Layer, Tag
from duilian.errors import ConfigError
from duilian.evaluation.attachment import attachment_counts, complete_counts, root_counts
from duilian.evaluation.chunking import OUTSIDE, are_chunk_labels, chunk_counts
from duilian.evaluation.raw_text import raw_attachment_counts
from duilian.evaluation.same_text import sentences_of_all
from duilian.evaluation.score import BoolArray, IntArray, counts_per_sentence, is_right
from duilian.evaluation.tagging import tag_counts
from duilian.evaluation.words import Alignment, align
from duilian.wording import counted

Tags = list[Sequence[Tag]]


@dataclasses.dataclass(frozen=True, eq=False)
class Judged:
    """Gold and an answer in the same sentences, and which of their words match."""

    gold: list[Layer]
    guess: list[Layer]
    alignment: Alignment

    @classmethod
    def of(cls, gold: Sequence[Layer], guess: Sequence[Layer]) -> Judged:
        """Compare an answer with gold; both must have the same characters, but for white space."""
        (found,) = cls.of_all(gold, [guess])
        return found

    @classmethod
    def of_all(cls, gold: Sequence[Layer], answers: Sequence[Sequence[Layer]]) -> list[Judged]:
        """Compare several answers with gold, all in the same sentences."""
        left, rest = sentences_of_all(gold, answers)
        words = [layer.words for layer in left]
        return [cls(left, right, align(words, [layer.words for layer in right])) for right in rest]

    @functools.cached_property
    def gold_tags(self) -> Tags:
        """The gold tags of each sentence; None where there is none."""
        return _tags(self.gold, "gold")

    @functools.cached_property
    def guess_tags(self) -> Tags:
        """The same for the answer."""
        return _tags(self.guess, "guess")

    @functools.cached_property
    def is_tagged(self) -> bool:
        """Whether both sides have tags."""
        return all(any(tag is not None for tag in chain(*side)) for side in (self.gold_tags, self.guess_tags))

    @functools.cached_property
    def is_parallel(self) -> bool:
        """Whether both sides have the same words."""
        return self.alignment.is_same

    def has(self, column: str) -> bool:
        """Whether both sides have heads, or relations."""
        sides = (self.gold, self.guess)
        return all(any(getattr(layer, column) is not None for layer in side) for side in sides)

    @functools.cached_property
    def matched_tags(self) -> list[tuple[Tag, Tag, bool]]:
        """For each gold word its tag, the tag of the answer's word there, and whether there is one."""
        guess = list(chain(*self.guess_tags))
        places = self.alignment.match.tolist()
        return [
            (tag, guess[place] if place >= 0 else None, place >= 0)
            for tag, place in zip(chain(*self.gold_tags), places, strict=True)
        ]

    @functools.cached_property
    def is_found(self) -> BoolArray:
        """[G] whether the answer has the word, with its tag if both sides have tags."""
        found = self.alignment.match >= 0
        if not self.is_tagged:
            return found
        right = (tag is None or is_right(tag, guess) for tag, guess, _ in self.matched_tags)
        return found & np.fromiter(right, np.bool_, len(found))

    @functools.cached_property
    def counts(self) -> dict[str, IntArray]:
        """[N, 3] gold, guess, correct of each metric that both sides allow, by name."""
        return self.counts_as(is_parallel=self.is_parallel)

    def counts_as(self, *, is_parallel: bool) -> dict[str, IntArray]:
        """The same, either for given words (`is_parallel`) or for words that the answer had to find."""
        found: dict[str, IntArray] = {}
        if not is_parallel or not self.is_tagged:
            found["word"] = self.alignment.word_counts()
        if self.is_tagged:
            found |= self._tag_counts(is_parallel)
        return found | (self._tree_counts(is_parallel) if self.has("heads") else {})

    def _tag_counts(self, is_parallel: bool) -> dict[str, IntArray]:
        if not is_parallel:
            counts = self.alignment.word_tag_counts(self.gold_tags, self.guess_tags)
            return {"word_tag": counts, "character": self.character_counts()}
        found = {"accuracy": tag_counts(self.gold_tags, self.guess_tags)}
        if are_chunk_labels(chain(*self.gold_tags)):
            found["chunk"] = chunk_counts(labels_of(self.gold_tags), labels_of(self.guess_tags))
        return found

    def _tree_counts(self, is_parallel: bool) -> dict[str, IntArray]:
        labelled = self.has("relations")
        if not is_parallel:
            found = {"raw_uas": raw_attachment_counts(self.gold, self.guess, labelled=False)}
            if labelled:
                found["raw_las"] = raw_attachment_counts(self.gold, self.guess, labelled=True)
            return found
        found = {"uas": attachment_counts(self.gold, self.guess)}
        if labelled:
            found["las"] = attachment_counts(self.gold, self.guess, labelled=True)
        found["root"] = root_counts(self.gold, self.guess)
        return found | {"complete": complete_counts(self.gold, self.guess)}

    def character_counts(self) -> IntArray:
        """[N, 3] characters with a gold tag, the same again, and those with the right place and tag.

        A character is right if it is first, inner, last or only in its word on both sides, and the words have
        the same tag (Li et al. 2016).
        """
        sizes = [
            np.array([len(word) for layer in side for word in layer.words], np.int64)
            for side in (self.gold, self.guess)
        ]
        flat = [list(chain(*side)) for side in (self.gold_tags, self.guess_tags)]
        gold_word, guess_word = (np.repeat(np.arange(len(each)), each) for each in sizes)
        same_place = _places(sizes[0]) == _places(sizes[1])
        pairs = zip(gold_word.tolist(), guess_word.tolist(), strict=True)
        same_tag = np.fromiter((is_right(flat[0][a], flat[1][b]) for a, b in pairs), np.bool_, len(gold_word))
        judged = np.fromiter((tag is not None for tag in flat[0]), np.bool_, len(flat[0]))[gold_word]
        owner = np.repeat(np.arange(len(self.gold)), [sum(map(len, layer.words)) for layer in self.gold])
        right = judged & same_place & same_tag
        return counts_per_sentence(owner[judged], owner[judged], owner[right], len(self.gold))


def _places(sizes: IntArray) -> IntArray:
    """[characters] 1 for the first of a word, 2 for the last, 3 for the only one, 0 for the others."""
    places = np.zeros(int(sizes.sum()), np.int64)
    end = np.cumsum(sizes)
    places[end - sizes] += 1
    places[end - 1] += 2
    return places


def _tags(layers: Sequence[Layer], side: str) -> Tags:
    for number, layer in enumerate(layers, 1):
        if layer.tags is not None and len(layer.tags) != len(layer):
            count = f"{counted(len(layer), 'word')}, but {counted(len(layer.tags), 'tag')}"
            raise ConfigError(f"sentence {number}: {side} has {count}")
    return [(None,) * len(layer) if layer.tags is None else layer.tags for layer in layers]


def labels_of(tags: Tags) -> list[list[str]]:
    """Chunk labels; a missing label counts as O."""
    return [[tag if isinstance(tag, str) else OUTSIDE for tag in row] for row in tags]

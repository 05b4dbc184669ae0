"""Scores for word segmentation: a word is right if gold has a word at the same place.

Both sides have the same text. So the words of all sentences are cuts in one long string of characters, and
words of both sides are matched by counting cuts, without a loop over sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence, Set
from itertools import chain

import numpy as np

from duilian.corpus.counts import percentage
from duilian.corpus.sentence import Tag
from duilian.errors import ConfigError
from duilian.evaluation.score import (
    BoolArray,
    IntArray,
    Score,
    counts_per_sentence,
    is_right,
    sentence_pairs,
)
from duilian.wording import counted


@dataclasses.dataclass(frozen=True, slots=True)
class KnownAndUnknownRecall:
    """The numbers of words that a vocabulary has and lacks, and how many of each were found."""

    known: int
    known_found: int
    unknown: int
    unknown_found: int

    @property
    def share(self) -> float:
        """The percentage of unknown words."""
        return percentage(self.unknown, self.known + self.unknown)

    @property
    def known_recall(self) -> float:
        """The percentage of known words that were found (IV recall)."""
        return percentage(self.known_found, self.known)

    @property
    def unknown_recall(self) -> float:
        """The percentage of unknown words that were found (OOV recall)."""
        return percentage(self.unknown_found, self.unknown)


@dataclasses.dataclass(frozen=True, eq=False)
class Alignment:
    """The gold and guessed words of N sentences, concatenated, and which of them match."""

    gold_words: list[str]  # [G]
    gold_sizes: IntArray  # [N] number of words in each sentence
    guess_sizes: IntArray  # [N]
    match: IntArray  # [G] the guessed word over the same characters, or -1

    @property
    def is_same(self) -> bool:
        """Whether both sides have the same words throughout."""
        # Gold words cover the text: if all are matched, no guessed word is left.
        return bool((self.match >= 0).all())

    def word_counts(self) -> IntArray:
        """[N, 3] words in gold, in the guess, and in both, per sentence."""
        gold = _owners(self.gold_sizes)
        return counts_per_sentence(
            gold, _owners(self.guess_sizes), gold[self.match >= 0], len(self.gold_sizes)
        )

    def word_tag_counts(
        self, gold_tags: Iterable[Sequence[Tag]], guess_tags: Iterable[Sequence[Tag]]
    ) -> IntArray:
        """[N, 3] the same for words with tags: word and tag must be right.

        A word whose gold tag is unknown counts on neither side; if gold is a set, the guess must be in it.
        """
        gold = _flat_tags(gold_tags, self.gold_sizes, "gold")
        guess = _flat_tags(guess_tags, self.guess_sizes, "guess")
        judged = np.fromiter((tag is not None for tag in gold), np.bool_, len(gold))
        right = np.fromiter(
            (t >= 0 and is_right(tag, guess[t]) for tag, t in zip(gold, self.match.tolist(), strict=True)),
            np.bool_,
            len(gold),
        )
        guess_judged = np.ones(len(guess), np.bool_)
        guess_judged[self.match[~judged & (self.match >= 0)]] = False
        owner = _owners(self.gold_sizes)
        return counts_per_sentence(
            owner[judged],
            _owners(self.guess_sizes)[guess_judged],
            owner[judged & right],
            len(self.gold_sizes),
        )

    def by_vocabulary(self, vocabulary: Set[str]) -> KnownAndUnknownRecall:
        """Count how many known and unknown gold words were found."""
        known: BoolArray = np.fromiter(
            map(vocabulary.__contains__, self.gold_words), np.bool_, len(self.gold_words)
        )
        found = self.match >= 0
        sums = [known, known & found, ~known, ~known & found]
        return KnownAndUnknownRecall(*[int(np.count_nonzero(mask)) for mask in sums])


def align(gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]]) -> Alignment:
    """Match the words of each sentence by their place; both sides must have the same characters."""
    gold_sentences, guess_sentences = [], []
    for number, left, right in sentence_pairs(gold, guess):
        _check_spelling(number, left, right)
        gold_sentences.append(left)
        guess_sentences.append(right)
    gold_words = list(chain.from_iterable(gold_sentences))
    match = _match(_lengths(gold_words), _lengths(list(chain.from_iterable(guess_sentences))))
    return Alignment(gold_words, _lengths(gold_sentences), _lengths(guess_sentences), match)


def word_score(gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]]) -> Score:
    """Precision, recall and F1 of words.

    >>> word_score([["我们", "去", "北京"]], [["我们", "去北京"]]).precision
    50.0
    """
    return Score.of(align(gold, guess).word_counts())


def word_tag_score(
    gold: tuple[Iterable[Sequence[str]], Iterable[Sequence[Tag]]],
    guess: tuple[Iterable[Sequence[str]], Iterable[Sequence[Tag]]],
) -> Score:
    """Precision, recall and F1 of words with their tags; each side is (words, tags) of all sentences.

    >>> word_tag_score(([["我们", "去"]], [["r", "v"]]), ([["我们", "去"]], [["r", "n"]])).f1
    50.0
    """
    return Score.of(align(gold[0], guess[0]).word_tag_counts(gold[1], guess[1]))


def recall_by_vocabulary(
    gold: Iterable[Sequence[str]], guess: Iterable[Sequence[str]], vocabulary: Set[str]
) -> KnownAndUnknownRecall:
    """The recall of words that a vocabulary has, and of those it lacks."""
    return align(gold, guess).by_vocabulary(vocabulary)


def _match(gold: IntArray, guess: IntArray) -> IntArray:
    """[G] the guessed word over the same characters, or -1, from the lengths of all words."""
    gold_end, guess_end = np.cumsum(gold), np.cumsum(guess)
    gold_start = gold_end - gold
    # Words are not empty, so on each side all starts differ, and all ends.
    at_start = np.searchsorted(guess_end - guess, gold_start)
    at_end = np.searchsorted(guess_end, gold_end)
    starts_there = np.append(guess_end - guess, -1)[at_start] == gold_start
    ends_there = np.append(guess_end, -1)[at_end] == gold_end
    return np.where(starts_there & ends_there & (at_start == at_end), at_start, -1).astype(np.int64)


def _first_difference(left: str, right: str) -> int:
    pairs = zip(left, right, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(left), len(right)))


def _check_spelling(number: int, gold: Sequence[str], guess: Sequence[str]) -> None:
    left, right = "".join(gold), "".join(guess)
    if left != right:
        at = _first_difference(left, right)
        raise ConfigError(
            f"sentence {number}: gold and guess have different text from character {at + 1} on: "
            f"{left[at : at + 10]!r} and {right[at : at + 10]!r}"
        )
    for side, words in (("gold", gold), ("guess", guess)):
        if "" in words:
            raise ConfigError(f"sentence {number}: word {words.index('') + 1} of {side} is empty")


def _flat_tags(tags: Iterable[Sequence[Tag]], sizes: IntArray, side: str) -> list[Tag]:
    flat: list[Tag] = []
    for number, size, row in sentence_pairs(sizes.tolist(), tags, (f"{side} words", f"{side} tags")):
        if len(row) != size:
            raise ConfigError(
                f"sentence {number}: {side} has {counted(size, 'word')}, but {counted(len(row), 'tag')}"
            )
        flat += row
    return flat


def _lengths(rows: Sequence[Sequence[object]]) -> IntArray:
    return np.fromiter(map(len, rows), np.int64, len(rows))


def _owners(sizes: IntArray) -> IntArray:
    """The sentence number of each word, for sentences of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)

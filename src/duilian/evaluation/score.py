"""Counts of gold, guess and correct, and percentages computed from them.

Every metric here is a ratio of sums over sentences, so each sentence is reduced to three numbers.
Significance tests (`significance.py`) need only these numbers, not the sentences.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from duilian.corpus.counts import percentage
from duilian.corpus.sentence import Tag
from duilian.errors import ConfigError
from duilian.wording import counted

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
A = TypeVar("A")
B = TypeVar("B")

# The columns of counts per sentence.
GOLD, GUESS, CORRECT = 0, 1, 2


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """Counts of items in gold, in the guess, and in both; percentages are 0 if there are none."""

    gold: int
    guess: int
    correct: int

    @classmethod
    def of(cls, counts: IntArray) -> Score:
        """The sum of counts per sentence: [N, 3]."""
        gold, guess, correct = counts.sum(axis=0).tolist()
        return cls(gold, guess, correct)

    @property
    def precision(self) -> float:
        """The share of the guess that is correct."""
        return percentage(self.correct, self.guess)

    @property
    def recall(self) -> float:
        """The share of gold that was found."""
        return percentage(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return percentage(2 * self.correct, self.gold + self.guess)

    def as_json(self) -> dict[str, float]:
        """The stable JSON output of `duilian evaluate --json`."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    def with_counts(self) -> dict[str, float]:
        """The same with the counts behind them."""
        return {**self.as_json(), "gold": self.gold, "guess": self.guess, "correct": self.correct}


def is_right(gold: Tag, guess: Tag) -> bool:
    """Whether the guess is the gold tag or one of a gold set; a guess that is not a single tag is wrong."""
    return guess in gold if isinstance(gold, frozenset) else guess == gold


def counts_per_sentence(gold: IntArray, guess: IntArray, correct: IntArray, sentences: int) -> IntArray:
    """[N, 3] from the sentence number of each gold, each guessed and each correct item."""
    columns = [np.bincount(owner, minlength=sentences) for owner in (gold, guess, correct)]
    return np.stack(columns, axis=1).astype(np.int64)


def sentence_pairs(
    gold: Iterable[A], guess: Iterable[B], sides: tuple[str, str] = ("gold", "guess")
) -> Iterator[tuple[int, A, B]]:
    """Pair gold and guess of each sentence, with its number from 1; both must have the same length."""
    missing = object()
    for number, (left, right) in enumerate(zip_longest(gold, guess, fillvalue=missing), 1):
        if left is missing or right is missing:
            short, long = sides if left is missing else sides[::-1]
            raise ConfigError(f"{counted(number - 1, 'sentence')} of {short}, but more of {long}")
        yield number, left, right  # type: ignore[misc]


def token_pairs(
    gold: Iterable[Sequence[A]], guess: Iterable[Sequence[B]], what: str
) -> Iterator[tuple[Sequence[A], Sequence[B]]]:
    """Pair gold and guess of each sentence, which must have the same number of `what`, a word for errors."""
    for number, left, right in sentence_pairs(gold, guess):
        if len(left) != len(right):
            same = f"gold and guess must have the same number of {what}"
            raise ConfigError(f"sentence {number}: {same}, got {len(left)} and {len(right)}")
        yield left, right

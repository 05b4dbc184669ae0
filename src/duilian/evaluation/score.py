"""Counts of gold, guess and correct, and the percentages that follow from them.

Every metric here is a ratio of sums over sentences, so that a sentence is three numbers. Significance
tests (`significance.py`) shuffle these numbers and never look at the sentences again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from duilian.corpus.sentence import Tag
from duilian.corpus.statistics import percentage
from duilian.errors import ConfigError

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
A = TypeVar("A")
B = TypeVar("B")

# The columns of counts per sentence.
GOLD, GUESS, CORRECT = 0, 1, 2


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """How many things gold has, how many the guess has, how many they share; in percent, 0 of nothing."""

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
        """The stable form that `duilian evaluate --json` prints."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def is_right(gold: Tag, guess: Tag) -> bool:
    """Whether the guess is the gold tag, or one of them; a guess that is not one plain tag never is."""
    return guess in gold if isinstance(gold, frozenset) else guess == gold


def counts_per_sentence(gold: IntArray, guess: IntArray, correct: IntArray, sentences: int) -> IntArray:
    """[N, 3] from the number of the sentence of each gold, each guessed and each correct thing."""
    columns = [np.bincount(owner, minlength=sentences) for owner in (gold, guess, correct)]
    return np.stack(columns, axis=1).astype(np.int64)


def sentence_pairs(
    gold: Iterable[A], guess: Iterable[B], sides: tuple[str, str] = ("gold", "guess")
) -> Iterator[tuple[int, A, B]]:
    """Both answers to each sentence with its number, from 1; there must be as many of each."""
    missing = object()
    for number, (left, right) in enumerate(zip_longest(gold, guess, fillvalue=missing), 1):
        if left is missing or right is missing:
            short, long = sides if left is missing else sides[::-1]
            raise ConfigError(f"there are {number - 1} sentences of {short}, but more of {long}")
        yield number, left, right  # type: ignore[misc]


def token_pairs(
    gold: Iterable[Sequence[A]], guess: Iterable[Sequence[B]], what: str
) -> Iterator[tuple[Sequence[A], Sequence[B]]]:
    """Both answers to each sentence, which must be of one length; `what` they are made of, for the error."""
    for number, left, right in sentence_pairs(gold, guess):
        if len(left) != len(right):
            raise ConfigError(f"sentence {number}: gold has {len(left)} {what}, but guess has {len(right)}")
        yield left, right

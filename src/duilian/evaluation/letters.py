"""Scores of alphabetic words alone: English words in mixed text (Zhao et al. 2012)."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from duilian.evaluation.judged import Judged
from duilian.evaluation.score import Score, is_right

ALL = "all"


def letter_scores(judged: Judged) -> dict[str, Score]:
    """Score alphabetic words with their tags: all of them (`all`), and by tag.

    A word counts in gold or in the answer if it has letters only, so a word that was cut lowers recall.
    """
    counts: dict[str, list[int]] = {ALL: [0, 0, 0]}
    words = chain.from_iterable(layer.words for layer in judged.gold)
    for word, (gold, guess, is_word) in zip(words, judged.matched_tags, strict=True):
        if is_in_letters(word) and isinstance(gold, str):
            right = is_word and is_right(gold, guess)
            for name in (ALL, gold):
                row = counts.setdefault(name, [0, 0, 0])
                row[0] += 1
                row[2] += right
    guessed = Counter(
        str(tag)
        for layer, tags in zip(judged.guess, judged.guess_tags, strict=True)
        for word, tag in zip(layer.words, tags, strict=True)
        if is_in_letters(word)
    )
    for tag, count in guessed.items():
        for name in (ALL, tag):
            counts.setdefault(name, [0, 0, 0])[1] += count
    return {name: Score(*row) for name, row in counts.items() if any(row)}


def is_in_letters(word: str) -> bool:
    """Whether a word has ASCII letters only."""
    return word.isascii() and word.isalpha()

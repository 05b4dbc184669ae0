"""Scores for tags: accuracy, confusions, and known and unknown words.

Gold may be partial: a token without a gold tag is not counted; if gold is a set of tags, the guess must be
one of them. Everything is computed from the frequencies of the pairs (gold, guess).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np

from duilian.corpus.counts import percentage
from duilian.corpus.sentence import Tag
from duilian.errors import ConfigError
from duilian.evaluation.score import IntArray, Score, is_right, sentence_pairs, token_pairs
from duilian.wording import counted

NO_TAG = "?"


@dataclasses.dataclass(frozen=True)
class TaggingScore:
    """The frequency of each pair (gold, guess), without tokens that have no gold tag."""

    pairs: Mapping[tuple[Tag, Tag], int]

    @classmethod
    def of(cls, pairs: Mapping[tuple[Tag, Tag], int]) -> TaggingScore:
        """Make a score from all pairs; pairs without a gold tag are left out."""
        return cls({pair: count for pair, count in pairs.items() if pair[0] is not None})

    @property
    def tokens(self) -> int:
        """Number of tokens with a gold tag."""
        return sum(self.pairs.values())

    @property
    def correct(self) -> int:
        """Number of correct tokens."""
        return sum(count for pair, count in self.pairs.items() if is_right(*pair))

    @property
    def accuracy(self) -> float:
        """The percentage of correct tokens; 0 if there are no tokens."""
        return percentage(self.correct, self.tokens)

    def by_tag(self) -> dict[str, Score]:
        """Precision and recall of each tag, by name.

        A gold set that contains the guess counts as that tag. One that does not lowers the precision of the
        guessed tag, but no tag's recall.
        """
        counts: dict[str, list[int]] = {}
        for (gold, guess), count in self.pairs.items():
            right = is_right(gold, guess)
            expected = guess if right else gold
            for column, tag in enumerate((expected, guess, guess if right else None)):
                if isinstance(tag, str):
                    counts.setdefault(tag, [0, 0, 0])[column] += count
        return {tag: Score(*counts[tag]) for tag in sorted(counts)}

    def confusions(self) -> dict[tuple[str, str], int]:
        """Gold and guess of wrong tokens, most frequent first; sets are shown as `{NN|VV}`, no tag as `?`."""
        found: Counter[tuple[str, str]] = Counter()
        for (gold, guess), count in self.pairs.items():
            if not is_right(gold, guess):
                found[shown_tag(gold), shown_tag(guess)] += count
        return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


@dataclasses.dataclass(frozen=True)
class KnownAndUnknown:
    """Tagging scores of words that a vocabulary has, and of those it lacks."""

    known: TaggingScore
    unknown: TaggingScore

    @property
    def share(self) -> float:
        """The percentage of unknown words among the tokens with a gold tag."""
        return percentage(self.unknown.tokens, self.known.tokens + self.unknown.tokens)


def tagging_score(gold: Iterable[Sequence[Tag]], guess: Iterable[Sequence[Tag]]) -> TaggingScore:
    """Score a tagging against gold, sentence by sentence.

    >>> tagging_score([["NN", "VV"]], [["NN", "NN"]]).accuracy
    50.0
    """
    pairs: Counter[tuple[Tag, Tag]] = Counter()
    for left, right in token_pairs(gold, guess, "tags"):
        pairs.update(zip(left, right, strict=True))
    return TaggingScore.of(pairs)


def accuracy(gold: Iterable[Sequence[Tag]], guess: Iterable[Sequence[Tag]]) -> float:
    """The percentage of correct tags.

    >>> accuracy([["NN", "VV"]], [["NN", "NN"]])
    50.0
    """
    return tagging_score(gold, guess).accuracy


def tagging_by_vocabulary(
    words: Iterable[Sequence[str]],
    gold: Iterable[Sequence[Tag]],
    guess: Iterable[Sequence[Tag]],
    vocabulary: Set[str],
) -> KnownAndUnknown:
    """Score the tagging of known and unknown words separately."""
    triples: Counter[tuple[bool, Tag, Tag]] = Counter()
    rows = token_pairs(gold, guess, "tags")
    for number, forms, (left, right) in sentence_pairs(words, rows, ("words", "tags")):
        if len(forms) != len(left):
            raise ConfigError(
                f"sentence {number} has {counted(len(forms), 'word')}, but {counted(len(left), 'tag')}"
            )
        triples.update(zip(map(vocabulary.__contains__, forms), left, right, strict=True))
    halves = [
        {(gold, guess): count for (known, gold, guess), count in triples.items() if known is wanted}
        for wanted in (True, False)
    ]
    return KnownAndUnknown(*map(TaggingScore.of, halves))


def tag_counts(gold: Iterable[Sequence[Tag]], guess: Iterable[Sequence[Tag]]) -> IntArray:
    """[N, 3] tokens with a gold tag, the same again, and correct ones, per sentence: for `significance`."""
    rows = []
    for left, right in token_pairs(gold, guess, "tags"):
        judged = [is_right(*pair) for pair in zip(left, right, strict=True) if pair[0] is not None]
        rows.append((len(judged), len(judged), sum(judged)))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def shown_tag(tag: Tag) -> str:
    """A tag as people see it: `NN`, `{NN|VV}`, `?` if there is none."""
    if isinstance(tag, frozenset):
        return "{" + "|".join(sorted(tag)) + "}"
    return NO_TAG if tag is None else tag

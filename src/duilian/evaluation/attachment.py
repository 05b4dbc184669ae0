"""Scores for trees: attachment scores, root accuracy, complete matches.

Every word with a gold head counts (UAS); for LAS its relation must be right too. Parsers are usually compared
without punctuation, and the main figures here are too (Li et al. 2014; as in the CoNLL-X shared task, a word
is punctuation if all its characters are, according to Unicode); UD counts every word. UD's subtypes of
relations (`acl:relcl`) can be left out. A root is right if it is the same word; a sentence is a complete
match if all heads that count are right.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from duilian.corpus.counts import percentage
from duilian.corpus.sentence import Layer
from duilian.evaluation.score import CORRECT, GOLD, IntArray, token_pairs
from duilian.text import is_punctuation


@dataclasses.dataclass(frozen=True, slots=True)
class TreeScore:
    """Percentages; None where gold or guess has nothing to compare."""

    uas: float
    las: float | None
    root: float
    complete: float
    uas_with_punctuation: float
    las_with_punctuation: float | None
    # LAS if `acl:relcl` counts as `acl`; None if no relation has a subtype.
    las_without_subtypes: float | None = None
    las_of_all_without_subtypes: float | None = None

    def as_json(self) -> dict[str, object]:
        """The stable JSON output of `duilian evaluate --json`."""
        every = {
            "uas": self.uas_with_punctuation,
            "las": self.las_with_punctuation,
            "las_without_subtypes": self.las_of_all_without_subtypes,
        }
        found = {
            "uas": self.uas,
            "las": self.las,
            "las_without_subtypes": self.las_without_subtypes,
            "root": self.root,
            "complete": self.complete,
        }
        return _without_none(found) | {"with_punctuation": _without_none(every)}


def _without_none(found: dict[str, float | None]) -> dict[str, object]:
    return {name: value for name, value in found.items() if value is not None}


def tree_score(gold: Sequence[Layer], guess: Sequence[Layer]) -> TreeScore | None:
    """Score trees over the same words; None if gold or the guess has no heads.

    >>> gold, guess = Layer(("他", "来"), heads=(2, 0)), Layer(("他", "来"), heads=(0, 1))
    >>> tree_score([gold], [guess]).uas
    0.0
    """
    if not _has(gold, "heads") or not _has(guess, "heads"):
        return None
    is_labelled = _has(gold, "relations") and _has(guess, "relations")
    has_subtypes = is_labelled and (_has_subtypes(gold) or _has_subtypes(guess))

    def share(*, labelled: bool, punctuation: bool, subtypes: bool = True) -> float | None:
        if (labelled and not is_labelled) or not (subtypes or has_subtypes):
            return None
        return _share(
            attachment_counts(gold, guess, labelled=labelled, punctuation=punctuation, subtypes=subtypes)
        )

    return TreeScore(
        uas=share(labelled=False, punctuation=False) or 0.0,
        las=share(labelled=True, punctuation=False),
        root=_share(root_counts(gold, guess)),
        complete=_share(complete_counts(gold, guess)),
        uas_with_punctuation=share(labelled=False, punctuation=True) or 0.0,
        las_with_punctuation=share(labelled=True, punctuation=True),
        las_without_subtypes=share(labelled=True, punctuation=False, subtypes=False),
        las_of_all_without_subtypes=share(labelled=True, punctuation=True, subtypes=False),
    )


def attachment_counts(
    gold: Sequence[Layer],
    guess: Sequence[Layer],
    *,
    labelled: bool = False,
    punctuation: bool = False,
    subtypes: bool = True,
) -> IntArray:
    """[N, 3] words with a gold head, the same again, and those right in the guess: for `significance`."""
    rows = []
    for answer in judged_words(gold, guess):
        counted = [word for word in answer if word.counts(labelled, punctuation)]
        right = sum(word.is_right(labelled, subtypes) for word in counted)
        rows.append((len(counted), len(counted), right))
    return _table(rows)


def complete_counts(gold: Sequence[Layer], guess: Sequence[Layer]) -> IntArray:
    """[N, 3] 1 for a sentence with a complete gold tree, the same again, 1 if all of it is right."""
    rows = []
    for answer in judged_words(gold, guess):
        is_whole = all(word.head is not None for word in answer)
        counted = [word for word in answer if word.counts(False, False)]
        rows.append((is_whole, is_whole, is_whole and all(word.is_right(False) for word in counted)))
    return _table(rows)


def root_counts(gold: Sequence[Layer], guess: Sequence[Layer]) -> IntArray:
    """[N, 3] roots in gold, in the guess, and in both."""
    rows = []
    for answer in judged_words(gold, guess):
        # Where gold says nothing, the guess is not judged.
        judged = [word for word in answer if word.head is not None]
        roots = sum(word.head == 0 for word in judged)
        guessed = sum(word.guessed_head == 0 for word in judged)
        rows.append((roots, guessed, sum(word.head == word.guessed_head == 0 for word in judged)))
    return _table(rows)


@dataclasses.dataclass(frozen=True, slots=True)
class JudgedWord:
    """A word with its head and relation in gold and guess."""

    text: str
    head: int | None
    relation: str | None
    guessed_head: int | None
    guessed_relation: str | None

    def counts(self, labelled: bool, punctuation: bool) -> bool:
        """Whether gold says enough to judge the answer, and the rule counts the word."""
        known = self.head is not None and (not labelled or self.relation is not None)
        return known and (punctuation or not is_punctuation(self.text))

    def is_right(self, labelled: bool, subtypes: bool = True) -> bool:
        """Whether the head is right and, if it matters, the relation."""
        if self.head != self.guessed_head or not labelled:
            return self.head == self.guessed_head
        pair = (self.relation, self.guessed_relation)
        first, second = pair if subtypes else map(without_subtype, pair)
        return first == second


def without_subtype(relation: str | None) -> str | None:
    """`acl` for `acl:relcl`."""
    return None if relation is None else relation.partition(":")[0]


def judged_words(gold: Sequence[Layer], guess: Sequence[Layer]) -> Iterator[list[JudgedWord]]:
    """The words of each sentence with both annotations; both sides must have the same words."""
    pairs = token_pairs((layer.words for layer in gold), (layer.words for layer in guess), "words")
    for (left, _), gold_layer, guess_layer in zip(pairs, gold, guess, strict=True):
        columns = (_heads(gold_layer), _relations(gold_layer), _heads(guess_layer), _relations(guess_layer))
        yield [JudgedWord(*row) for row in zip(left, *columns, strict=True)]


def _heads(layer: Layer) -> tuple[int | None, ...]:
    return (None,) * len(layer) if layer.heads is None else layer.heads


def _relations(layer: Layer) -> tuple[str | None, ...]:
    return (None,) * len(layer) if layer.relations is None else layer.relations


def _has_subtypes(layers: Sequence[Layer]) -> bool:
    return any(relation and ":" in relation for layer in layers for relation in layer.relations or ())


def _has(layers: Sequence[Layer], what: str) -> bool:
    return any(getattr(layer, what) is not None for layer in layers)


def _table(rows: Sequence[tuple[int, int, int]]) -> IntArray:
    return np.array(rows, np.int64).reshape(len(rows), 3)


def _share(counts: IntArray) -> float:
    sums = counts.sum(axis=0).tolist()
    return percentage(sums[CORRECT], sums[GOLD])

"""Scores for raw text, whose words may differ from gold: the rules of the CoNLL 2018 shared task.

Words are aligned by their characters. A word is right if gold has a word with the same characters and the
heads of both have the same characters too, or both are roots; for LAS the relations must also agree, without
their subtypes (`acl:relcl` counts as `acl`). Every word with a gold head counts, including punctuation.
Precision is over the words of the answer, recall over those of gold. Sentence boundaries may differ.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from duilian.corpus.sentence import Layer, Tag
from duilian.errors import ConfigError
from duilian.evaluation.score import IntArray, Score, sentence_pairs

Span = tuple[int, int]
_ROOT: Span = (-1, -1)


@dataclasses.dataclass(frozen=True, slots=True)
class RawTreeScore:
    """Attachment scores without and with relations and, if counted, scores of words without and with tags."""

    uas: Score
    las: Score | None  # None if one side has no relations
    words: Score | None = None
    tags: Score | None = None

    def as_json(self) -> dict[str, object]:
        """The stable JSON output of `duilian evaluate --json`."""
        found: dict[str, object] = {"uas": self.uas.f1}
        return found if self.las is None else found | {"las": self.las.f1}


def raw_tree_score(gold: Iterable[Layer], guess: Iterable[Layer]) -> RawTreeScore:
    """Score trees over the same characters, however they are cut into sentences."""
    left, right = _TreesBySpan(gold), _TreesBySpan(guess)
    if left.text != right.text:
        where = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], _pairs(left, right)))
        raise ConfigError(f"gold and answer have different texts from character {where + 1} on")
    arcs, labelled = (Score(*_count(left, right, labelled=each)) for each in (False, True))
    found = [span for span in left.words if span in right.words]
    tagged = sum(left.tags[span] is not None and left.tags[span] == right.tags[span] for span in found)
    words, tags = (Score(len(left.words), len(right.words), count) for count in (len(found), tagged))
    return RawTreeScore(arcs, labelled, words, tags)


def raw_attachment_counts(gold: Sequence[Layer], guess: Sequence[Layer], *, labelled: bool) -> IntArray:
    """[N, 3] words in gold, in the guess, and right, per sentence: for `significance`."""
    pairs = sentence_pairs(gold, guess)
    rows = [_count(_TreesBySpan([a]), _TreesBySpan([b]), labelled=labelled) for _, a, b in pairs]
    return np.array(rows, np.int64).reshape(len(rows), 3)


class _TreesBySpan:
    """Head, relation and tag of each word, by its span of characters, white space excluded."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self.words: dict[Span, tuple[Span | None, str]] = {}
        self.tags: dict[Span, Tag] = {}
        texts: list[str] = []
        at = 0
        for layer in layers:
            shown = ["".join(word.split()) for word in layer.words]
            edges = list(itertools.accumulate(map(len, shown), initial=at))
            spans = list(itertools.pairwise(edges))
            heads = layer.heads or (None,) * len(layer)
            relations = layer.relations or (None,) * len(layer)
            for span, head, relation in zip(spans, heads, relations, strict=True):
                self.words[span] = _head_span(spans, head), (relation or "").partition(":")[0]
            self.tags |= zip(spans, layer.tags or (None,) * len(layer), strict=True)
            texts += shown
            at = edges[-1]
        self.text = "".join(texts)


def _head_span(spans: Sequence[Span], head: int | None) -> Span | None:
    if head is None:
        return None
    return spans[head - 1] if head else _ROOT


def _pairs(left: _TreesBySpan, right: _TreesBySpan) -> Iterator[tuple[str, str]]:
    return zip(left.text, right.text, strict=False)


def _count(gold: _TreesBySpan, guess: _TreesBySpan, *, labelled: bool) -> tuple[int, int, int]:
    """Words in gold, in the guess, and right; a word without a gold head counts on neither side."""
    unjudged = [span for span, (head, _) in gold.words.items() if head is None]

    def is_right(span: Span) -> bool:
        head, relation = gold.words[span]
        if span not in guess.words or head is None or head != guess.words[span][0]:
            return False
        return not labelled or relation == guess.words[span][1]

    left = len(gold.words) - len(unjudged)
    return (
        left,
        len(guess.words) - sum(span in guess.words for span in unjudged),
        sum(map(is_right, gold.words)),
    )

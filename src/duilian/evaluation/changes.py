"""What changed between two systems: patterns of errors, words, and sentences worth reading."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus.sentence import Layer
from duilian.evaluation.attachment import judged_words
from duilian.evaluation.breakdown import in_context
from duilian.evaluation.judged import Judged
from duilian.evaluation.score import BoolArray, is_right
from duilian.evaluation.tagging import shown_tag

MOST = 20  # patterns, words or sentences
NO_WORD = "(no word)"  # the answer cuts the text elsewhere
OTHER_HEAD = "other head"
FloatArray = npt.NDArray[np.float64]
Patterns = Mapping[tuple[str, str], float]
Shown = tuple[tuple[str, str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class PatternChange:
    """An error, gold → answer: how often each system makes it (of several runs, the mean)."""

    gold: str
    guess: str
    first: float
    other: float


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedWord:
    """A word: how often it occurs, how often each system is right, and where it changed."""

    word: str
    count: int
    first: float
    other: float
    example: str


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedSentence:
    """A sentence, counted from 1: words and tags of gold and of both systems' first runs.

    Where trees over the same words differ, a tag is followed by the head and its relation: `NN←去 dobj`.
    """

    number: int
    gained: float  # words right in the other system only
    lost: float  # words right in the first only
    gold: Shown
    first: Shown
    other: Shown


def right_words(judged: Judged, *, tags: bool, trees: bool) -> BoolArray:
    """[G] whether a gold word is found; with its tag and with its head and relation, if these count."""
    found = judged.is_found if tags else judged.alignment.match >= 0
    if not trees:
        return found
    labelled = judged.has("relations")
    attached = (
        not word.counts(labelled, punctuation=True) or word.is_right(labelled)
        for sentence in judged_words(judged.gold, judged.guess)
        for word in sentence
    )
    return found & np.fromiter(attached, np.bool_, len(found))


def tag_patterns(runs: Sequence[Judged]) -> Patterns:
    """How often a gold tag gets another tag, or its word is cut; the mean of the runs."""
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        for gold, guess, is_word in run.matched_tags:
            if gold is not None and not (is_word and is_right(gold, guess)):
                counts[shown_tag(gold), shown_tag(guess) if is_word else NO_WORD] += 1
    return {pair: count / len(runs) for pair, count in counts.items()}


def relation_patterns(runs: Sequence[Judged]) -> Patterns:
    """How often a word with a gold relation gets another relation or head; the mean of the runs."""
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs:
        if not run.has("relations"):
            continue
        for sentence in judged_words(run.gold, run.guess):
            for word in sentence:
                if word.counts(True, punctuation=False) and not word.is_right(True):
                    same = word.relation == word.guessed_relation
                    counts[str(word.relation), OTHER_HEAD if same else str(word.guessed_relation)] += 1
    return {pair: count / len(runs) for pair, count in counts.items()}


def changed_patterns(both: Sequence[Patterns]) -> list[PatternChange]:
    """The patterns whose frequency changed most."""
    first, other = both
    found = [PatternChange(*pair, first.get(pair, 0.0), other.get(pair, 0.0)) for pair in {*first, *other}]
    found = [each for each in found if each.first != each.other]
    return sorted(found, key=lambda each: (-abs(each.other - each.first), each.gold, each.guess))[:MOST]


def changed_words(judged: Judged, first: FloatArray, other: FloatArray) -> list[ChangedWord]:
    """The words whose number of right tokens changed most; `first` and `other` are [G] shares of runs."""
    words = judged.alignment.gold_words
    kinds = {word: number for number, word in enumerate(dict.fromkeys(words))}
    kind = np.fromiter(map(kinds.__getitem__, words), np.int64, len(words))
    sums = [np.bincount(kind, each, minlength=len(kinds)) for each in (np.ones(len(words)), first, other)]
    change = np.abs(sums[2] - sums[1])
    most = np.argsort(-change, kind="stable")[:MOST]
    names = list(kinds)
    return [
        ChangedWord(
            names[k],
            int(sums[0][k]),
            float(sums[1][k]),
            float(sums[2][k]),
            _example(judged, np.flatnonzero((kind == k) & (first != other))[0]),
        )
        for k in most.tolist()
        if change[k] > 0
    ]


def _example(judged: Judged, word: int) -> str:
    end = np.cumsum(judged.alignment.gold_sizes)
    sentence = int(np.searchsorted(end, word, side="right"))
    layer = judged.gold[sentence]
    return in_context(layer.words, int(word) - int(end[sentence]) + len(layer))


def changed_sentences(a: Judged, b: Judged, first: FloatArray, other: FloatArray) -> list[ChangedSentence]:
    """The sentences with the largest difference of right words, short ones first among equals."""
    sizes = a.alignment.gold_sizes
    owner = np.repeat(np.arange(len(sizes)), sizes)
    gained, lost = (
        np.bincount(owner, np.maximum(each, 0.0), minlength=len(sizes))
        for each in (other - first, first - other)
    )
    order = np.lexsort((np.arange(len(sizes)), sizes, -np.abs(gained - lost), gained + lost <= 0))
    return [
        ChangedSentence(
            k + 1,
            float(gained[k]),
            float(lost[k]),
            *_side_by_side([layers[k] for layers in (a.gold, a.guess, b.guess)]),
        )
        for k in order[:MOST].tolist()
        if gained[k] + lost[k] > 0
    ]


def _side_by_side(layers: Sequence[Layer]) -> list[Shown]:
    """The words with their tags, and with their heads where these are not all the same."""
    found = [shown_words(each) for each in layers]
    if not all(each.heads is not None and each.words == layers[0].words for each in layers):
        return found
    heads = [[_head(each, k) for k in range(len(each))] for each in layers]
    same = [len(set(column)) == 1 for column in zip(*heads, strict=True)]
    return [
        tuple(
            (word, tag if is_same else f"{tag}←{_named(layer, *head)}")
            for (word, tag), head, is_same in zip(shown, own, same, strict=True)
        )
        for layer, shown, own in zip(layers, found, heads, strict=True)
    ]


def shown_words(layer: Layer) -> Shown:
    """The words with their tags, which are empty if there are none."""
    tags = [""] * len(layer) if layer.tags is None else map(shown_tag, layer.tags)
    return tuple(zip(layer.words, tags, strict=True))


def _head(layer: Layer, k: int) -> tuple[int | None, str | None]:
    assert layer.heads is not None
    return layer.heads[k], None if layer.relations is None else layer.relations[k]


def _named(layer: Layer, head: int | None, relation: str | None) -> str:
    word = "?" if head is None else "ROOT" if head == 0 else layer.words[head - 1]
    return f"{word} {relation}" if relation else word

"""Where an answer is right and where it is wrong: by tag, relation, length, distance, vocabulary; confusions.

Everything is counted over the words of `Judged`. Where the answer cuts words differently, no tags are
compared: the gold words lower the recall of their tags, and the answer's words the precision of theirs.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from itertools import chain

import numpy as np

from duilian.corpus.counts import percentage
from duilian.corpus.sentence import Tag
from duilian.evaluation.arcs import JudgedArcs, group_name
from duilian.evaluation.judged import Judged
from duilian.evaluation.score import GOLD, BoolArray, Score, is_right
from duilian.evaluation.tagging import shown_tag

LENGTHS = (10, 20, 30, 40)  # the longest sentences of each group but the last, in gold words
EXAMPLES = 3  # of each confusion
MAX_CONFUSIONS = 50
CONTEXT_WORDS = 4  # on either side of an example
KNOWN, KNOWN_THERE, UNKNOWN = "known", "known there", "unknown"
SHOWN_GROUPS = {KNOWN_THERE: "known from the other corpus"}  # names in JSON, and for people


@dataclasses.dataclass(frozen=True, slots=True)
class Confusion:
    """A gold tag and the tag of the answer, how often, and a few examples in context."""

    gold: str
    guess: str
    count: int
    examples: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {"gold": self.gold, "guess": self.guess, "count": self.count, "examples": list(self.examples)}


@dataclasses.dataclass(frozen=True, slots=True)
class WordGroup:
    """Gold words of one kind of vocabulary: how many, and how many of them the answer has."""

    tokens: int
    share: float  # of all gold words, in percent
    recall: float  # of words, in percent
    tag_recall: float | None  # of words with their tags
    uas: float | None = None  # words with their heads, as a share of those that UAS counts
    las: float | None = None

    def as_json(self) -> dict[str, float]:
        """The available figures."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclasses.dataclass(frozen=True, slots=True)
class TagPattern:
    """Words of one gold tag that the answer gives one tag, right or wrong (Li et al. 2014, Table VIII)."""

    tokens: int
    share: float  # of the words with this gold tag that the answer has, in percent
    head_error: float | None  # wrong heads among those of them that UAS counts, in percent

    def as_json(self) -> dict[str, float]:
        """The available figures."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Breakdown:
    """The details of an evaluation; empty where gold and answer have nothing to compare."""

    by_tag: Mapping[str, Score] = dataclasses.field(default_factory=dict)
    by_relation: Mapping[str, Score] = dataclasses.field(default_factory=dict)
    by_length: Mapping[str, Mapping[str, Score]] = dataclasses.field(default_factory=dict)
    by_distance: Mapping[str, Score] = dataclasses.field(default_factory=dict)
    by_vocabulary: Mapping[str, WordGroup] = dataclasses.field(default_factory=dict)
    tag_patterns: Mapping[str, TagPattern] = dataclasses.field(default_factory=dict)
    confusions: Sequence[Confusion] = ()
    unknown_tags: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The stable JSON of `duilian evaluate --json`, without what is empty."""
        found: dict[str, object] = {
            "by_tag": {tag: score.with_counts() for tag, score in self.by_tag.items()},
            "by_relation": {name: score.with_counts() for name, score in self.by_relation.items()},
            "by_length": {
                group: {name: score.with_counts() for name, score in scores.items()}
                for group, scores in self.by_length.items()
            },
            "by_distance": {group: score.with_counts() for group, score in self.by_distance.items()},
            "by_vocabulary": {name: group.as_json() for name, group in self.by_vocabulary.items()},
            "tag_patterns": {name: each.as_json() for name, each in self.tag_patterns.items()},
            "confusions": [each.as_json() for each in self.confusions],
            "unknown_tags": dict(self.unknown_tags),
        }
        return {name: value for name, value in found.items() if value}


def breakdown(
    judged: Judged, vocabulary: Set[str] | None = None, other_vocabulary: Set[str] | None = None
) -> Breakdown:
    """Count all details; words are grouped by one or two vocabularies if they are given."""
    arcs = JudgedArcs.of(judged)
    groups = {} if vocabulary is None else _by_vocabulary(judged, arcs, vocabulary, other_vocabulary)
    return Breakdown(
        by_tag=scores_by_tag(judged) if judged.is_tagged else {},
        by_relation={} if arcs is None else arcs.by_relation(),
        by_length=_by_length(judged),
        by_distance={} if arcs is None else arcs.by_distance(),
        by_vocabulary=groups,
        tag_patterns=_tag_patterns(judged, arcs) if judged.is_tagged and arcs is not None else {},
        confusions=_confusions(judged) if judged.is_tagged else (),
        unknown_tags=_unknown_tags(judged) if judged.is_tagged else {},
    )


def scores_by_tag(judged: Judged) -> dict[str, Score]:
    """Score words by tag. A gold set that contains the guess counts as that tag; other sets count as none."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    unjudged: Counter[Tag] = Counter()
    for gold, guess, is_word in judged.matched_tags:
        if gold is None:
            unjudged[guess] += is_word
            continue
        right = is_word and is_right(gold, guess)
        for column, tag in enumerate((guess if right else gold, None, guess if right else None)):
            if isinstance(tag, str):
                counts[tag][column] += 1
    guessed = Counter(chain(*judged.guess_tags))
    guessed.subtract(unjudged)
    for tag, count in guessed.items():
        if isinstance(tag, str) and count > 0:
            counts[tag][1] += count
    return {tag: Score(*counts[tag]) for tag in sorted(counts)}


def _by_length(judged: Judged) -> dict[str, dict[str, Score]]:
    """Every metric in groups of sentences by the number of gold words."""
    sizes = judged.alignment.gold_sizes
    number = np.searchsorted(LENGTHS, sizes)
    found = {}
    for group in np.unique(number).tolist():
        here = number == group
        if not sizes[here].any():
            continue
        name = group_name(int(sizes[here].max()), LENGTHS)
        found[name] = {
            metric: Score.of(counts[here])
            for metric, counts in judged.counts.items()
            if counts[here, GOLD].any()
        }
    return found


def _by_vocabulary(
    judged: Judged, arcs: JudgedArcs | None, here: Set[str], there: Set[str] | None
) -> dict[str, WordGroup]:
    """Known words, words known to the other vocabulary only, and the rest (Li et al. 2017, Fig. 7)."""
    names = (KNOWN, UNKNOWN) if there is None else (KNOWN, KNOWN_THERE, UNKNOWN)
    group = [
        KNOWN if word in here else KNOWN_THERE if there is not None and word in there else UNKNOWN
        for word in judged.alignment.gold_words
    ]
    every = np.ones(len(group), np.bool_)
    found = judged.alignment.match >= 0
    tagged = np.array([tag is not None for tag, _, _ in judged.matched_tags], np.bool_)
    groups = {}
    for name in names:
        mask = np.array([each == name for each in group], np.bool_)
        groups[name] = WordGroup(
            tokens=int(mask.sum()),
            share=_share(mask, every),
            recall=_share(found, mask),
            tag_recall=_share(judged.is_found, tagged & mask) if judged.is_tagged else None,
            uas=None if arcs is None else _share(arcs.has_head, arcs.counts & mask),
            las=None if arcs is None or not arcs.is_labelled else _share(arcs.has_arc, arcs.counts & mask),
        )
    return groups


def _share(right: BoolArray, of: BoolArray) -> float:
    return percentage(int((right & of).sum()), int(of.sum()))


def _tag_patterns(judged: Judged, arcs: JudgedArcs) -> dict[str, TagPattern]:
    """What became of each gold tag, and how often the heads of these words are wrong; most frequent first."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    sums: Counter[str] = Counter()
    for place, (gold, guess, is_word) in enumerate(judged.matched_tags):
        if is_word and isinstance(gold, str) and isinstance(guess, str):
            places[gold, guess].append(place)
            sums[gold] += 1
    ranked = sorted(places.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    kept = [pair for pair, _ in ranked if pair[0] != pair[1]][:MAX_CONFUSIONS]
    return {
        f"{gold} → {guess}": TagPattern(
            tokens=len(here),
            share=percentage(len(here), sums[gold]),
            head_error=_head_error(arcs, here),
        )
        for (gold, guess), here in ranked
        if gold == guess or (gold, guess) in kept
    }


def _head_error(arcs: JudgedArcs, places: Sequence[int]) -> float | None:
    counts = arcs.counts[places]
    return (
        percentage(int((counts & ~arcs.has_head[places]).sum()), int(counts.sum())) if counts.any() else None
    )


def _confusions(judged: Judged) -> list[Confusion]:
    """The tags of words that the answer has with a wrong tag, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[Hashable, list[str]] = defaultdict(list)
    for words, place, (gold, guess, is_word) in _in_sentences(judged):
        if is_word and gold is not None and not is_right(gold, guess):
            pair = shown_tag(gold), shown_tag(guess)
            counts[pair] += 1
            if len(examples[pair]) < EXAMPLES:
                examples[pair].append(in_context(words, place))
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [Confusion(*pair, count, tuple(examples[pair])) for pair, count in ranked[:MAX_CONFUSIONS]]


def _unknown_tags(judged: Judged) -> dict[str, int]:
    """Tags of the answer that never occur in gold, with their counts, most frequent first."""
    known: set[str] = set()
    for tag in chain(*judged.gold_tags):
        known |= {tag} if isinstance(tag, str) else set(tag or ())
    found = Counter(tag for tag in chain(*judged.guess_tags) if isinstance(tag, str) and tag not in known)
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def _in_sentences(judged: Judged) -> Iterator[tuple[tuple[str, ...], int, tuple[Tag, Tag, bool]]]:
    """Each gold word: the words of its sentence, its place there, and its tags."""
    tags = iter(judged.matched_tags)
    for layer in judged.gold:
        for place in range(len(layer)):
            yield layer.words, place, next(tags)


def in_context(words: Sequence[str], place: int) -> str:
    """A word in brackets between its neighbours."""
    before = words[max(place - CONTEXT_WORDS, 0) : place]
    after = words[place + 1 : place + 1 + CONTEXT_WORDS]
    left = "… " if place > CONTEXT_WORDS else ""
    right = " …" if place + 1 + CONTEXT_WORDS < len(words) else ""
    return f"{left}{' '.join([*before, f'[{words[place]}]', *after])}{right}"

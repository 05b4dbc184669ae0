"""Corpus statistics: counts, distributions, and words that another corpus lacks."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from duilian.corpus.lines import layer_to_write
from duilian.corpus.sentence import Layer, Sentence
from duilian.corpus.tag_spelling import format_tag
from duilian.corpus.trees import TreeCounter, TreeCounts


@dataclasses.dataclass(frozen=True)
class UnknownCounts:
    """Counts of words that another corpus lacks; the rates are percentages."""

    tokens: int
    types: int
    token_rate: float
    type_rate: float


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts over a corpus. Distributions map values to their frequencies."""

    sentences: int
    words: int
    characters: int
    types: int
    tags: Mapping[str, int]  # most frequent first
    word_lengths: Mapping[int, int]  # in characters, by length
    sentence_lengths: Mapping[int, int]  # in words, by length
    unknown: UnknownCounts | None = None
    trees: TreeCounts | None = None
    foreign_tags: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Tags that the declared standard does not have, most frequent first."""

    def as_json(self) -> dict[str, Any]:
        """The stable JSON output of `duilian corpus stats --json`; shares are percentages."""
        found: dict[str, Any] = {
            "sentences": self.sentences,
            "words": self.words,
            "characters": self.characters,
            "types": self.types,
            "tags": dict(self.tags),
            "tag_shares": {tag: percentage(count, self.words) for tag, count in self.tags.items()},
            "words_per_sentence": ratio(self.words, self.sentences),
            "characters_per_word": ratio(self.characters, self.words),
            "word_lengths": {str(length): count for length, count in self.word_lengths.items()},
            "sentence_lengths": {str(length): count for length, count in self.sentence_lengths.items()},
        }
        if self.foreign_tags:
            found["foreign_tags"] = dict(self.foreign_tags)
        if self.unknown is not None:
            found["oov"] = dataclasses.asdict(self.unknown)
        if self.trees is not None:
            found["trees"] = dataclasses.asdict(self.trees)
        return found


def percentage(part: int, whole: int) -> float:
    """The percentage; 0 if the whole is 0."""
    return 100.0 * part / whole if whole else 0.0


def ratio(part: int, whole: int) -> float:
    """The ratio; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def statistics(
    sentences: Iterable[Sentence], *, standard: str | None = None, known: Iterable[Sentence] | None = None
) -> Statistics:
    """Count one layer of each sentence: the named standard, or the first.

    If the standard is built in, tags that it does not have are counted too.
    With a `known` corpus (the same standard, or its first), also count the words that it lacks.

    >>> from duilian import demo
    >>> found = statistics(demo.load("pku-dev", "pku"), known=demo.load("pku", "pku"))
    >>> found.sentences
    40
    """
    words: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    from duilian.corpus.declared import ForeignTags  # not needed to tag

    trees, foreign = TreeCounter(), ForeignTags(standard or "")
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        words.update(layer.words)
        lengths[len(layer)] += 1
        trees.add(layer)
        _count_tags(layer, tags)
        foreign.add(layer)
    word_lengths: Counter[int] = Counter()
    for word, count in words.items():
        word_lengths[len(word)] += count
    return Statistics(
        sentences=lengths.total(),
        words=words.total(),
        characters=sum(length * count for length, count in word_lengths.items()),
        types=len(words),
        tags=_by_frequency(tags),
        word_lengths=dict(sorted(word_lengths.items())),
        sentence_lengths=dict(sorted(lengths.items())),
        unknown=None if known is None else _unknown(words, vocabulary(known)),
        trees=trees.counts(),
        foreign_tags=_by_frequency(foreign.counts),
    )


def _by_frequency(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def vocabulary(sentences: Iterable[Sentence], *, standard: str | None = None) -> set[str]:
    """The distinct words of one layer of each sentence.

    >>> from duilian import demo
    >>> "北京" in vocabulary(demo.load("pku", "pku"))
    True
    """
    return {word for sentence in sentences for word in layer_to_write(sentence, standard).words}


def _count_tags(layer: Layer, tags: Counter[str]) -> None:
    if layer.tags is None:
        return
    for tag, count in Counter(layer.tags).items():
        tags[tag if isinstance(tag, str) else format_tag(tag, "?")] += count


def _unknown(words: Counter[str], known: set[str]) -> UnknownCounts:
    missing = {word: count for word, count in words.items() if word not in known}
    tokens = sum(missing.values())
    return UnknownCounts(
        tokens, len(missing), percentage(tokens, words.total()), percentage(len(missing), len(words))
    )

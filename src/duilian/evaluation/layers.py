"""Evaluating layers of sentences: the metrics depend on what gold and guess have."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import chain

from duilian.corpus.sentence import Layer, Tag
from duilian.evaluation.attachment import tree_score
from duilian.evaluation.chunking import OUTSIDE, are_chunk_labels, chunk_score
from duilian.evaluation.report import Evaluation, UnknownWords
from duilian.evaluation.score import Score
from duilian.evaluation.tagging import TaggingScore, accuracy, tagging_by_vocabulary, tagging_score
from duilian.evaluation.words import Alignment, align, word_score, word_tag_score

Tags = list[Sequence[Tag]]


def evaluate_layers(
    gold: Sequence[Layer], guess: Sequence[Layer], *, standard: str, vocabulary: Set[str] | None = None
) -> Evaluation:
    """Compute all metrics of one standard that these layers allow.

    Words always; words with tags if both sides have tags; tagging accuracy if all words agree too; chunks if
    the gold tags are also chunk labels; trees if both sides have heads and all words agree; unknown words if
    there is a vocabulary.

    >>> gold, guess = Layer(("我们", "去"), ("r", "v")), Layer(("我们", "去"), ("r", "n"))
    >>> evaluate_layers([gold], [guess], standard="pku").accuracy
    50.0
    """
    alignment = align([layer.words for layer in gold], [layer.words for layer in guess])
    gold_tags, guess_tags = _tags(gold), _tags(guess)
    is_tagged = _has_tags(gold_tags) and _has_tags(guess_tags)
    is_parallel = is_tagged and alignment.is_same
    return Evaluation(
        standard=standard,
        sentences=len(gold),
        tokens=len(alignment.gold_words),
        word=Score.of(alignment.word_counts()),
        word_tag=Score.of(alignment.word_tag_counts(gold_tags, guess_tags)) if is_tagged else None,
        accuracy=tagging_score(gold_tags, guess_tags).accuracy if is_parallel else None,
        chunk=_chunk(gold_tags, guess_tags) if is_parallel else None,
        trees=tree_score(gold, guess) if alignment.is_same else None,
        oov=None
        if vocabulary is None
        else _unknown(alignment, (gold_tags, guess_tags) if is_parallel else None, gold, vocabulary),
    )


def _tags(layers: Sequence[Layer]) -> Tags:
    return [(None,) * len(layer) if layer.tags is None else layer.tags for layer in layers]


def _has_tags(tags: Tags) -> bool:
    return any(tag is not None for tag in chain.from_iterable(tags))


def _chunk(gold: Tags, guess: Tags) -> Score | None:
    if not are_chunk_labels(chain.from_iterable(gold)):
        return None
    # A missing label counts as outside any chunk.
    return chunk_score(_labels(gold), _labels(guess)).overall


def _labels(tags: Tags) -> list[list[str]]:
    return [[tag if isinstance(tag, str) else OUTSIDE for tag in row] for row in tags]


def _unknown(
    alignment: Alignment, tags: tuple[Tags, Tags] | None, gold: Sequence[Layer], vocabulary: Set[str]
) -> UnknownWords:
    words = alignment.by_vocabulary(vocabulary)
    split = None if tags is None else tagging_by_vocabulary((x.words for x in gold), *tags, vocabulary)
    return UnknownWords(
        tokens=words.unknown,
        share=words.share,
        recall=words.unknown_recall if words.unknown else None,
        known_recall=words.known_recall if words.known else None,
        accuracy=_accuracy(split.unknown) if split else None,
        known_accuracy=_accuracy(split.known) if split else None,
    )


def _accuracy(score: TaggingScore) -> float | None:
    return score.accuracy if score.tokens else None


def main_score(gold: Sequence[Layer], guess: Sequence[Layer], *, is_cut: bool) -> float:
    """One number for comparing taggers, in percent.

    If words were given, it is the tagging accuracy; if text was cut into words (`is_cut`), it is the F1 of
    words, with their tags if there are any.
    """
    words = [[layer.words for layer in side] for side in (gold, guess)]
    tags = [[layer.tags or (None,) * len(layer) for layer in side] for side in (gold, guess)]
    if not is_cut:
        return accuracy(tags[0], tags[1])
    if all(layer.tags is None for layer in guess):
        return word_score(words[0], words[1]).f1
    return word_tag_score((words[0], tags[0]), (words[1], tags[1])).f1

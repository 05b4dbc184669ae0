"""Evaluating layers of sentences: the metrics depend on what gold and guess have."""

from __future__ import annotations

from collections.abc import Sequence, Set

from duilian.corpus.sentence import Layer
from duilian.evaluation.attachment import tree_score
from duilian.evaluation.judged import Judged
from duilian.evaluation.raw_text import RawTreeScore
from duilian.evaluation.report import Evaluation, UnknownWords
from duilian.evaluation.score import Score
from duilian.evaluation.tagging import TaggingScore, accuracy, tagging_by_vocabulary
from duilian.evaluation.words import word_score, word_tag_score


def evaluate_layers(
    gold: Sequence[Layer],
    guess: Sequence[Layer],
    *,
    standard: str,
    vocabulary: Set[str] | None = None,
    other_vocabulary: Set[str] | None = None,
) -> Evaluation:
    """Compute all metrics of one standard that these layers allow.

    Words always; words with tags if both sides have tags, and then tagging accuracy if all words agree, else
    that of characters; chunks if the gold tags are also chunk labels; trees if both sides have heads, by the
    rules of CoNLL 2018 if words differ; unknown words if there is a vocabulary. Sentences may end elsewhere.

    >>> gold, guess = Layer(("我们", "去"), ("r", "v")), Layer(("我们", "去"), ("r", "n"))
    >>> evaluate_layers([gold], [guess], standard="pku").accuracy
    50.0
    """
    judged = Judged.of(gold, guess)
    scores = {name: Score.of(counts) for name, counts in judged.counts.items()}
    is_cut = "word_tag" in scores
    has_trees = judged.has("heads")
    return Evaluation(
        standard=standard,
        sentences=len(judged.gold),
        tokens=len(judged.alignment.gold_words),
        word=Score.of(judged.alignment.word_counts()),
        word_tag=scores.get("word_tag", scores.get("accuracy")),
        accuracy=scores["accuracy"].recall if "accuracy" in scores else None,
        character=scores["character"].recall if is_cut else None,
        chunk=scores.get("chunk"),
        trees=tree_score(judged.gold, judged.guess) if has_trees and judged.is_parallel else None,
        raw_trees=RawTreeScore(scores["raw_uas"], scores.get("raw_las")) if "raw_uas" in scores else None,
        oov=None if vocabulary is None else _unknown(judged, vocabulary),
        judged=judged,
        vocabularies=(vocabulary, other_vocabulary),
    )


def _unknown(judged: Judged, vocabulary: Set[str]) -> UnknownWords:
    words = judged.alignment.by_vocabulary(vocabulary)
    split = None
    if judged.is_tagged and judged.is_parallel:
        forms = (layer.words for layer in judged.gold)
        split = tagging_by_vocabulary(forms, judged.gold_tags, judged.guess_tags, vocabulary)
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

"""Evaluation: metrics, significance, reports. It reads corpora and answers, and knows no model."""

from duilian.evaluation.chunks import ChunkScore, are_chunk_labels, chunk_counts, chunk_score, chunks
from duilian.evaluation.labels import LabelMeaning, LabelScorer
from duilian.evaluation.layers import evaluate_layers, main_score
from duilian.evaluation.raw_text import RawTreeScore, raw_tree_score
from duilian.evaluation.report import Evaluation, PruningScore, UnknownWords
from duilian.evaluation.score import Score
from duilian.evaluation.significance import Bootstrap, Metric, bootstrap, p_value
from duilian.evaluation.tagging import (
    KnownAndUnknown,
    TaggingScore,
    accuracy,
    tag_counts,
    tagging_by_vocabulary,
    tagging_score,
)
from duilian.evaluation.trees import (
    TreeScore,
    attachment_counts,
    complete_counts,
    is_punctuation,
    root_counts,
    tree_score,
)
from duilian.evaluation.words import (
    Alignment,
    KnownAndUnknownRecall,
    align,
    recall_by_vocabulary,
    word_score,
    word_tag_score,
)

__all__ = [
    "Alignment",
    "Bootstrap",
    "ChunkScore",
    "Evaluation",
    "KnownAndUnknown",
    "KnownAndUnknownRecall",
    "LabelMeaning",
    "LabelScorer",
    "Metric",
    "PruningScore",
    "RawTreeScore",
    "Score",
    "TaggingScore",
    "TreeScore",
    "UnknownWords",
    "accuracy",
    "align",
    "are_chunk_labels",
    "attachment_counts",
    "bootstrap",
    "chunk_counts",
    "chunk_score",
    "chunks",
    "complete_counts",
    "evaluate_layers",
    "is_punctuation",
    "main_score",
    "p_value",
    "raw_tree_score",
    "recall_by_vocabulary",
    "root_counts",
    "tag_counts",
    "tagging_by_vocabulary",
    "tagging_score",
    "tree_score",
    "word_score",
    "word_tag_score",
]

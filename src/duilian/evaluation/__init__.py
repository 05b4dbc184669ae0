"""Evaluation: metrics, significance, reports. It compares answers with a corpus and needs no model."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.evaluation.attachment import (
        TreeScore,
        attachment_counts,
        complete_counts,
        root_counts,
        tree_score,
    )
    from duilian.evaluation.breakdown import Breakdown, Confusion
    from duilian.evaluation.chunking import ChunkScore, are_chunk_labels, chunk_counts, chunk_score, chunks
    from duilian.evaluation.comparison import Comparison, compare_layers
    from duilian.evaluation.labels import LabelScorer
    from duilian.evaluation.layers import evaluate_layers, main_score
    from duilian.evaluation.raw_text import RawTreeScore, raw_tree_score
    from duilian.evaluation.report import Evaluation, PruningScore, UnknownWords
    from duilian.evaluation.score import Score
    from duilian.evaluation.significance import Bootstrap, McNemar, Metric, bootstrap, mcnemar, p_value
    from duilian.evaluation.tagging import (
        KnownAndUnknown,
        TaggingScore,
        accuracy,
        tag_counts,
        tagging_by_vocabulary,
        tagging_score,
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
    "Breakdown",
    "ChunkScore",
    "Comparison",
    "Confusion",
    "Evaluation",
    "KnownAndUnknown",
    "KnownAndUnknownRecall",
    "LabelScorer",
    "McNemar",
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
    "compare_layers",
    "complete_counts",
    "evaluate_layers",
    "main_score",
    "mcnemar",
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

__getattr__ = lazily(
    __name__,
    {
        "duilian.evaluation.breakdown": "Breakdown Confusion",
        "duilian.evaluation.chunking": "ChunkScore are_chunk_labels chunk_counts chunk_score chunks",
        "duilian.evaluation.comparison": "Comparison compare_layers",
        "duilian.evaluation.labels": "LabelScorer",
        "duilian.evaluation.layers": "evaluate_layers main_score",
        "duilian.evaluation.raw_text": "RawTreeScore raw_tree_score",
        "duilian.evaluation.report": "Evaluation PruningScore UnknownWords",
        "duilian.evaluation.score": "Score",
        "duilian.evaluation.significance": "Bootstrap McNemar Metric bootstrap mcnemar p_value",
        "duilian.evaluation.tagging": "KnownAndUnknown TaggingScore accuracy tag_counts "
        "tagging_by_vocabulary tagging_score",
        "duilian.evaluation.attachment": "TreeScore attachment_counts complete_counts root_counts tree_score",
        "duilian.evaluation.words": "Alignment KnownAndUnknownRecall align recall_by_vocabulary "
        "word_score word_tag_score",
    },
)

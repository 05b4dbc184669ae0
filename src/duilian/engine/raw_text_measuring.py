"""Score an analyser's trees from raw text."""

from __future__ import annotations

import dataclasses

from duilian.corpus import Corpus
from duilian.engine.analyzer import Analyzer
from duilian.evaluation import Evaluation, RawTreeScore, raw_tree_score


def measure_trees(analyzer: Analyzer, gold: Corpus, *, threads: int = 1) -> RawTreeScore | None:
    """Score attachment by the rules of CoNLL 2018; None if gold has no trees in the parser's standard.

    Each gold sentence is one text. Corpora have no spaces between words in letters, so these may be cut here.
    """
    if analyzer.parser is None or gold.standard != analyzer.parser.standard:
        return None
    layers = [layer for layer in (sentence[gold.standard] for sentence in gold) if layer.heads is not None]
    if not layers:
        return None
    unrestricted = Analyzer(analyzer.model, analyzer.parser, whole=())
    docs = unrestricted.pipe((layer.text for layer in layers), threads=threads)
    return raw_tree_score(
        layers, (sentence[gold.standard] for doc in docs for sentence in doc.to_sentences())
    )


def with_tree_scores(found: Evaluation, analyzer: Analyzer, gold: Corpus, *, threads: int = 1) -> Evaluation:
    """Add the scores of the trees, if there are any, to those of words and tags."""
    return dataclasses.replace(found, raw_trees=measure_trees(analyzer, gold, threads=threads))

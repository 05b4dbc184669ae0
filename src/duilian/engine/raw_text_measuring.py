"""An analyser against gold trees, from raw text on."""

from __future__ import annotations

import dataclasses

from duilian.corpus import Corpus
from duilian.engine.analyzer import Analyzer
from duilian.evaluation import Evaluation, RawTreeScore, raw_tree_score


def measure_trees(analyzer: Analyzer, gold: Corpus, *, threads: int = 1) -> RawTreeScore | None:
    """Attachment by the rules of CoNLL 2018; None if gold has no trees in the parser's standard.

    Each gold sentence is a text. Corpora have no spaces between words in letters: those may be cut here.
    """
    if analyzer.parser is None or gold.standard != analyzer.parser.standard:
        return None
    layers = [layer for layer in (sentence[gold.standard] for sentence in gold) if layer.heads is not None]
    if not layers:
        return None
    free = Analyzer(analyzer.model, analyzer.parser, whole=())
    docs = free.pipe((layer.text for layer in layers), threads=threads)
    return raw_tree_score(
        layers, (sentence[gold.standard] for doc in docs for sentence in doc.to_sentences())
    )


def with_trees(found: Evaluation, analyzer: Analyzer, gold: Corpus, *, threads: int = 1) -> Evaluation:
    """An evaluation of words and tags with that of the trees, if there are any."""
    return dataclasses.replace(found, raw_trees=measure_trees(analyzer, gold, threads=threads))

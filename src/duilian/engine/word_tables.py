"""From labels to the tables of words that a `Doc` has."""

from __future__ import annotations

import dataclasses

import numpy as np

from duilian.document.word_table import Names, WordTable
from duilian.labels.encoding import Encoding
from duilian.labels.segmentation import Segmentation
from duilian.models.roles import LabelRows, Trees

MIN_PROBABILITY = 1e-4  # less probable tags are not reported


def word_tables(found: Segmentation, trees: Trees | None, *, with_tags: bool = True) -> list[WordTable]:
    """Return the words of each text, with their trees if given."""
    tags = Names(found.labels, found.names) if with_tags and found.names is not None else None
    relations = None
    if trees is not None and trees.relation is not None:
        relations = Names(trees.relation, trees.names)
    all_words = WordTable(
        found.start,
        found.end,
        found.sentence,
        tags,
        found.confidence,
        None if trees is None else trees.heads,
        relations,
        found.marginals,
    )
    edges = found.units.text.tolist()
    return [all_words] if len(edges) == 2 else all_words.parts(edges)


def empty_table(
    *, has_tags: bool, has_confidence: bool = False, has_tree: bool = False, has_marginals: bool = False
) -> WordTable:
    """Return the table of a text without words."""
    tree: tuple[()] | None = () if has_tree else None
    return WordTable(
        (),
        (),
        (0,),
        tags=() if has_tags else None,
        confidence=() if has_confidence else None,
        heads=tree,
        relations=tree,
        marginals=() if has_marginals else None,
    )


def with_marginals(found: Segmentation, encoding: Encoding, rows: LabelRows) -> Segmentation:
    """Add the probabilities of all possible tags of each word as segmented, best first.

    The probability of a word with a tag is that of its least certain unit, as everywhere.
    """
    if encoding.tags is None:
        return found
    tags, width = encoding.tags, len(encoding.tags)  # label = letter · width + tag
    lengths = np.diff(found.first, append=len(found.units))
    letter = found.unit_labels // width
    rows = LabelRows(*(each[rows.label // width == letter[rows.unit]] for each in rows))
    key = np.repeat(np.arange(len(found.first)), lengths)[rows.unit] * width + rows.label % width
    order = np.argsort(key, kind="stable")
    kinds, begin, count = np.unique(key[order], return_index=True, return_counts=True)
    p = np.minimum.reduceat(rows.p[order], begin) if len(begin) else rows.p
    word, tag = kinds // width, kinds % width
    # All units of a word must allow its tag; the tag that was found is always kept.
    is_found = found.labels[word] % width == tag
    is_kept = (count == lengths[word]) & ((p >= MIN_PROBABILITY) | is_found)
    best = np.flatnonzero(is_kept)[np.lexsort((-p[is_kept], word[is_kept]))]
    marginals: list[dict[str, float]] = [{} for _ in range(len(found.first))]
    for k, name, each in zip(word[best].tolist(), tag[best].tolist(), p[best].tolist(), strict=True):
        marginals[k][tags[name]] = each
    names = [tags[label] for label in (found.labels % width).tolist()]
    confidence = np.array([each.setdefault(name, 0.0) for each, name in zip(marginals, names, strict=True)])
    return dataclasses.replace(found, confidence=confidence, marginals=marginals)

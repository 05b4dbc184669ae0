"""From labels to the tables of words that a `Doc` has."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from duilian.document.word_table import Names, WordTable
from duilian.labels.encoding import Encoding
from duilian.labels.segmentation import Segmentation
from duilian.models.roles import LabelRows, TagRows, Trees
from duilian.standards import LabelMeaning, are_pairs, split_names, universal_of

Calibrated = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]

MIN_PROBABILITY = 1e-4  # less probable tags are not reported


class BatchWords(NamedTuple):
    """The words of many texts in one standard: a single table, and how many words precede each text."""

    table: WordTable
    first: npt.NDArray[np.int64]  # [texts + 1]


def batch_words(found: Segmentation, trees: Trees | None, *, with_tags: bool = True) -> BatchWords:
    """Return the words of all texts, with their trees if given."""
    table = _table(found, trees, with_tags=with_tags)
    return BatchWords(table, found.sentence[found.units.text].astype(np.int64))


def _table(found: Segmentation, trees: Trees | None, *, with_tags: bool) -> WordTable:
    names, specific = _names(found.meaning) if with_tags else (None, None)
    tags = None if names is None else Names(found.labels, names)
    relations = None
    if trees is not None and trees.relation is not None:
        relations = Names(trees.relation, trees.names)
    return WordTable.of_columns(
        found.start,
        found.end,
        found.sentence,
        tags,
        found.confidence,
        None if trees is None else trees.heads,
        relations,
        found.marginals,
        None if specific is None else Names(found.labels, specific),
    )


def word_tables(found: Segmentation, trees: Trees | None, *, with_tags: bool = True) -> list[WordTable]:
    """Return the words of each text, with their trees if given."""
    words = _table(found, trees, with_tags=with_tags)
    return [words] if len(found.units.batch) == 1 else words.parts(found.units.text.tolist())


@functools.lru_cache(maxsize=256)
def _names(meaning: LabelMeaning) -> tuple[tuple[str, ...] | None, tuple[str | None, ...] | None]:
    """The tag of each label; of pairs, the universal and the specific one."""
    pairs = None if meaning.names is None else split_names(meaning.names)
    return (meaning.names, None) if pairs is None else (cast("tuple[str, ...]", pairs[0]), pairs[1])


def empty_table(
    tags: Sequence[str] | None,
    *,
    has_confidence: bool = False,
    has_tree: bool = False,
    has_marginals: bool = False,
) -> WordTable:
    """Return the table of a text without words, in a standard with these tags."""
    tree: tuple[()] | None = () if has_tree else None
    return WordTable(
        (),
        (),
        (0,),
        tags=None if tags is None else (),
        confidence=() if has_confidence else None,
        heads=tree,
        relations=tree,
        marginals=() if has_marginals else None,
    ).with_xpos(Names((), ()) if tags is not None and are_pairs(tuple(tags)) else None)


def likely_tags(found: Segmentation, tags: int, rows: LabelRows) -> TagRows:
    """Return the possible tags of each word as segmented, those that all of its units allow.

    The probability of a word with a tag is that of its least certain unit, as everywhere.
    """
    lengths = np.diff(found.first, append=len(found.units))
    letter = found.unit_labels // tags  # label = letter · tags + tag
    rows = LabelRows(*(each[rows.label // tags == letter[rows.unit]] for each in rows))
    key = np.repeat(np.arange(len(found.first)), lengths)[rows.unit] * tags + rows.label % tags
    order = np.argsort(key, kind="stable")
    kinds, begin, count = np.unique(key[order], return_index=True, return_counts=True)
    p = np.minimum.reduceat(rows.p[order], begin) if len(begin) else rows.p
    is_kept = count == lengths[kinds // tags]
    return TagRows(kinds[is_kept] // tags, kinds[is_kept] % tags, p[is_kept])


def with_tags(
    found: Segmentation, tags: int, chosen: npt.NDArray[np.int32], likely: TagRows, calibrated: Calibrated
) -> Segmentation:
    """Return the same words with other tags, chosen among the likely ones; where a tag changes, the
    confidence is that of the new one.
    """
    own = found.labels % tags
    changed = np.flatnonzero(own != chosen)
    if not len(changed):
        return found
    labels, confidence = found.labels + (chosen - own), found.confidence
    if confidence is not None:
        keys = likely.word * tags + likely.tag
        places = np.searchsorted(keys, changed * tags + chosen[changed])
        confidence = confidence.copy()
        confidence[changed] = calibrated(likely.p[places].astype(np.float32))
    return dataclasses.replace(found, labels=labels, confidence=confidence)


def with_marginals(found: Segmentation, encoding: Encoding, rows: LabelRows) -> Segmentation:
    """Add the probabilities of all possible tags of each word as segmented, best first; that of a universal
    tag is the sum over the pairs that have it.
    """
    if encoding.tags is None:
        return found
    tags, width = list(map(universal_of, encoding.tags)), len(encoding.tags)
    word, tag, p = likely_tags(found, width, rows)
    is_kept = (p >= MIN_PROBABILITY) | (found.labels[word] % width == tag)  # also the tag that was found
    best = np.flatnonzero(is_kept)[np.lexsort((-p[is_kept], word[is_kept]))]
    marginals: list[dict[str, float]] = [{} for _ in range(len(found.first))]
    for k, name, each in zip(word[best].tolist(), tag[best].tolist(), p[best].tolist(), strict=True):
        marginals[k][tags[name]] = min(marginals[k].get(tags[name], 0.0) + each, 1.0)
    names = [tags[label] for label in (found.labels % width).tolist()]
    confidence = np.array([each.setdefault(name, 0.0) for each, name in zip(marginals, names, strict=True)])
    return dataclasses.replace(found, confidence=confidence, marginals=marginals)

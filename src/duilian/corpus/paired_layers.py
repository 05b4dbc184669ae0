"""Layers with universal and language-specific tags: as pairs, or the specific ones in a column (`xpos`).

Models and parsers use pairs (see `standards/paired_tags.py`); people see one tag per column.
"""

from __future__ import annotations

import dataclasses

from duilian.corpus.formats.rows import TAG_COLUMNS
from duilian.corpus.sentence import Layer
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.standards import paired, split_pair

XPOS = TAG_COLUMNS[1]


def split_pairs(layer: Layer) -> Layer:
    """Split pairs of tags: universal tags stay, specific ones go to a column.

    >>> layer = split_pairs(Layer(("他",), ("PRON+PRP",)))
    >>> layer.tags, layer.columns["xpos"], join_pairs(layer).tags
    (('PRON',), ('PRP',), ('PRON+PRP',))
    """
    parts = [split_pair(tag) if isinstance(tag, str) else (tag, None) for tag in layer.tags or ()]
    if XPOS in layer.columns or not any(universal and own for universal, own in parts):
        return layer
    xpos = tuple(specific or UNKNOWN_FIELD for _, specific in parts)
    tags = tuple(universal for universal, _ in parts)
    return dataclasses.replace(layer, tags=tags, columns={**layer.columns, XPOS: xpos})


def join_pairs(layer: Layer) -> Layer:
    """Join universal tags and the specific ones in a column into pairs."""
    if XPOS not in layer.columns or layer.tags is None:
        return layer
    tags = tuple(
        paired(tag, own) if isinstance(tag, str) and split_pair(tag)[0] and own != UNKNOWN_FIELD else tag
        for tag, own in zip(layer.tags, layer.columns[XPOS], strict=True)
    )
    if tags == layer.tags:
        return layer
    columns = {name: column for name, column in layer.columns.items() if name != XPOS}
    return dataclasses.replace(layer, tags=tags, columns=columns)


def with_tags_of(layer: Layer, other: Layer) -> Layer:
    """A layer with the tags, including specific ones, of another layer of the same words."""
    specific = {name: column for name, column in other.columns.items() if name == XPOS}
    return dataclasses.replace(layer, tags=other.tags, columns={**layer.columns, **specific})

"""An analysis in Arrow: a list of words per text, each a struct.

The arrays are columns made by the engine, or gathered by native code: there is no Python object per word.
Offsets count characters (code points), as in `Doc`, not bytes.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import numpy as np

from duilian.document.word_table import UNKNOWN, Names, WordTable
from duilian.engine.word_tables import BatchWords
from duilian.scale.arrow import pa
from duilian.scale.text_column import Ints, TextColumn


@dataclasses.dataclass(frozen=True)
class WordColumn:
    """The words of texts in one standard; a table from the analyser determines the fields of each word."""

    has_tags: bool
    has_xpos: bool
    has_confidence: bool
    has_heads: bool
    has_relations: bool

    @classmethod
    def like(cls, table: WordTable, *, with_confidence: bool) -> Self:
        """Return the column for tables like this one."""
        return cls(
            has_tags=table.tags is not None,
            has_xpos=table.xpos is not None,
            has_confidence=with_confidence,
            has_heads=table.heads is not None,
            has_relations=table.relations is not None,
        )

    @property
    def type(self) -> Any:
        """The type of the column in Arrow."""
        fields = {
            "start": pa.int32(),
            "end": pa.int32(),
            "word": pa.string(),
            **({"tag": pa.string()} if self.has_tags else {}),
            **({"xpos": pa.string()} if self.has_xpos else {}),
            **({"confidence": pa.float32()} if self.has_confidence else {}),
            **({"sentence": pa.int32(), "head": pa.int32()} if self.has_heads else {}),
            **({"relation": pa.string()} if self.has_relations else {}),
        }
        return pa.list_(pa.struct(list(fields.items())))

    def array(self, texts: TextColumn, rows: slice, words: BatchWords, is_bad: Any) -> Any:
        """Return the lists of some rows; bad rows have no `words`, and their lists are null."""
        table, first = words
        columns = {
            "start": _ints(table.start),
            "end": _ints(table.end),
            "word": texts.words(rows, table.start, table.end, first),
        }
        if self.has_tags:
            columns["tag"] = _names(table.tags)
        if self.has_xpos:
            columns["xpos"] = _names(table.xpos)
        if self.has_confidence:
            sure = np.zeros(0) if table.confidence is None else table.confidence
            columns["confidence"] = pa.array(sure.astype(np.float32, copy=False))
        if self.has_heads:
            columns["sentence"] = _ints(_sentence_of_words(table, first))
            columns["head"] = _heads(table.heads)
        if self.has_relations:
            columns["relation"] = _names(table.relations)
        fields = list(self.type.value_type)
        children = pa.StructArray.from_arrays([columns[field.name] for field in fields], fields=fields)
        mask = pa.array(is_bad) if is_bad.any() else None
        offsets = _ints(first.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, children, type=self.type, mask=mask)


def _ints(values: Any) -> Any:
    plain = np.ascontiguousarray(values, np.int32)
    return pa.Int32Array.from_buffers(pa.int32(), len(plain), [None, pa.py_buffer(plain)])


def _heads(heads: Any) -> Any:
    """The heads, null where unknown."""
    if heads is None:
        return pa.array([], pa.int32())
    is_unknown = heads == UNKNOWN
    return pa.array(heads, pa.int32(), mask=is_unknown) if is_unknown.any() else _ints(heads)


def _names(names: Names[Any] | None) -> Any:
    if names is None:
        return pa.array([], pa.string())
    codes = pa.array(np.ascontiguousarray(names.codes))
    return pa.array(names.names, pa.string()).take(codes)


def _sentence_of_words(table: WordTable, first: Ints) -> Any:
    """The number of each word's sentence in its text, counted from 0."""
    sizes = np.diff(table.sentence)
    number = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.diff(first)
    has_words = counts > 0
    begins = number[first[:-1][has_words]]
    return number - np.repeat(begins, counts[has_words])

"""A text with its words as JSON: by the native core, or by Python if the core cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from duilian import _native
from duilian.document.word_table import Names, WordTable


def document_json(text: str, layers: Mapping[str, WordTable]) -> bytes:
    """The text and its words in each standard, as `json.dumps` writes them."""
    if all(layer.marginals is None for layer in layers.values()):
        try:
            return _native.document_json(text, [_columns(*each) for each in layers.items()])
        except ValueError:  # a lone surrogate, or tables made by hand: words that overlap, a confidence of 7
            pass
    found = {name: layer.to_dict(text) for name, layer in layers.items()}
    return json.dumps({"text": text, "standards": found}, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _columns(name: str, layer: WordTable) -> tuple[Any, ...]:
    confidence = layer.confidence
    return (
        name,
        layer.start,
        layer.end,
        layer.sentence,
        _names(layer.tags),
        _names(layer.xpos),
        None if confidence is None else confidence.astype(np.float64),
        layer.heads,
        _names(layer.relations),
    )


def _names(names: Names[Any] | None) -> tuple[Any, ...] | None:
    return None if names is None else (names.codes, names.names)

"""Small neural parsers with random weights."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.models.neural_parser.config import NeuralParserConfig
from duilian.models.neural_parser.storage import FEATURES, NeuralParserModel

CHARACTERS = "他看书北京大学一二的。a"
ROWS = {"suffix": 16, "prefix": 11, "length": 7, "shape": 8}


def random_words(rng: random.Random, count: int) -> tuple[str, ...]:
    """A sentence of words, some of which no model knows."""
    return tuple("".join(rng.choices(CHARACTERS + "鑫", k=rng.randint(1, 4))) for _ in range(count))


def random_model(seed: int, *, cells: int = 5, layers: int = 2, **changes: Any) -> NeuralParserModel:
    """A parser with some of the features; `changes` are settings."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)

    def array(*shape: int) -> npt.NDArray[np.float32]:
        return numbers.normal(0, 0.7, shape).astype(np.float32)

    def linear(outputs: int, inputs: int) -> tuple[Any, Any]:
        return array(outputs, inputs), array(outputs)

    def direction(inputs: int) -> tuple[Any, Any, Any]:
        return array(4 * cells, inputs), array(4 * cells, cells), array(4 * cells)

    words = tuple(sorted({word for _ in range(3) for word in random_words(rng, 5)}))
    tags = ("NN", "VV", "PU")
    relations = ("nsubj", "root", "obj", "punct")[: rng.randint(2, 4)]
    rows = {"word": len(words) + 2, "tag": len(tags) + 2, "vectors": len(words) + 1, **ROWS}
    rows |= dict.fromkeys(("first", "last", "second"), len(CHARACTERS) + 2)
    tables = {name: array(rows[name], rng.randint(1, 4)) for name in dict.fromkeys(FEATURES.values())}
    if rng.random() < 0.3:
        del tables[rng.choice(sorted(tables))]
    inputs = sum(tables[table].shape[1] for table in FEATURES.values() if table in tables)
    arcs, size = rng.randint(1, 20), rng.randint(1, 9)
    output_tags = ("NOUN+NN", "VERB+VV", "PUNCT+PU", "X+FW") if changes.get("chooses_tags", True) else ()
    return NeuralParserModel(
        config=NeuralParserConfig(standard="ud").updated(changes),
        words=words,
        characters=tuple(CHARACTERS),
        tags=tags,
        relations=relations,
        vector_words=words,
        output_tags=output_tags,
        tables=tables,
        root=array(inputs),
        layers=tuple((direction(width), direction(width)) for width in [inputs, *[2 * cells] * (layers - 1)]),
        arc_head=linear(arcs, 2 * cells),
        arc_dependent=linear(arcs, 2 * cells),
        relation_head=linear(size, 2 * cells),
        relation_dependent=linear(size, 2 * cells),
        arc_weight=array(arcs + 1, arcs),
        distance=array(2, 34),
        relation_weight=array(size + 1, len(relations) * (size + 1)),
        tag_hidden=linear(7, 2 * cells) if output_tags else None,
        tag_scores=linear(len(output_tags), 7) if output_tags else None,
    )

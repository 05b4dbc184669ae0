"""The neural parser as data: what training produces and a model file stores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.labels.encoding import names_of
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.precision import Precision
from duilian.models.neural_parser.config import NeuralParserConfig
from duilian.models.parser.storage import ROOT

Array = npt.NDArray[np.float32]
Linear = tuple[Array, Array]
"""Weights [outputs, inputs] and a bias."""
Direction = tuple[Array, Array, Array]
"""Of an LSTM: weights of inputs [4 cells, inputs] and recurrent ones [4 cells, cells]; the bias."""

VERSION = 1
"""Of the features: with others, the weights would give wrong answers without an error."""
FEATURES = {
    "word": "word",
    "first": "first",
    "last": "last",
    "second": "second",
    "suffix": "suffix",
    "prefix": "prefix",
    "length": "length",
    "shape": "shape",
    "tag": "tag",
    "vector_suffix": "vectors",
    "vector_prefix": "vectors",
}
"""The features of a word, in the order of the inputs, with their tables; one without a table is left out."""
LENGTHS, SHAPES = 7, 8  # rows of these tables
MAX_ROWS, MAX_COLUMNS, MAX_CELLS, MAX_LAYERS = 2**20, 512, 1024, 4
MAX_MAP = 4096  # rows of a map, apart from those of layers
MAX_WEIGHT = 1e4  # no sum of products gets too large for single precision
TEXTS = ("words", "characters", "vector_words")
MAPS = ("arc_head", "arc_dependent", "relation_head", "relation_dependent", "tag_hidden", "tag_scores")
MATRICES = ("arc_weight", "distance", "relation_weight")
SIDES = ("forward", "backward")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class NeuralParserModel(StoredModel):
    """Weights of a neural parser, with all that it knows by name."""

    kind: ClassVar[str] = "neural-parser"

    config: NeuralParserConfig
    words: tuple[str, ...]
    characters: tuple[str, ...]
    tags: tuple[str, ...]  # that it may be given
    relations: tuple[str, ...]
    vector_words: tuple[str, ...]
    output_tags: tuple[str, ...] = ()  # to choose from
    tables: Mapping[str, Array]  # [rows, columns]
    root: Array  # [inputs]
    layers: tuple[tuple[Direction, Direction], ...]
    arc_head: Linear
    arc_dependent: Linear
    relation_head: Linear
    relation_dependent: Linear
    arc_weight: Array  # [arcs + 1, arcs]
    distance: Array  # [2, 34]  head to the right, to the left
    relation_weight: Array  # [size + 1, relations · (size + 1)]
    tag_hidden: Linear | None = None
    tag_scores: Linear | None = None

    def __post_init__(self) -> None:
        for name, array in self._weights():
            if not (np.abs(array) <= MAX_WEIGHT).all():  # false for NaN, too
                raise ConfigError(f"a weight in {name!r} is not a number of at most {MAX_WEIGHT:g}")
        rows = {
            "word": len(self.words) + 2,
            **dict.fromkeys(("first", "last", "second"), len(self.characters) + 2),
            "length": LENGTHS,
            "shape": SHAPES,
            "tag": len(self.tags) + 2,
            "vectors": len(self.vector_words) + 1,
        }
        if unknown := self.tables.keys() - set(FEATURES.values()):
            raise ConfigError(f"there is no feature with a table {min(unknown)!r}")
        for name, table in self.tables.items():
            if table.ndim != 2 or not 2 <= len(table) <= MAX_ROWS or not 1 <= table.shape[1] <= MAX_COLUMNS:
                raise ConfigError(f"the table {name!r} has a wrong shape, {table.shape}")
            if len(table) != rows.get(name, len(table)):
                raise ConfigError(f"the table {name!r} must have {rows[name]} rows, got {len(table)}")
        cells = self.layers[0][0][1].shape[-1] if self.layers else 0
        if not 1 <= len(self.layers) <= MAX_LAYERS or not 1 <= cells <= MAX_CELLS:
            raise ConfigError(f"a neural parser has 1 to {MAX_LAYERS} layers of at most {MAX_CELLS} cells")
        if self.relation_weight.shape[-1] != len(self.relations) * len(self.relation_weight):
            raise ConfigError("the weights of relations do not fit their number")
        tag_scores = 0 if self.tag_scores is None else len(self.tag_scores[1])
        if tag_scores != len(self.output_tags) or (self.tag_hidden is None) != (self.tag_scores is None):
            raise ConfigError("the weights of tags do not fit their number")
        if self.config.chooses_tags and not self.output_tags:
            raise ConfigError("a parser that chooses tags must have some")

    @property
    def features(self) -> tuple[str, ...]:
        """The features it has tables for, in the order of the inputs."""
        return tuple(name for name, table in FEATURES.items() if table in self.tables)

    def native(self) -> _native.NeuralParser:
        """The network, ready to answer; it checks that all sizes fit together."""
        names = sorted(self.tables)
        maps = (self.arc_head, self.arc_dependent, self.relation_head, self.relation_dependent)
        tagging = (
            [] if self.tag_hidden is None or self.tag_scores is None else [self.tag_hidden, self.tag_scores]
        )
        return _native.NeuralParser(
            [self.tables[name] for name in names],
            [names.index(FEATURES[feature]) for feature in self.features],
            self.root,
            self.layers,
            maps,
            (self.arc_weight, self.distance, self.relation_weight),
            tagging,
            self.relations.index(ROOT) if ROOT in self.relations else -1,
        )

    def state(self, precision: Precision = "float32") -> State:
        """The model as a file stores it; with 8 bits or fewer, every row of a matrix has its own scale."""
        header = {
            "kind": self.kind,
            "features": VERSION,
            "config": self.config.to_dict(),
            "tags": self.tags,
            "relations": self.relations,
            "output_tags": self.output_tags,
            "layers": len(self.layers),
        }
        arrays: Arrays = {name: _joined(getattr(self, name)) for name in TEXTS}
        for name, array in self._weights():
            arrays |= _stored(name, array, precision)
        return header, arrays

    def _weights(self) -> Iterator[tuple[str, Array]]:
        """All weights by the names that they have in a file."""
        for name, table in self.tables.items():
            yield f"table.{name}", table
        for k, layer in enumerate(self.layers):
            for side, (inputs, recurrent, bias) in zip(SIDES, layer, strict=True):
                own = f"layer{k}.{side}"
                yield from ((f"{own}.input", inputs), (f"{own}.recurrent", recurrent), (f"{own}.bias", bias))
        for name in MAPS:
            pair = getattr(self, name)
            if pair is not None:
                yield from ((f"{name}.matrix", pair[0]), (f"{name}.bias", pair[1]))
        for name in (*MATRICES, "root"):
            yield name, getattr(self, name)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        if header.get("features") != VERSION:
            raise ConfigError("it has other features; train it again")
        layers = header["layers"]
        if type(layers) is not int or not 1 <= layers <= MAX_LAYERS:
            raise ConfigError(f"a neural parser has 1 to {MAX_LAYERS} layers, got {layers!r:.50}")

        def vector(name: str) -> Array:
            return _restored(arrays, name, 1)

        def matrix(name: str) -> Array:
            return _restored(arrays, name, 2)

        def direction(own: str) -> Direction:
            return matrix(f"{own}.input"), matrix(f"{own}.recurrent"), vector(f"{own}.bias")

        def linear(name: str) -> Linear | None:
            is_there = f"{name}.bias.weight" in arrays or not name.startswith("tag_")
            return (matrix(f"{name}.matrix"), vector(f"{name}.bias")) if is_there else None

        texts: dict[str, Any] = {name: _split(name, arrays[name]) for name in TEXTS}
        maps: dict[str, Any] = {name: linear(name) for name in MAPS}
        matrices: dict[str, Any] = {name: matrix(name) for name in MATRICES}
        of_tables = {name.split(".")[1] for name in arrays if name.startswith("table.")}
        return cls(
            config=NeuralParserConfig().updated(header["config"]),
            **texts,
            tags=names_of(header["tags"]),
            relations=names_of(header["relations"]),
            output_tags=names_of(header["output_tags"]),
            tables={name: matrix(f"table.{name}") for name in sorted(of_tables)},
            layers=tuple(
                (direction(f"layer{k}.{SIDES[0]}"), direction(f"layer{k}.{SIDES[1]}")) for k in range(layers)
            ),
            root=vector("root"),
            **maps,
            **matrices,
        )


def _stored(name: str, array: Array, precision: Precision) -> Arrays:
    """The array, or its whole numbers and the scale of each row; a vector stays in single precision."""
    if precision not in ("int8", "int4") or array.ndim == 1:
        return {f"{name}.weight": array.astype("float16" if precision == "float16" else np.float32)}
    scale = np.abs(array).max(axis=1, initial=0.0).astype(np.float32) / np.float32(127)
    steps = array / np.where(scale > 0, scale, 1)[:, None]
    return {f"{name}.weight": np.rint(steps).astype(np.int8), f"{name}.scale": scale}


def _restored(arrays: Arrays, name: str, dimensions: int) -> Array:
    stored = arrays[f"{name}.weight"]
    if stored.ndim != dimensions or stored.dtype not in (np.float32, np.float16, np.int8):
        raise ConfigError(f"the array {name!r} has a wrong shape or type, {stored.shape} {stored.dtype}")
    if stored.ndim == 2 and not (stored.shape[0] <= MAX_ROWS and stored.shape[1] <= 2**18):
        raise ConfigError(f"the array {name!r} is too large, {stored.shape}")
    found: Array = stored.astype(np.float32)
    if stored.dtype != np.int8:
        return found
    scale = arrays[f"{name}.scale"]
    if scale.dtype != np.float32 or scale.shape != stored.shape[:1]:
        raise ConfigError(f"the scales of {name!r} do not fit")
    if not (np.abs(scale) <= MAX_WEIGHT).all():  # false for NaN, too
        raise ConfigError(f"a scale of {name!r} is not a number of at most {MAX_WEIGHT:g}")
    return found * scale[:, None]


def _joined(texts: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode("utf-8"), np.uint8)


def _split(name: str, stored: npt.NDArray[Any]) -> tuple[str, ...]:
    """Strings of a model file, checked to be distinct."""
    if stored.dtype != np.uint8 or stored.ndim != 1:
        raise ConfigError(f"{name} must be stored as UTF-8")
    texts = tuple(stored.tobytes().decode("utf-8").split("\n")) if stored.size else ()
    if len(texts) >= MAX_ROWS or len(set(texts)) != len(texts) or not all(texts):
        raise ConfigError(f"{name} must be at most {MAX_ROWS:,} distinct strings")
    return texts

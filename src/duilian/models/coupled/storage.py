"""The coupled tagger as data: what training produces and a model file stores.

The weights that do best for each standard and on average differ only in their values: they share one table of
features and labels, and one list of transitions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.features import Dictionary, Templates
from duilian.features.dictionary import DictionaryMode
from duilian.lattice import SideMapping
from duilian.models.base.compiled_weights import stored_table
from duilian.models.base.confidence import ConfidenceCurve, curves_of
from duilian.models.base.dictionary_settings import check_dictionary, dictionary_of, keep_dictionary
from duilian.models.base.estimator import Arrays, State, StoredModel
from duilian.models.base.named_weights import (
    PREVIOUS,
    START,
    LabelWeights,
    NamedFeature,
    check_previous,
    entries,
    transition_weights,
)
from duilian.models.base.precision import STEP, Precision, dequantise, quantise
from duilian.models.base.table_codec import EncodedTable, below, decode_table, encode_table, typed
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.sides import Sides
from duilian.models.crf.storage import CrfModel

MAX_TRANSITIONS = 2**26
AVERAGE = "average"  # besides standards, the key of weights that are best on average


@dataclasses.dataclass(frozen=True)
class CoupledModel(StoredModel):
    """Weights of a coupled tagger with its tags, templates and mappings."""

    kind: ClassVar[str] = "coupled"

    config: CoupledConfig
    sides: Sides
    templates: Templates
    mappings: Sequence[SideMapping]  # empty if all labels may go together
    shape: _native.CoupledShape
    weights: Mapping[str, _native.CoupledWeights]  # those that are best for a standard, or on average
    source: CrfModel | None  # the tagger of the guide
    dictionary: Dictionary | None = None
    confidence: Mapping[str, ConfidenceCurve] = dataclasses.field(default_factory=dict)  # by standard

    def with_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """The same model with more words, or with others, also for the tagger of the guide."""
        found = super().with_dictionary(words, mode)
        source = None if self.source is None else self.source.with_dictionary(words, mode)
        return dataclasses.replace(found, source=source)

    def named_weights(self, feature: str) -> dict[str, LabelWeights]:
        """The weights of a feature, in the set that is best on average, by standard and label (`ctb`, `NN`),
        and by joint part and bundle (`[ctb, pku]`, `[NN, n]`).
        """
        if feature.startswith(PREVIOUS):
            return self._weights_after(feature.removeprefix(PREVIOUS))
        weights = self.weights[AVERAGE]
        named = NamedFeature.parse(feature, self.templates.native.texts)
        found = entries(weights, named.key(self.config.features.folding()))
        first = sum(self.shape.labels[side] for side in weights.pruned_sides)
        out = {}
        for name, labels, _ in self._blocks():
            out[name] = {label: found[k] for k, label in enumerate(labels, first) if k in found}
            first += len(labels)
        return out

    def _weights_after(self, before: str) -> dict[str, LabelWeights]:
        weights, blocks = self.weights[AVERAGE], self._blocks()
        check_previous(before, [label for _, labels, _ in blocks for label in labels])
        at = sum((self.shape.labels[side] + 1) ** 2 for side in weights.pruned_sides)
        out = {}
        for name, labels, linked in blocks:
            table = weights.transition[at : at + (linked + 1) ** 2]
            at += len(table)
            if before in (START, *labels[:linked]):
                out[name] = transition_weights(table, labels[:linked], before)
        return out

    def _blocks(self) -> list[tuple[str, Sequence[str], int]]:
        """Sides and joint parts: the name, the labels or bundles, and how many of them have transitions."""
        names, labels = self.sides.standards, [each.labels for each in self.sides.encodings]
        out: list[tuple[str, Sequence[str], int]] = [
            (name, own, len(own)) for name, own in zip(names, labels, strict=True)
        ]
        for p in range(self.shape.parts):
            members = self.shape.part_sides(p)
            bundles = [
                _bundle_name(labels[side][k] for side, k in zip(members, bundle, strict=True))
                for bundle in self.shape.part_bundles(p).tolist()
            ]
            out.append((_bundle_name(names[side] for side in members), bundles, self.shape.part_linked(p)))
        return out

    def state(self, precision: Precision = "float32") -> State:
        shape, (first, *_) = self.shape, self.weights.values()
        unique = {id(weights): weights for _, weights in sorted(self.weights.items())}
        number = {key: k for k, key in enumerate(unique)}
        tables, arrays = _weight_arrays(list(unique.values()), precision)
        header: dict[str, Any] = {
            "kind": self.kind,
            "config": self.config.to_dict(),
            "tags": [encoding.tags for encoding in self.sides.encodings],
            "templates": self.templates.text,
            "templates_name": self.templates.name,
            "mappings": [[each.side_a, each.side_b] for each in self.mappings],
            "parts": [[*shape.part_sides(p), shape.part_linked(p)] for p in range(shape.parts)],
            "best_for": {name: number[id(weights)] for name, weights in self.weights.items()},
            "tables": tables,
            "pruned_sides": first.pruned_sides,
        }
        if self.confidence:
            header["confidence"] = {name: curve.state() for name, curve in self.confidence.items()}
        arrays |= {f"mapping.{k}": m.allows.astype(np.uint8) for k, m in enumerate(self.mappings)}
        arrays |= {f"bundles.{p}": shape.part_bundles(p) for p in range(shape.parts)}
        if self.source is not None:
            header["source"], parts = self.source.state_beside(self.dictionary, precision)
            arrays |= {f"source.{name}": array for name, array in parts.items()}
        words, kept = keep_dictionary(self.dictionary)
        return header | words, arrays | kept

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        config = CoupledConfig().updated(header["config"])
        sides = Sides.of_tags(config, header["tags"])
        mappings = [
            SideMapping(a, b, np.array(arrays[f"mapping.{k}"], np.bool_))
            for k, (a, b) in enumerate(header["mappings"])
        ]
        shape = make_shape(sides, mappings)
        for p, (*members, linked) in enumerate(header["parts"]):
            shape.add_part(members, np.ascontiguousarray(arrays[f"bundles.{p}"]).ravel(), linked)
        best_for = header["best_for"]
        if AVERAGE not in best_for:
            raise ConfigError("there are no weights for the average")
        pruned = _pruned_sides(header["pruned_sides"], len(sides.encodings))
        unique = {k: _compiled(header, arrays, k, shape, pruned) for k in set(best_for.values())}
        source, dictionary = None, dictionary_of(header, arrays)
        if config.features.guide is not None:
            source = CrfModel.from_state_beside(header["source"], below(arrays, "source."), dictionary)
            source.templates.check_columns(())
        templates = Templates(header["templates"], name=header["templates_name"])
        templates.check_columns(() if source is None else ("guide",))
        check_dictionary(templates, dictionary)
        return cls(
            config=config,
            sides=sides,
            templates=templates,
            mappings=mappings,
            shape=shape,
            weights={name: unique[k] for name, k in best_for.items()},
            source=source,
            dictionary=dictionary,
            confidence=curves_of(header.get("confidence", {}), sides.standards),
        )


def _bundle_name(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"


def make_shape(sides: Sides, mappings: Sequence[SideMapping]) -> _native.CoupledShape:
    """The labels of the sides and which may go together, without bundles."""
    return _native.CoupledShape(
        [len(encoding.labels) for encoding in sides.encodings],
        [encoding.succession.native() for encoding in sides.encodings],
        [_native.SideMapping(m.side_a, m.side_b, m.allows.astype(np.uint8)) for m in mappings],
    )


def _weight_arrays(compiled: list[_native.CoupledWeights], precision: Precision) -> tuple[list[int], Arrays]:
    """The table of each set of weights, and the arrays of all."""
    keys: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
    packed: list[EncodedTable] = []
    tables: list[int] = []
    arrays: Arrays = {}
    transitions = _trimmed_moves(np.stack([weights.transition for weights in compiled]), precision)
    at = np.flatnonzero(transitions.any(axis=0))  # most bundles never follow each other
    for k, weights in enumerate(compiled):
        slot, label = weights.slot, weights.label
        same = (t for t, key in enumerate(keys) if _are_equal(key, (slot, label)))
        if (table := next(same, len(keys))) == len(keys):
            keys.append((slot, label))
            packed.append(encode_table(slot, label))
        tables.append(table)
        kept = quantise(weights.weight[packed[table].entries], precision)
        moves = quantise(transitions[k, at], "float16" if precision == "int8" else precision)
        kept |= {f"transition.{name}": array for name, array in moves.items()}
        arrays |= {f"{k}.{name}": array for name, array in kept.items()}
    for t, table_arrays in enumerate(packed):
        arrays |= {f"table.{t}.{name}": array for name, array in table_arrays.arrays.items()}
    arrays |= {
        "transition.skip": (np.diff(at, prepend=-1) - 1).astype(np.uint32),
        "transition.size": np.array([transitions.shape[1]], np.int64),
    }
    return tables, arrays


def _trimmed_moves(transitions: npt.NDArray[np.float32], precision: Precision) -> npt.NDArray[np.float32]:
    """[sets, transitions] For `int4`, without those that are nearer to 0 than half a step."""
    if precision != "int4":
        return transitions
    least = STEP / 2 * transitions.std(where=transitions != 0) if transitions.any() else 0.0
    return np.where(np.abs(transitions) < least, np.float32(0), transitions)


def _are_equal(a: tuple[npt.NDArray[Any], ...], b: tuple[npt.NDArray[Any], ...]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def _pruned_sides(sides: Any, count: int) -> list[int]:
    """The numbers of the sides with pruners of their own, checked to be ascending."""
    if not isinstance(sides, list) or not all(type(side) is int and 0 <= side < count for side in sides):
        raise ConfigError(f"pruned_sides must be numbers of sides, got {sides!r:.100}")
    if sorted(set(sides)) != sides:
        raise ConfigError(f"pruned_sides must be in ascending order, got {sides!r:.100}")
    return sides


def _compiled(
    header: Mapping[str, Any], arrays: Arrays, k: int, shape: _native.CoupledShape, pruned: list[int]
) -> _native.CoupledWeights:
    parts, table = below(arrays, f"{k}."), below(arrays, f"table.{header['tables'][k]}.")
    moves = below(arrays, "transition.") | below(parts, "transition.")
    linked = [
        *(shape.labels[side] for side in pruned),
        *shape.labels,
        *map(shape.part_linked, range(shape.parts)),
    ]
    size = sum((labels + 1) ** 2 for labels in linked)
    at = _places(moves, size)
    if (stored := stored_table(table, parts)) is not None:
        return stored.with_coupled_transitions(size, at, dequantise(moves), pruned)
    transitions = np.zeros(size, np.float32)
    transitions[at] = dequantise(moves)
    return _native.CoupledWeights(*decode_table(table), dequantise(parts), transitions, pruned)


def _places(arrays: Arrays, size: int) -> npt.NDArray[np.int64]:
    """The places of the transitions that are not 0; a file has no others."""
    stated = typed(arrays, "size", np.int64)
    if "at" in arrays:  # as earlier versions stored them
        at = typed(arrays, "at", np.uint32).astype(np.int64)
    else:
        at = np.cumsum(typed(arrays, "skip", np.uint32) + np.int64(1)) - 1
    if size > MAX_TRANSITIONS:
        raise ConfigError(f"there are {size:,} transitions; a model has at most {MAX_TRANSITIONS:,}")
    if stated.tolist() != [size] or (len(at) and int(at.max()) >= size):
        raise ConfigError("the transitions do not fit the labels")
    return at

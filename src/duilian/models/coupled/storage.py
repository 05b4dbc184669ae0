"""A coupled tagger as plain values and arrays, and back: what its model file keeps.

The weights that do best for each standard and on average differ, but not in where they stand: they share one
table of features and labels, and one list of transitions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.labels.encoding import Encoding
from duilian.lattice import SideMapping
from duilian.models.base.precision import Precision, dequantise, quantise
from duilian.models.base.table_codec import Arrays, Packed, below, pack_table, unpack_table
from duilian.models.crf.model import Tagger
from duilian.standards import Mapping as TagMapping
from duilian.text import Folding

if TYPE_CHECKING:
    from duilian.models.coupled.model import CoupledTagger

MOST_TRANSITIONS = 2**28
AVERAGE = "average"  # what weights may be best for, beside a standard


def coupled_state(tagger: CoupledTagger, precision: Precision) -> tuple[dict[str, Any], Arrays]:
    """What a model file keeps of a trained tagger."""
    shape = tagger.predictors_[AVERAGE].shape
    unique = {id(predictor): predictor for _, predictor in sorted(tagger.predictors_.items())}
    number = {key: k for k, key in enumerate(unique)}
    parameters = tagger.get_params() | {"threads": 1, "cache": None}
    if tagger.margin == math.inf:
        parameters["margin"] = None
    if isinstance(tagger.mapping, TagMapping):
        parameters["mapping"] = "complete"  # what it allows is in the arrays
    unique_weights = [predictor.weights for predictor in unique.values()]
    tables, arrays = _weight_arrays(unique_weights, precision)
    header: dict[str, Any] = {
        "kind": tagger.kind,
        "parameters": parameters,
        "tags": [encoding.tags for encoding in tagger.encodings_],
        "templates": tagger.templates_.text,
        "templates_name": tagger.templates_.name,
        "mappings": [[each.side_a, each.side_b] for each in tagger.mappings_],
        "parts": [[*shape.part_sides(p), shape.part_linked(p)] for p in range(shape.parts)],
        "best_for": {name: number[id(predictor)] for name, predictor in tagger.predictors_.items()},
        "tables": tables,
        "pruned_sides": unique_weights[0].pruned_sides,
    }
    arrays |= {f"mapping.{k}": m.allows.astype(np.uint8) for k, m in enumerate(tagger.mappings_)}
    arrays |= {f"bundles.{p}": shape.part_bundles(p) for p in range(shape.parts)}
    if tagger.guide is not None:
        header["source"], parts = tagger.source_.state(precision)
        arrays |= {f"source.{name}": array for name, array in parts.items()}
    return header, arrays


def _weight_arrays(compiled: list[_native.CoupledWeights], precision: Precision) -> tuple[list[int], Arrays]:
    """Which table each set of weights has, and the arrays of all."""
    keys: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []
    packed: list[Packed] = []
    tables: list[int] = []
    arrays: Arrays = {}
    transitions = np.stack([weights.transition for weights in compiled])
    at = np.flatnonzero(transitions.any(axis=0)).astype(np.uint32)  # most bundles never follow each other
    for k, weights in enumerate(compiled):
        slot, label = weights.slot, weights.label
        same = (t for t, key in enumerate(keys) if _are_equal(key, (slot, label)))
        if (table := next(same, len(keys))) == len(keys):
            keys.append((slot, label))
            packed.append(pack_table(slot, label))
        tables.append(table)
        kept = quantise(weights.weight[packed[table].entries], precision)
        moves = quantise(transitions[k, at], "float16" if precision == "int8" else precision)
        kept |= {f"transition.{name}": array for name, array in moves.items()}
        arrays |= {f"{k}.{name}": array for name, array in kept.items()}
    for t, table_arrays in enumerate(packed):
        arrays |= {f"table.{t}.{name}": array for name, array in table_arrays.arrays.items()}
    arrays |= {"transition.at": at, "transition.size": np.array([transitions.shape[1]], np.int64)}
    return tables, arrays


def _are_equal(a: tuple[npt.NDArray[Any], ...], b: tuple[npt.NDArray[Any], ...]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def restore_coupled(tagger: CoupledTagger, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Gives a tagger with the parameters of `header` what it had learned."""
    tagger.encodings_ = [
        Encoding(tagger.level, tuple(tags), tagger.scheme, tagger.join_letters, tagger.join_digits)
        for tags in header["tags"]
    ]
    if len(tagger.encodings_) != len(tagger.standards):
        raise ConfigError(f"{len(tagger.encodings_)} tag sets for {len(tagger.standards)} standards")
    tagger.templates_ = Templates(header["templates"], name=header["templates_name"])
    tagger.folding_ = Folding(script=tagger.script)
    tagger.mappings_ = [
        SideMapping(a, b, np.array(arrays[f"mapping.{k}"], np.bool_))
        for k, (a, b) in enumerate(header["mappings"])
    ]
    if AVERAGE not in header["best_for"]:
        raise ConfigError("there are no weights for the average")
    made = {}
    for k in set(header["best_for"].values()):
        compiled = _compiled(header, arrays, k)
        made[k] = tagger.make_predictor(_shape(tagger, header, arrays), compiled)
    tagger.predictors_ = {name: made[k] for name, k in header["best_for"].items()}
    if tagger.guide is not None:
        tagger.source_ = Tagger.from_state(header["source"], below(arrays, "source."))


def _compiled(header: Mapping[str, Any], arrays: Arrays, k: int) -> _native.CoupledWeights:
    parts = below(arrays, f"{k}.")
    if "tables" in header:
        slot, label = unpack_table(below(arrays, f"table.{header['tables'][k]}."))
        moves = below(arrays, "transition.") | below(parts, "transition.")
    else:  # how files were written before weights shared a table
        slot, label = unpack_table(parts)
        moves = below(parts, "transition.")
    every = range(len(header["tags"])) if header.get("has_pruner") else ()  # as files said it before
    pruned_sides = list(header.get("pruned_sides", every))
    return _native.CoupledWeights(slot, label, dequantise(parts), _dense(moves), pruned_sides)


def _dense(arrays: Arrays) -> npt.NDArray[np.float32]:
    """The transitions again; a file has only those that are not 0."""
    size, at = int(arrays["size"][0]), arrays["at"]
    if not 0 <= size < MOST_TRANSITIONS or (len(at) and int(at.max()) >= size):
        raise ConfigError("the transitions lead outside")
    out = np.zeros(size, np.float32)
    out[at] = dequantise(arrays)
    return out


def _shape(tagger: CoupledTagger, header: Mapping[str, Any], arrays: Arrays) -> _native.CoupledShape:
    shape = _native.CoupledShape(
        [len(encoding.labels) for encoding in tagger.encodings_],
        [encoding.succession.native() for encoding in tagger.encodings_],
        [_native.SideMapping(m.side_a, m.side_b, m.allows.astype(np.uint8)) for m in tagger.mappings_],
    )
    for p, (*sides, linked) in enumerate(header["parts"]):
        shape.add_part(sides, np.ascontiguousarray(arrays[f"bundles.{p}"]).ravel(), linked)
    return shape

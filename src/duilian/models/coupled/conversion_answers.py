"""What conversion gives to a coupled tagger and takes from it: what known labels leave to the other side, and
tables of answers."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.labels.encoding import Encoding, word_ends
from duilian.models.base.packing import decode_layers
from duilian.models.coupled.label_pairs import on_labels, table_mapping
from duilian.models.coupled.sides import Sides
from duilian.standards import Mapping, table_names


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted sentence: its words and tags in the target's standard, and how sure each is."""

    layer: Layer
    confidence: tuple[float, ...]
    ends: tuple[int, ...]  # the number of units before the end of each word
    # [T, L]  probability of the target's labels at every unit, if asked for
    marginals: npt.NDArray[np.float64] | None = dataclasses.field(default=None, compare=False)


def conversion_limits(
    sides: Sides, layers: Sequence[Layer], source: int, target: int, mapping: str | Mapping | None = None
) -> list[_native.TagSets]:
    """What one side's annotation says of its own labels, and through the mapping of the target's."""
    allowed = sides.given(layers, source)
    pair = (sides.standards[source], sides.standards[target])
    allows = allowed_labels(mapping, pair, (sides.encodings[source], sides.encodings[target]))
    if allows is not None and source != target:
        allowed[target] = mapped_sets(allowed[source], allows)
    return allowed


def allowed_labels(
    mapping: str | Mapping | None, standards: tuple[str, str], encodings: tuple[Encoding, Encoding]
) -> npt.NDArray[np.bool_] | None:
    """Which labels of the target may stand for which of the source; None if all may."""
    if mapping is None:
        names = {f"{a}-{b}.tight" for a, b in (standards, standards[::-1])}
        mapping = "complete" if names.isdisjoint(table_names()) else "tight"
    if mapping == "complete":
        return None
    tags = (each.tags or () for each in encodings)
    matrix = table_mapping(mapping, standards, *tags).matrix
    matrix = matrix | ~matrix.any(axis=1, keepdims=True)  # a tag that the table does not know: all may
    return on_labels(matrix, *encodings)


def mapped_sets(given: _native.TagSets, allows: npt.NDArray[np.bool_]) -> _native.TagSets:
    """What the labels that one side may have leave to the other; nothing is said where nothing was given."""
    sizes = np.diff(given.first)
    table = np.zeros((len(sizes), allows.shape[1]), np.bool_)
    if len(given.tags):
        table[sizes > 0] = np.logical_or.reduceat(allows[given.tags], given.first[:-1][sizes > 0])
    first = np.concatenate([[0], np.cumsum(table.sum(axis=1))])
    return _native.TagSets(first.astype(np.int32), np.nonzero(table)[1].astype(np.int32))


def converted(
    encoding: Encoding,
    side: int,
    units: Sequence[Sequence[str]],
    first: npt.NDArray[np.int64],
    found: _native.CoupledAnswers,
    *,
    with_marginals: bool,
) -> list[Converted]:
    """The answers of the target's side, sentence by sentence."""
    layers = decode_layers(encoding, units, found.label(side), first)
    sure, at = found.p(side).tolist(), first.tolist()
    marginals: Sequence[npt.NDArray[np.float64] | None] = [None] * len(layers)
    if with_marginals:
        marginals = marginal_tables(found, side, first, len(encoding.labels))
    answers = []
    for k, layer in enumerate(layers):
        ends = tuple(word_ends(layer.words, [len(unit) for unit in units[k]]))
        sure_here = word_confidence(ends, sure[at[k] : at[k + 1]])
        answers.append(Converted(layer, sure_here, ends, marginals[k]))
    return answers


def word_confidence(ends: Sequence[int], sure: Sequence[float]) -> tuple[float, ...]:
    """How sure each word is: as sure as its least certain unit."""
    return tuple(min(sure[start:end]) for start, end in itertools.pairwise((0, *ends)))


def marginal_tables(
    found: _native.CoupledAnswers, side: int, first: npt.NDArray[np.int64], labels: int
) -> list[npt.NDArray[np.float64]]:
    """Of each sentence a table [T, L] from what its candidates have."""
    if len(first) < 2:
        return []
    sets, units = found.candidates(side), int(first[-1])
    table = np.zeros((units, labels))
    table[np.repeat(np.arange(units), np.diff(sets.first)), sets.tags] = found.candidate_p(side)
    return np.split(table, first[1:-1])

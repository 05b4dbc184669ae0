"""What conversion gives to a coupled tagger and takes from it: labels that are known, tables of answers."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.models.encoding import Encoding
from duilian.models.tagger import Tagger


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted sentence: its words and tags in the target's standard, and how sure each is."""

    layer: Layer
    confidence: tuple[float, ...]
    # [T, L]  probability of the target's labels at every unit, if asked for
    marginals: npt.NDArray[np.float64] | None = dataclasses.field(default=None, compare=False)


def guide_labels(
    encoding: Encoding, source: Tagger, layers: Sequence[Layer], labels: npt.NDArray[np.int32] | None
) -> list[list[str]]:
    """Guide features: labels of the guiding side where they are known, its plain tagger's elsewhere."""
    units = [encoding.split(layer.words)[0] for layer in layers]
    if labels is None:
        return source.predict_labels(units)
    names = encoding.labels
    known = [None if k < 0 else names[k] for k in labels.tolist()]
    if None in known:
        guessed = itertools.chain.from_iterable(source.predict_labels(units))
        known = [b if a is None else a for a, b in zip(known, guessed, strict=True)]
    flat = iter(known)
    return [[str(name) for name in itertools.islice(flat, len(each))] for each in units]


def word_confidence(encoding: Encoding, layer: Layer, sure: Sequence[float]) -> tuple[float, ...]:
    """How sure each word is: as sure as its least certain unit."""
    counts = encoding.split(layer.words)[1]
    at = [0, *itertools.accumulate(counts)]
    return tuple(min(sure[at[k] : at[k + 1]]) for k in range(len(counts)))


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

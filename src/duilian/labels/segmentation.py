"""From labels of units to words: offsets, tags and confidence."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.labels.units import UnitBatch
from duilian.standards import LabelMeaning

Columns = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float32]]
"""Starts, ends and sentences of words; their first units and labels; their confidence."""


@dataclasses.dataclass(eq=False)  # freezing takes longer than all other work on a short text
class Segmentation:
    """The words of a batch of texts in one standard, concatenated."""

    units: UnitBatch
    meaning: LabelMeaning
    unit_labels: npt.NDArray[np.int32]  # [units]
    first: npt.NDArray[np.int32]  # [words]  first unit of each word
    start: npt.NDArray[np.int32]  # [words]  offsets in their texts
    end: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]  # [words]  labels of their first units
    sentence: npt.NDArray[np.int32]  # [sentences + 1]  words before each sentence
    confidence: npt.NDArray[np.float32] | None
    marginals: list[dict[str, float]] | None = None

    @classmethod
    def from_labels(
        cls,
        meaning: LabelMeaning,
        units: UnitBatch,
        labels: npt.NDArray[np.int32],
        p: npt.NDArray[np.float32] | None,
    ) -> Segmentation:
        """Decode the labels of all units, with their probabilities if known."""
        columns = _native.words_of_labels(meaning.edges, units.spans, units.sentence, units.known, labels, p)
        return cls.of_columns(meaning, units, labels, columns, has_confidence=p is not None)

    @classmethod
    def of_columns(
        cls,
        meaning: LabelMeaning,
        units: UnitBatch,
        labels: npt.NDArray[np.int32],
        columns: Columns,
        *,
        has_confidence: bool = True,
    ) -> Segmentation:
        """Take words as the native core returns them."""
        places, of_units, sure = columns
        n = len(of_units) // 2
        return cls(
            units,
            meaning,
            labels,
            first=of_units[:n],
            start=places[:n],
            end=places[n : 2 * n],
            labels=of_units[n:],
            sentence=places[2 * n :],
            confidence=sure if has_confidence else None,
        )

    def sentences(self) -> list[list[str]]:
        """Return the words of each sentence, without invisible characters."""
        edges = np.append(self.first, len(self.units)).tolist()
        words = self.sentence.tolist()
        found = []
        for s, at in enumerate(self.units.sentence[:-1].tolist()):
            pieces = self.units.pieces[s]
            own = edges[words[s] : words[s + 1] + 1]
            found.append(["".join(pieces[a - at : b - at]) for a, b in itertools.pairwise(own)])
        return found

    def layers(self) -> list[Layer]:
        """Return the words and tags of each sentence."""
        names, edges = self.meaning.names, self.sentence.tolist()
        tags = None if names is None else [names[label] for label in self.labels.tolist()]
        return [
            Layer(tuple(words), None if tags is None else tuple(tags[a:b]))
            for words, (a, b) in zip(self.sentences(), itertools.pairwise(edges), strict=True)
        ]

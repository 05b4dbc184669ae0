"""Labels of units as words: places in the texts, tags, and how sure they are."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import numpy.typing as npt

from duilian.document import WordTable
from duilian.engine.tree_stage import Trees
from duilian.engine.units import Ints, Units
from duilian.standards import LabelMeaning


@dataclasses.dataclass(frozen=True)
class Segmentation:
    """The words of some texts after one standard, all in a row."""

    units: Units
    names: list[str] | None  # the tag of each label
    first: Ints  # the first unit of each word
    unit_labels: npt.NDArray[np.int32]  # of all units
    labels: npt.NDArray[np.int32]  # those of the words' first units
    sentence: Ints  # [sentences + 1]  words before each sentence
    confidence: npt.NDArray[np.float64] | None
    marginals: list[dict[str, float]] | None = None

    @classmethod
    def of(
        cls,
        meaning: LabelMeaning,
        units: Units,
        labels: npt.NDArray[np.int32],
        sure: npt.NDArray[np.float32] | None,
    ) -> Segmentation:
        """The words that the labels of all units make."""
        begins = np.asarray(meaning.starts)[labels]
        begins[1:] &= np.asarray(meaning.ends)[labels[:-1]]
        begins |= units.is_apart
        begins[units.sentence[:-1][units.sentence[:-1] < len(labels)]] = True
        first = np.flatnonzero(begins)
        return cls(
            units,
            None if None in meaning.tags else [str(tag) for tag in meaning.tags],
            first,
            labels,
            labels[first],
            np.searchsorted(first, units.sentence),
            None if sure is None else np.minimum.reduceat(sure, first).astype(np.float64),
        )

    def sentences(self) -> list[list[str]]:
        """The words of each sentence; what is invisible in them is left out."""
        edges = np.append(self.first, len(self.units)).tolist()
        words = self.sentence.tolist()
        found = []
        for s, at in enumerate(self.units.sentence[:-1].tolist()):
            pieces = self.units.pieces[s]
            own = edges[words[s] : words[s + 1] + 1]
            found.append(["".join(pieces[a - at : b - at]) for a, b in itertools.pairwise(own)])
        return found

    def words(self, trees: Trees | None) -> list[WordTable]:
        """The words of every text, with their trees if there are any."""
        last = np.append(self.first[1:], len(self.units)) - 1
        start, end = self.units.start[self.first], self.units.end[last]
        names = self.names
        tags = None if names is None else [names[label] for label in self.labels.tolist()]
        found = []
        for a, b in itertools.pairwise(self.units.text.tolist()):
            edges = self.sentence[a : b + 1]
            part = slice(int(edges[0]), int(edges[-1]))
            found.append(
                WordTable(
                    start[part],
                    end[part],
                    edges - edges[0],
                    None if tags is None else tags[part],
                    None if self.confidence is None else self.confidence[part],
                    None if trees is None else trees.heads[part],
                    None if trees is None or trees.relations is None else trees.relations[part],
                    None if self.marginals is None else self.marginals[part],
                )
            )
        return found

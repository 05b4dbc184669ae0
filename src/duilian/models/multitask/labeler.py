"""The two sides of a multi-task tagger in the role of a labeler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from duilian.features import Reading
from duilian.labels.encoding import Encoding
from duilian.labels.units import UnitBatch
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.multitask.storage import MultitaskModel
from duilian.models.roles import Ability, Ask, Constraints, Ints, Labels, Ranked


class MultitaskLabeler:
    """Labels units in each standard with the side for it."""

    kind = MultitaskModel.kind
    reads: Literal["text"] = "text"

    def __init__(self, sides: Sequence[CrfPredictor]) -> None:
        self._sides = {side.standard: side for side in sides}
        self.standards = tuple(self._sides)

    @property
    def abilities(self) -> frozenset[Ability]:
        """What both sides can do."""
        return frozenset.intersection(*(side.abilities for side in self._sides.values()))

    @property
    def way_out(self) -> str:
        """A hint for requests that it cannot answer."""
        return next((side.way_out for side in self._sides.values() if hasattr(side, "way_out")), "")

    @property
    def reading(self) -> Reading:
        """How both sides read text."""
        return next(iter(self._sides.values())).reading

    def encoding(self, standard: str) -> Encoding:
        """How annotation in a standard becomes labels."""
        return self._sides[standard].encoding(standard)

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units, side by side."""
        wanted = ask.standards or self.standards
        found = {name: self._sides[name].label(batch, ask, constraints, threads) for name in wanted}
        impossible = max(each.impossible for each in found.values())
        return Labels({name: each.of[name] for name, each in found.items()}, impossible)

    def k_best_labels(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int, first: Ints | None = None
    ) -> list[Ranked[Ints]]:
        """The best analyses of a sentence in one standard."""
        return self._sides[standard].k_best_labels(sentence, standard, constraints, k, first)

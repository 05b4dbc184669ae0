"""The guided tagger compiled for answering: the labels of its guides become columns for its templates."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from duilian.corpus import Layer
from duilian.models.base.packing import Columns, Packer
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.guided.storage import GuidedModel

UnitLabels = Sequence[Sequence[str]]


@dataclasses.dataclass(frozen=True)
class GuidedPacker(Packer):
    """Packs units with labels of the guides: `guide` by the source, `own` by the target's plain tagger."""

    source: CrfPredictor
    own: CrfPredictor | None

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        """The labels that the guides give."""
        own = None if self.own is None else self.own.predict_labels(units, threads=threads)
        return self.columns_with(units, own, threads)

    def columns_with(
        self, units: Sequence[Sequence[str]], own: UnitLabels | None, threads: int
    ) -> Sequence[Columns]:
        """The labels that the source gives, beside the target's own as they are given here."""
        guide = self.source.predict_labels(units, threads=threads)
        if own is None:
            return [{"guide": labels} for labels in guide]
        return [{"guide": labels, "own": others} for labels, others in zip(guide, own, strict=True)]


class GuidedPredictor(CrfPredictor):
    """Answers of a guided tagger."""

    def _make_packer(self, model: GuidedModel) -> GuidedPacker:  # type: ignore[override]
        plain = model.packer()
        own = None if model.own is None else CrfPredictor(model.own)
        return GuidedPacker(plain.encoding, plain.templates, plain.folding, CrfPredictor(model.source), own)

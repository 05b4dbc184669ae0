"""The guided tagger compiled for answering: the labels of its guides become columns for its templates."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import pack
from duilian.labels.units import UnitBatch
from duilian.lexicon.constraint_builder import NO_BONUS
from duilian.models.base.packing import Columns, Packer
from duilian.models.coupled.conversion_answers import ConversionPlan, LabelLimits
from duilian.models.coupled.sides import GuidePacker
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.guided.storage import GuidedModel
from duilian.models.roles import Ability, Ask, SideLabels
from duilian.standards import Mapping

UnitLabels = Sequence[Sequence[str]]


@dataclasses.dataclass(frozen=True)
class GuidedPacker(Packer):
    """Packs units with labels of the guides: `guide` of the source, `own` of the target's plain tagger."""

    source: CrfPredictor
    own: CrfPredictor | None

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        return self.columns_with(units, self.own_labels(units, threads), threads)

    def own_labels(self, units: Sequence[Sequence[str]], threads: int) -> UnitLabels | None:
        """The labels of the target's plain tagger, if it is a guide."""
        return None if self.own is None else self.own.predict_labels(units, threads=threads)

    def columns_with(
        self,
        units: Sequence[Sequence[str]],
        own: UnitLabels | None,
        threads: int,
        guide: UnitLabels | None = None,
    ) -> Sequence[Columns]:
        """The labels of the source (`guide`, if known) beside those of the target's plain tagger."""
        guide = self.source.predict_labels(units, threads=threads) if guide is None else guide
        if own is None:
            return [{"guide": labels} for labels in guide]
        return [{"guide": labels, "own": others} for labels, others in zip(guide, own, strict=True)]


class GuidedPredictor(CrfPredictor):
    """Answers of a guided tagger."""

    packer: GuidedPacker

    @property
    def abilities(self) -> frozenset[Ability]:
        """All that a plain tagger can do, and conversion."""
        return super().abilities | {Ability.CONVERSION}

    def make_packer(self, model: GuidedModel) -> GuidedPacker:  # type: ignore[override]
        plain = model.packer()
        own = None if model.own is None else CrfPredictor(model.own)
        return GuidedPacker(plain.encoding, plain.templates, plain.reading, CrfPredictor(model.source), own)


class GuidedConversion(ConversionPlan):
    """Tags with the source's annotation as guide, instead of the labels of its tagger."""

    def __init__(
        self, predictor: GuidedPredictor, standards: tuple[str, str], mapping: str | Mapping | None
    ) -> None:
        source, target = predictor.packer.source.encoding_, predictor.encoding_
        if (source.join_letters, source.join_digits) != (target.join_letters, target.join_digits):
            raise ConfigError(
                "the guide tagger splits text into different units, so conversion is impossible"
            )
        super().__init__(standards, (source, target), mapping)
        self._predictor = predictor

    def label_limited(self, units: UnitBatch, limits: LabelLimits, ask: Ask, threads: int) -> SideLabels:
        packer, native, pieces = self._predictor.packer, self._predictor.native, units.pieces
        guide = GuidePacker(packer.reading, self.encodings[0], packer.source)
        known = guide.known_guide(units.layers, threads)
        columns = packer.columns_with(pieces, packer.own_labels(pieces, threads), threads, known)
        packed = pack(pieces, packer.reading, columns)
        constraints = _native.Constraints(limits.target, *NO_BONUS)
        label, _ = native.predict(packed, constraints, threads)
        if not (ask.confidence or ask.marginals):
            return SideLabels(label)
        table = native.predict_marginals(packed, constraints, threads)
        return SideLabels.with_table(label, table, ask)

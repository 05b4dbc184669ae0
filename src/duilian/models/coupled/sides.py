"""The sides of a coupled tagger: each is a standard with its labels."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Tag
from duilian.errors import ConfigError
from duilian.features import Dictionary, Reading, pack
from duilian.labels.encoding import Encoding, names_of, no_sets
from duilian.labels.units import UnitBatch
from duilian.models.coupled.config import CoupledConfig
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.standards import with_parts

Labels = npt.NDArray[np.int32]
Units = Sequence[Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Sides:
    """Standards by number, and how annotation in each becomes labels."""

    standards: tuple[str, ...]
    encodings: tuple[Encoding, ...]

    @classmethod
    def of_tags(cls, config: CoupledConfig, tags: Sequence[Sequence[str]]) -> Sides:
        """The sides of a model with these tags in each standard."""
        if len(tags) != len(config.standards):
            raise ConfigError(f"{len(tags)} tag sets for {len(config.standards)} standards")
        made = (config.features.encoding(config.level, names_of(each)) for each in tags)
        return cls(config.standards, tuple(made))

    def __len__(self) -> int:
        return len(self.standards)

    def number(self, standard: str) -> int:
        """The number of a standard."""
        if standard not in self.standards:
            raise ConfigError(f"the tagger has no standard {standard!r}, only {', '.join(self.standards)}")
        return self.standards.index(standard)

    def given(self, layers: Sequence[Layer], side: int) -> list[_native.TagSets]:
        """The labels that annotation allows on one side; the other sides are open."""
        encoding, allowed = self.encodings[side], [no_sets()] * len(self)
        allowed[side] = encoding.limits(blank_unknown(encoding, layers))
        return allowed


def blank_unknown(encoding: Encoding, layers: Sequence[Layer]) -> list[Layer]:
    """The layers, with unknown tags left open."""
    known = with_parts(encoding.tags or ())
    return [
        layer
        if layer.tags is None
        else dataclasses.replace(
            layer, tags=tuple(tag if _is_known(tag, known) else None for tag in layer.tags)
        )
        for layer in layers
    ]


def _is_known(tag: Tag, known: frozenset[str]) -> bool:
    return tag is not None and known.issuperset((tag,) if isinstance(tag, str) else tag)


def gold_labels(encoding: Encoding, layers: Sequence[Layer]) -> Labels:
    """The label of each unit; -1 where the annotation leaves it open or has an unknown tag."""
    return encoding.encode(blank_unknown(encoding, layers)).label


@dataclasses.dataclass(frozen=True)
class GuidePacker:
    """Packs units for the native core, with the labels of the guide if there is one."""

    reading: Reading
    guide: Encoding | None = None
    source: CrfPredictor | None = None  # the tagger of the guide

    @classmethod
    def of_model(
        cls, config: CoupledConfig, sides: Sides, source: CrfModel | None, dictionary: Dictionary | None
    ) -> GuidePacker:
        """The packer of a model; `source` is the tagger of its guide."""
        reading, guide = Reading(config.features.folding(), dictionary), config.features.guide
        if guide is None or source is None:
            return cls(reading)
        return cls(reading, sides.encodings[sides.number(guide)], CrfPredictor(source))

    def pack(
        self, units: Units, guide: Sequence[Sequence[str]] | None = None, threads: int = 1
    ) -> _native.Sentences:
        """Pack sentences; the guide's labels are predicted unless they are given."""
        if self.source is None:
            return pack(units, self.reading)
        labels = self.source.predict_labels(units, threads=threads) if guide is None else guide
        return pack(units, self.reading, [{"guide": each} for each in labels])

    def pack_batch(self, batch: UnitBatch, threads: int = 1) -> _native.Sentences:
        """Pack a batch; the guide's labels are predicted."""
        if self.source is None:
            return batch.packed(self.reading)
        return self.pack(batch.pieces, threads=threads)

    def known_guide(self, layers: Sequence[Layer], threads: int = 1) -> list[list[str]]:
        """The guide's labels in sentences with its annotation, predicted where they are left open."""
        assert self.guide is not None
        assert self.source is not None
        units = [self.guide.split(layer.words)[0] for layer in layers]
        names = self.guide.labels
        known = [None if k < 0 else names[k] for k in gold_labels(self.guide, layers).tolist()]
        if None in known:
            guessed = itertools.chain.from_iterable(self.source.predict_labels(units, threads=threads))
            known = [b if a is None else a for a, b in zip(known, guessed, strict=True)]
        flat = iter(known)
        return [[str(name) for name in itertools.islice(flat, len(each))] for each in units]

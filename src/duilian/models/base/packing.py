"""Sentences as the native core reads them: units, and the columns that templates use."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Reading, Templates, pack
from duilian.labels.encoding import Encoding
from duilian.labels.units import UnitBatch

Columns = Mapping[str, Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Packer:
    """Layers → units → packed sentences, with columns of the corpus."""

    encoding: Encoding
    templates: Templates
    reading: Reading

    def units(self, layers: Sequence[Layer]) -> list[list[str]]:
        """The units of each sentence."""
        return [self.encoding.split(layer.words)[0] for layer in layers]

    def pack(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int = 1
    ) -> _native.Sentences:
        """Pack the units of sentences with the columns that the templates use."""
        if not self.templates.columns:
            return pack(units, self.reading)
        return pack(units, self.reading, self.columns(units, layers, threads))

    def pack_batch(self, batch: UnitBatch, threads: int = 1) -> _native.Sentences:
        """Pack the units of a batch with the columns that the templates use."""
        if self.templates.columns:
            return self.pack(batch.pieces, batch.layers, threads)
        return batch.packed(self.reading)

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        """The columns that the templates use."""
        return corpus_columns(self.templates.columns, layers)


def corpus_columns(names: Sequence[str], layers: Sequence[Layer]) -> list[Columns]:
    """Columns of the corpus by name."""
    for layer in layers:
        missing = [name for name in names if name not in layer.columns]
        if missing:
            have = ", ".join(layer.columns) or "none"
            raise ConfigError(f"the templates need the column {missing[0]!r}; the corpus has: {have}")
    return [{name: layer.columns[name] for name in names} for layer in layers]

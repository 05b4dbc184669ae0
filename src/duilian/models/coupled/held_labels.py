"""Labels that are known besides a sentence's own: they hold the latent sides of a coupled tagger."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from duilian import _native
from duilian.errors import ModelFileError
from duilian.modelfile import read_model, write_model
from duilian.models.coupled.sides import NO_SETS

KIND = "held-labels"


@dataclasses.dataclass(frozen=True)
class HeldLabels:
    """What is known of the other sides' labels on the sentences of one side, the `source`."""

    round: int  # of the teacher that found them, from 1
    source: int
    sides: int
    sets: Mapping[int, _native.TagSets]  # by side: [units of the source's sentences]; none: not known

    def shares(self) -> dict[int, float]:
        """How many units of each side have a single label, from 0 to 1."""
        return {side: float(np.mean(np.diff(sets.first) == 1)) for side, sets in self.sets.items()}

    def on_units(self, units: Sequence[int]) -> list[_native.TagSets]:
        """Label sets for the units of all sides in a row; `units` has how many each side has."""
        before, after = sum(units[: self.source]), sum(units[self.source + 1 :])
        found = [NO_SETS] * self.sides
        for side, sets in self.sets.items():
            first = np.pad(sets.first, (before, after), mode="edge").astype(np.int32)
            found[side] = _native.TagSets(first, sets.tags)
        return found

    def save(self, path: Path, fingerprint: str) -> None:
        """Keep the labels between two parts of a run."""
        numbers = {"round": self.round, "source": self.source, "sides": self.sides}
        header = {"kind": KIND, "fingerprint": fingerprint, **numbers}
        arrays = {f"{side}.first": sets.first for side, sets in self.sets.items()}
        arrays |= {f"{side}.tags": sets.tags for side, sets in self.sets.items()}
        write_model(path, header, arrays)

    @classmethod
    def load(cls, path: Path, fingerprint: str) -> HeldLabels:
        """The labels again, if they are of the same run."""
        header, arrays = read_model(path)
        if header.get("kind") != KIND or header.get("fingerprint") != fingerprint:
            raise ModelFileError(
                str(path),
                "is not of this run (data or settings differ)",
                hint="delete it, or train without --resume",
            )
        sides = [int(name.partition(".")[0]) for name in arrays if name.endswith(".first")]
        sets = {
            side: _native.TagSets(np.array(arrays[f"{side}.first"]), np.array(arrays[f"{side}.tags"]))
            for side in sides
        }
        return cls(int(header["round"]), int(header["source"]), int(header["sides"]), sets)

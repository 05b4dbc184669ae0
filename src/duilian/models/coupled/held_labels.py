"""Held labels: known labels on the latent sides of a coupled tagger."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError, ModelFileError
from duilian.labels.encoding import no_sets
from duilian.modelfile import read_model, write_model
from duilian.models.base.table_codec import typed

KIND = "held-labels"


@dataclasses.dataclass(frozen=True)
class HeldLabels:
    """Known labels of the other sides on the sentences of one side, the `source`."""

    round: int  # of the teacher that found them, from 1
    source: int
    sides: int
    labels: Mapping[int, npt.NDArray[np.int32]]  # by side: [units of the source]; -1: unknown

    def shares(self) -> dict[int, float]:
        """The share of known labels on each side, from 0 to 1."""
        return {side: float(np.mean(labels >= 0)) for side, labels in self.labels.items()}

    def on_units(self, units: Sequence[int]) -> list[_native.TagSets]:
        """Label sets for the units of all sides in order; `units` has the number of units of each side."""
        before, after = sum(units[: self.source]), sum(units[self.source + 1 :])
        found = [no_sets()] * self.sides
        for side, labels in self.labels.items():
            known = np.concatenate([np.zeros(before, np.bool_), labels >= 0, np.zeros(after, np.bool_)])
            first = np.concatenate([[0], np.cumsum(known)]).astype(np.int32)
            found[side] = _native.TagSets(first, labels[labels >= 0])
        return found

    def save(self, path: Path, fingerprint: str) -> None:
        """Save the labels between two parts of a run."""
        numbers = {"round": self.round, "source": self.source, "sides": self.sides}
        header = {"kind": KIND, "fingerprint": fingerprint, **numbers}
        write_model(path, header, {str(side): labels for side, labels in self.labels.items()})

    @classmethod
    def load(cls, path: Path, fingerprint: str) -> HeldLabels:
        """Load the labels, which must belong to the same run."""
        header, arrays = read_model(path)
        if header.get("kind") != KIND or header.get("fingerprint") != fingerprint:
            raise ModelFileError(
                str(path),
                "this file belongs to another run (data or settings differ)",
                hint="delete it, or train without --resume",
            )
        try:
            labels = {int(name): np.array(typed(arrays, name, np.int32)) for name in arrays}
            return cls(int(header["round"]), int(header["source"]), int(header["sides"]), labels)
        except (ConfigError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(str(path), f"its parts do not fit together ({error})") from None

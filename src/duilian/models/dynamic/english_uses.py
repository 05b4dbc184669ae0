"""What a tagger may know about English words besides their context: their uses and their case.

Zhao et al. (2012) name both as future work. In templates they are the columns `@english[0]` and `@case[0]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.corpus.english_dictionary import EnglishDictionary
from duilian.models.base.packing import Columns, Packer

COLUMNS = ("case", "english")
NOT_ENGLISH, UNKNOWN = "-", "?"


class EnglishUses:
    """English words in lower case with their uses: `run` → `nv`."""

    def __init__(self, uses: Mapping[str, str]) -> None:
        self._uses = dict(uses)

    @classmethod
    def read(cls, source: str) -> Self:
        """Read a dictionary in CC-CEDICT format, from a file or from the package that has one."""
        return cls(EnglishDictionary.read(source).uses())

    def __len__(self) -> int:
        return len(self._uses)

    def columns(self, units: Sequence[str]) -> dict[str, list[str]]:
        """The columns of a sentence."""
        return {"case": [case_of(unit) for unit in units], "english": [self.use_of(unit) for unit in units]}

    def use_of(self, unit: str) -> str:
        """The uses of a unit; `?` if it is an unknown word, `-` if it is not a word."""
        return self._uses.get(unit.lower(), UNKNOWN) if _is_word(unit) else NOT_ENGLISH

    def to_array(self) -> npt.NDArray[np.uint8]:
        """The words and uses as an array of a model file."""
        text = "\n".join(f"{word} {use}" for word, use in sorted(self._uses.items()))
        return np.frombuffer(text.encode(), np.uint8)

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> Self:
        """Restore from an array of a model file."""
        lines = np.asarray(array, np.uint8).tobytes().decode().splitlines()
        return cls({word: use for word, _, use in (line.partition(" ") for line in lines)})


@dataclasses.dataclass(frozen=True)
class DynamicPacker(Packer):
    """Packs units with the uses and the case of English words, if the templates use them."""

    english: EnglishUses | None

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        uses = self.english or EnglishUses({})
        found = [uses.columns(each) for each in units]
        return [{name: each[name] for name in self.templates.columns} for each in found]


def case_of(unit: str) -> str:
    """How a unit of letters is written: lower, Title, UPPER, miXed; a single capital is a letter."""
    if not _is_word(unit):
        return NOT_ENGLISH
    if len(unit) == 1:
        return "letter"
    if unit.islower():
        return "lower"
    return "UPPER" if unit.isupper() else "Title" if unit.istitle() else "miXed"


def _is_word(unit: str) -> bool:
    return unit.isascii() and unit.isalpha()

"""What a tagger may know of English words besides their context: their uses, and how they are written.

Zhao et al. (2012) name both as future work. Templates ask for them as columns, `@english[0]` and `@case[0]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian.corpus.english_dictionary import EnglishDictionary

COLUMNS = ("case", "english")
NOT_ENGLISH, UNKNOWN = "-", "?"


class EnglishUses:
    """English words in lower case with their uses: `run` → `nv`."""

    def __init__(self, uses: Mapping[str, str]) -> None:
        self._uses = dict(uses)

    @classmethod
    def read(cls, source: str) -> Self:
        """From a dictionary in the format of CC-CEDICT, or the package that has one."""
        return cls(EnglishDictionary.read(source).uses())

    def __len__(self) -> int:
        return len(self._uses)

    def columns(self, units: Sequence[str]) -> dict[str, list[str]]:
        """The columns of a sentence."""
        return {"case": [case_of(unit) for unit in units], "english": [self.use_of(unit) for unit in units]}

    def use_of(self, unit: str) -> str:
        """What the unit is used as; `?` if it is a word that nobody knows, `-` if it is none."""
        return self._uses.get(unit.lower(), UNKNOWN) if _is_word(unit) else NOT_ENGLISH

    def to_array(self) -> npt.NDArray[np.uint8]:
        """For a model file."""
        text = "\n".join(f"{word} {use}" for word, use in sorted(self._uses.items()))
        return np.frombuffer(text.encode(), np.uint8)

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> Self:
        """The same again."""
        lines = np.asarray(array, np.uint8).tobytes().decode().splitlines()
        return cls({word: use for word, _, use in (line.partition(" ") for line in lines)})


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

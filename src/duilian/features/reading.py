"""How a model reads text: its folding, and its dictionary if it has one."""

from __future__ import annotations

import dataclasses
import functools

from duilian import _native
from duilian.features.dictionary import Dictionary
from duilian.text import Folding


@dataclasses.dataclass(frozen=True)
class Reading:
    """A folding and, optionally, a dictionary whose words are already folded.

    The share `blind` of all sentences is read as if the dictionary said nothing; only training uses it.
    """

    folding: Folding
    dictionary: Dictionary | None = None
    blind: float = 0.0

    @classmethod
    def of(cls, given: Reading | Folding) -> Reading:
        """The reading given, or one without a dictionary made from a folding."""
        return given if isinstance(given, Reading) else cls(given)

    @functools.cached_property
    def native(self) -> _native.Reading:
        """The same for the native core."""
        if self.dictionary is None:
            return _native.Reading(self.folding.native)
        return _native.Reading(self.folding.native, self.dictionary.native, self.blind)

"""How a model reads text: what features see of its characters, and the words it knows from a dictionary."""

from __future__ import annotations

import dataclasses
import functools

from duilian import _native
from duilian.features.dictionary import Dictionary
from duilian.text import Folding


@dataclasses.dataclass(frozen=True)
class Reading:
    """A folding, and perhaps a dictionary, whose words are folded already."""

    folding: Folding
    dictionary: Dictionary | None = None

    @classmethod
    def of(cls, given: Reading | Folding) -> Reading:
        """A reading, or a folding without a dictionary, as a reading."""
        return given if isinstance(given, Reading) else cls(given)

    @functools.cached_property
    def native(self) -> _native.Reading:
        """The same for the native core."""
        if self.dictionary is None:
            return _native.Reading(self.folding.native)
        return _native.Reading(self.folding.native, self.dictionary.native)

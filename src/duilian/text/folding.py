"""Characters as features see them: width and script folded, one character for one.

Folding changes what features see, never what the user gets back.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import sys
from typing import Literal

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.text.characters import check_text

Script = Literal["as-is", "simplified"]
Letters = Literal["as-is", "unified"]
TRADITIONAL_SHARE = 10  # one of so many
_SIMPLIFIED = importlib.resources.files("duilian.text") / "simplified.txt"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Folding:
    """What features see of a character; one character for one, so that offsets stay true.

    Only `letters="unified"` is about whole units: to features every one of letters only is `ENG`.
    """

    width: bool = True  # Ａ１，。 → A1,.
    script: Script = "as-is"  # simplified: 說 → 说, and quotation marks 「 → “
    letters: Letters = "as-is"  # unified: iPhone → ENG

    def __post_init__(self) -> None:
        if self.script not in ("as-is", "simplified"):
            raise ConfigError(f"script must be 'as-is' or 'simplified', got {self.script!r}")
        if self.letters not in ("as-is", "unified"):
            raise ConfigError(f"letters must be 'as-is' or 'unified', got {self.letters!r}")

    def __call__(self, text: str) -> str:
        return self.native.fold(check_text(text))

    @functools.cached_property
    def native(self) -> _native.Folding:
        """The native form, made once."""
        pairs = list(_to_simplified()) if self.script == "simplified" else []
        return _native.Folding(self.width, pairs, self.letters == "unified")


@functools.cache
def _to_simplified() -> tuple[tuple[int, int], ...]:
    """Traditional characters and their simplified forms."""
    lines = _SIMPLIFIED.read_text(encoding="utf-8").splitlines()
    pairs = " ".join(line for line in lines if not line.startswith("#")).split()
    return tuple((ord(pair[0]), ord(pair[1])) for pair in pairs)


@functools.cache
def _simplified_codes() -> npt.NDArray[np.uint32]:
    """The simplified form of every character, by code."""
    table = np.arange(sys.maxunicode + 1, dtype="<u4")
    traditional, plain = zip(*_to_simplified(), strict=True)
    table[list(traditional)] = plain
    return table


def simplified(text: str) -> str:
    """The text in simplified characters, one for one, as `Folding(width=False, script="simplified")` has it,
    for long texts many times as fast.
    """
    codes = np.frombuffer(check_text(text).encode("utf-32-le"), "<u4")
    found: str = _simplified_codes()[codes].tobytes().decode("utf-32-le")
    return found


@functools.cache
def _traditional() -> frozenset[str]:
    return frozenset(chr(code) for code, _ in _to_simplified())


def is_traditional(text: str) -> bool:
    """Whether a text is in traditional script: a tenth of its characters have another, simplified form.

    In traditional texts a third have; of simplified ones a few, that both scripts use (乾隆).
    """
    known = _traditional()
    return 0 < len(text) <= TRADITIONAL_SHARE * sum(character in known for character in text)

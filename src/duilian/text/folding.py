"""Characters as features see them: width and script are folded, one character to one.

Folding changes what features see, never what the user gets back.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.arguments import check_fields
from duilian.text.characters import check_text

Script = Literal["as-is", "simplified"]
Letters = Literal["as-is", "unified", "cased"]
MAX_PER_TRADITIONAL = 10  # a traditional text has a character with a simplified form at least this often
_SIMPLIFIED = Path(__file__).with_name("simplified.txt")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Folding:
    """What features see of a text; one character maps to one, so offsets stay valid.

    `letters` applies to whole units made of letters: features see all of them as `ENG` (`unified`), or as one
    of `eng`, `Eng`, `ENG`, `eNG` and, for a single letter, `E` (`cased`).

    >>> Folding(script="simplified")("歡迎ＡＢＣ")
    '欢迎ABC'
    """

    width: bool = True  # Ａ１，。 → A1,.
    script: Script = "as-is"  # simplified: 說 → 说, and quotation marks 「 → “
    letters: Letters = "as-is"  # unified: iPhone → ENG; cased: iPhone → eNG

    def __post_init__(self) -> None:
        check_fields(self)

    def __call__(self, text: str) -> str:
        return self.native.fold(check_text(text))

    @functools.cached_property
    def native(self) -> _native.Folding:
        """The native folding, built once."""
        return _native.Folding(*self.tables())

    def tables(self) -> tuple[bool, list[tuple[int, int]], int]:
        """Arguments of the native folding: whether to fold width, pairs of characters, kind of letters."""
        pairs = list(_to_simplified()) if self.script == "simplified" else []
        return self.width, pairs, get_args(Letters).index(self.letters)


@functools.cache
def _to_simplified() -> tuple[tuple[int, int], ...]:
    """Code points of traditional characters and of their simplified forms."""
    lines = _SIMPLIFIED.read_text(encoding="utf-8").splitlines()
    pairs = " ".join(line for line in lines if not line.startswith("#")).split()
    return tuple((ord(pair[0]), ord(pair[1])) for pair in pairs)


@functools.cache
def _simplified_codes() -> npt.NDArray[np.uint32]:
    """The simplified form of every character, by code point."""
    table = np.arange(sys.maxunicode + 1, dtype="<u4")
    traditional, plain = zip(*_to_simplified(), strict=True)
    table[list(traditional)] = plain
    return table


def simplified(text: str) -> str:
    """The text in simplified characters, one for one: like `Folding(width=False, script="simplified")`,
    but many times faster on long texts.
    """
    codes = np.frombuffer(check_text(text).encode("utf-32-le"), "<u4")
    found: str = _simplified_codes()[codes].tobytes().decode("utf-32-le")
    return found


@functools.cache
def _traditional() -> frozenset[str]:
    return frozenset(chr(code) for code, _ in _to_simplified())


def is_traditional(text: str) -> bool:
    """Whether a text is in traditional characters: at least a tenth of them have a different simplified form.

    In traditional texts, about a third do; in simplified texts, only a few that both scripts use (乾隆).
    """
    known = _traditional()
    return 0 < len(text) <= MAX_PER_TRADITIONAL * sum(character in known for character in text)

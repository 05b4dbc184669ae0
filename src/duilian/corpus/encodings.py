"""Guesses the encoding of a file that is not in the declared one.

GB18030 and Big5 decode almost any bytes, including each other's, so decoding alone proves nothing. Each has
its frequent characters in its own range of lead bytes; when text is read in the wrong encoding, about half of
the characters fall outside the range.
"""

from __future__ import annotations

import codecs

from duilian.errors import ConfigError

# Lead bytes of punctuation, symbols and the frequent characters (level 1) of each character set.
_FREQUENT_ZONES = {
    "gb18030": (range(0xA1, 0xAA), range(0xB0, 0xD8)),
    "big5": (range(0xA1, 0xC7),),
}
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8",
}


def check_encoding(name: str) -> bool:
    """Whether a newline is its ASCII byte in this encoding; raises ConfigError if the encoding is unknown."""
    try:
        return "\n".encode(name) == b"\n"
    except (LookupError, ValueError):
        raise ConfigError(f"unknown encoding {name!r}", "try utf-8, gb18030, big5 or utf-16") from None


def likely_encoding(sample: bytes, tried: str) -> str | None:
    """The most likely encoding of the sample other than the one tried; None if none fits."""
    for mark, name in _BYTE_ORDER_MARKS.items():
        if sample.startswith(mark):
            return name if not _same(name, tried) else None
    if not _same("utf-8", tried) and _decode(sample, "utf-8") is not None:
        return "utf-8"
    best, best_share = None, 0.5
    for name in _FREQUENT_ZONES:
        share = 0.0 if _same(name, tried) else _frequent_share(sample, name)
        if share > best_share:
            best, best_share = name, share
    return best


def _same(left: str, right: str) -> bool:
    return (
        codecs.lookup(left) == codecs.lookup(right) or codecs.lookup(left).name == codecs.lookup(right).name
    )


def _decode(sample: bytes, name: str) -> str | None:
    """Decode a sample that may end in the middle of a character."""
    try:
        return codecs.getincrementaldecoder(name)().decode(sample)
    except UnicodeDecodeError:
        return None


def _frequent_share(sample: bytes, name: str) -> float:
    """The share of non-ASCII characters in the frequent range of this encoding, from 0 to 1."""
    text = _decode(sample, name)
    beyond = [char for char in text or "" if not char.isascii()]
    if not beyond:
        return 0.0
    zones = _FREQUENT_ZONES[name]
    frequent = sum(any(char.encode(name)[0] in zone for zone in zones) for char in beyond)
    return frequent / len(beyond)

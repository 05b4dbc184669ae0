"""Which encoding a file is in, when it is not the one it was said to be.

GB18030 and Big5 decode almost any bytes, the other one's included, so that decoding alone proves nothing.
Both put their frequent characters into a zone of lead bytes of their own; text read in the wrong one falls
outside its zone for about half of the characters.
"""

from __future__ import annotations

import codecs

from duilian.errors import ConfigError

# Lead bytes of punctuation, signs and the frequent characters (level 1) of each set.
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
    """Whether lines can be found in the encoded bytes; refuses what is no text encoding."""
    try:
        return "\n".encode(name) == b"\n"
    except (LookupError, ValueError):
        raise ConfigError(f"unknown encoding {name!r}", "try utf-8, gb18030, big5 or utf-16") from None


def likely_encoding(sample: bytes, tried: str) -> str | None:
    """The encoding that the sample is probably in, other than the one tried; None if none fits."""
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
    """The text of a sample that may end inside a character."""
    try:
        return codecs.getincrementaldecoder(name)().decode(sample)
    except UnicodeDecodeError:
        return None


def _frequent_share(sample: bytes, name: str) -> float:
    """How much of the text beyond ASCII lies in the frequent zone of this encoding, from 0 to 1."""
    text = _decode(sample, name)
    beyond = [char for char in text or "" if not char.isascii()]
    if not beyond:
        return 0.0
    zones = _FREQUENT_ZONES[name]
    frequent = sum(any(char.encode(name)[0] in zone for zone in zones) for char in beyond)
    return frequent / len(beyond)

"""The 2,000 lines that the golden answers are about: made from patterns and words of our own writing.

News, encyclopedia, chat, text mixed with English, traditional script and odd Unicode stand in a mixed order,
so that any hundred lines are as varied as all. They are the same everywhere: `hashes.json` has their hash.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from golden import words

COUNT = 2000
MARK = "☰"
"""A line between blocks, by which an answer can be cut into blocks again; it occurs in no other line."""

_SLOT = re.compile(r"\{(\w+)\}")
_LONG = 2000  # characters of the longest lines, about
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_INVISIBLE = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202a", "\ufe0f")
_COMBINING = ("\u0301", "\u0308", "\u0327", "\u20dd", "\u3099", "\u0e31", "\u20e3")
_SPACES = (" ", "  ", "\u3000", "\u00a0", "\u2003", "\t", "\u202f", "\u1680")
_CONTROLS = ("\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b[31m", "\x1f", "\x7f", "\x85", "\u2028", "\u2029")
_PRIVATE = ("\ue000", "\uf8ff", "\U000f0000", "\U0010fffd", "\ue863")
_ASTRAL = (
    "𠮷",
    "𡃁",
    "𪚥",
    "𫝆",
    "𬎆",
    "𝒳",
    "𝟘",
    "🀄",
    "👨‍👩‍👧",
    "🇨🇳",
    "🏳️‍🌈",
    "👍🏽",
    "𓀀",
    "𐍈",
    "\U0001fae0",
)
_NONCHARACTERS = ("\ufffe", "\uffff", "\U0001ffff", "\ufdd0", "\ufffd")
_FOREIGN = (
    "café",
    "naïve",
    "Ελλάδα",
    "Москва",
    "東京タワー",
    "서울",
    "ภาษาไทย",
    "שלום",
    "مرحبا",
    "हिन्दी",
    "ñandú",
)
_COMPATIBILITY = ("㎏", "㍿", "ﬁ", "Ⅷ", "①", "㈱", "½", "²", "豈", "凞", "ｶﾞ", "ℵ", "™", "㊣", "〇", "々")


def lines() -> list[str]:
    """All of them, each once."""
    found: dict[str, None] = {}
    rng = random.Random(20261117)
    for kind, share in KINDS.items():
        wanted = len(found) + share
        while len(found) < wanted:
            line = kind(rng)
            assert MARK not in line
            assert "\n" not in line
            found[line] = None
    mixed = list(found)
    rng.shuffle(mixed)
    assert len(mixed) == COUNT
    return mixed


def filled(pattern: str, rng: random.Random) -> str:
    """The pattern with a word of its list in every slot; words may have slots themselves."""
    while _SLOT.search(pattern):
        pattern = _SLOT.sub(lambda slot: _word(slot[1], rng), pattern)
    return pattern


def _word(name: str, rng: random.Random) -> str:
    return str(rng.randint(*words.NUMBERS[name])) if name in words.NUMBERS else rng.choice(words.LISTS[name])


def _news(rng: random.Random) -> str:
    sentences = [filled(rng.choice(words.NEWS), rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    return filled(rng.choice(words.DATELINES), rng) + "".join(sentences)


def _encyclopedia(rng: random.Random) -> str:
    return "".join(filled(rng.choice(words.ENCYCLOPEDIA), rng) for _ in range(rng.choice((1, 2, 2))))


def _chat(rng: random.Random) -> str:
    parts = [filled(rng.choice(words.CHAT), rng) for _ in range(rng.choice((1, 1, 1, 2)))]
    return rng.choice(("", "，", "…", " ", "～")).join(parts) + rng.choice(words.CHAT_ENDS)


def _mixed(rng: random.Random) -> str:
    parts = [filled(rng.choice(words.MIXED), rng) for _ in range(rng.choice((1, 1, 2)))]
    return rng.choice(("", " ", "；")).join(parts)


def _traditional(rng: random.Random) -> str:
    return "".join(filled(rng.choice(words.TRADITIONAL), rng) for _ in range(rng.choice((1, 1, 2))))


def _odd(rng: random.Random) -> str:
    """A usual line with something unusual done to it, or a line of unusual things alone."""
    usual = rng.choice((_news, _encyclopedia, _chat, _mixed, _traditional))(rng)
    return rng.choice(_TWISTS)(usual, rng)


def _scattered(*signs: str) -> Callable[[str, random.Random], str]:
    """A function that puts such signs into a line, here and there."""

    def scatter(line: str, rng: random.Random) -> str:
        pieces = list(line)
        for _ in range(rng.randint(1, 6)):
            pieces.insert(rng.randint(0, len(pieces)), rng.choice(signs))
        return "".join(pieces)

    return scatter


def _soup(_line: str, rng: random.Random) -> str:
    """Nothing but unusual signs."""
    every = (
        *_INVISIBLE,
        *_COMBINING,
        *_SPACES,
        *_PRIVATE,
        *_ASTRAL,
        *_FOREIGN,
        *_COMPATIBILITY,
        *words.MARKS,
    )
    return "".join(rng.choice(every) for _ in range(rng.randint(1, 12)))


def _long(line: str, rng: random.Random) -> str:
    """A line of many sentences, or of one that never ends."""
    keeps_marks = rng.random() < 0.5
    while len(line) < _LONG:
        line += _news(rng) if keeps_marks else re.sub(r"[。！？!?]", "", _encyclopedia(rng))
    return line


def _short(line: str, rng: random.Random) -> str:
    start = rng.randrange(len(line))
    return line[start : start + rng.randint(1, 3)]


def _blank(_line: str, rng: random.Random) -> str:
    """Nothing at all, or white space only."""
    return "".join(rng.choice(_SPACES) for _ in range(rng.randint(0, 3)))


def _full_width(line: str, _rng: random.Random) -> str:
    return line.translate(_FULL_WIDTH)


def _random_characters(_line: str, rng: random.Random) -> str:
    """Characters of the common block by chance: words that nobody knows."""
    return "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(rng.randint(1, 30)))


def _spaced(line: str, rng: random.Random) -> str:
    return rng.choice((" ", "\u3000", "\u200b")).join(line)


def _repeated(line: str, rng: random.Random) -> str:
    return rng.choice(line) * rng.randint(2, 40)


_TWISTS: tuple[Callable[[str, random.Random], str], ...] = (
    _scattered(*_INVISIBLE),
    _scattered(*_COMBINING),
    _scattered(*_SPACES),
    _scattered(*_CONTROLS),
    _scattered(*_PRIVATE, *_NONCHARACTERS),
    _scattered(*_ASTRAL),
    _scattered(*_FOREIGN),
    _scattered(*_COMPATIBILITY),
    _scattered(*words.MARKS),
    _soup,
    _soup,
    _short,
    _blank,
    _full_width,
    _random_characters,
    _spaced,
    _repeated,
)
KINDS: dict[Callable[[random.Random], str], int] = {
    _news: 440,
    _encyclopedia: 400,
    _chat: 350,
    _mixed: 340,
    _traditional: 250,
    _odd: 214,
    lambda rng: _long("", rng): 6,
}

"""Raw text → sentences → units, with offsets into the text for each.

What lies between two units is white space or invisible (line breaks, zero-width spaces, controls); every
other character is in exactly one unit. So `text[start:end]` is the unit, and units and gaps together are
the text, whatever the text is. Folding changes what features see, never what the user gets back.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import re
import sys
import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError, TextError

Spans = npt.NDArray[np.int64]
"""[n, 2] start and end of each piece."""

Script = Literal["as-is", "simplified"]
Letters = Literal["as-is", "unified"]
Errors = Literal["strict", "replace"]
WholeKind = Literal["url", "email", "hashtag", "mention", "number", "quantity", "word", "sign", "emoji"]
WHOLE_KINDS: tuple[WholeKind, ...] = get_args(WholeKind)
TRADITIONAL_SHARE = 10  # one of so many
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIMPLIFIED = importlib.resources.files("duilian") / "scripts" / "simplified.txt"


class WholeSpan(NamedTuple):
    """Characters from `start` to `end` (exclusive) that are one word, whatever the standard."""

    start: int
    end: int
    kind: WholeKind


class Split(NamedTuple):
    """The units of texts, sentence by sentence, and what is known of them before any model speaks.

    `known` is a set for each unit: BEGINS and GOES_ON (a word begins here; none does), NO_MARK (a letter,
    digit or Han character, in no word that is punctuation), NO_NUMBER (of a word in letters).
    """

    spans: Spans  # each in its text
    first: npt.NDArray[np.int64]  # [sentences + 1]  units before each sentence
    text: npt.NDArray[np.int64]  # [texts + 1]  sentences before each text
    known: npt.NDArray[np.uint8]
    wholes: list[WholeSpan]  # counted in units of all texts


BEGINS, GOES_ON, NO_MARK, NO_NUMBER = 1, 2, 4, 8  # as in native/include/duilian/text/split.hpp


def check_text(text: str, errors: Errors = "strict") -> str:
    """The text itself, or a TextError that says where it is no text; with `errors="replace"` the text with
    U+FFFD for each of its lone surrogates.
    """
    if errors not in ("strict", "replace"):
        raise ConfigError(f"errors must be 'strict' or 'replace', got {errors!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        if errors == "replace":
            return _SURROGATE.sub("\ufffd", text)
        raise TextError(
            f"the character at offset {error.start} of the text is a lone surrogate ({text[error.start]!r})",
            hint="errors='replace' puts U+FFFD there; or find out where the other half was lost",
        ) from None
    except AttributeError:
        hint = "decode it: data.decode()" if isinstance(text, bytes) else ""
        raise TextError(f"a text is a str, not {type(text).__name__}", hint) from None
    return text


def sentences(text: str) -> Spans:
    """The sentences of a text: each ends at 。！？… (and closing quotes behind), or at a line break.

    None ends inside a part that stays whole. What is longer than 2,000 characters is cut.
    """
    return _native.split_sentences(check_text(text))


def units(text: str, *, join_letters: bool = False, join_digits: bool = False) -> Spans:
    """The characters of a text, with their combining marks; joined emoji and, if asked, runs are one unit."""
    return _native.split_units(check_text(text), join_letters, join_digits)


def whole_spans(text: str, kinds: Collection[WholeKind] = WHOLE_KINDS) -> list[WholeSpan]:
    """The parts of mixed text that must not be cut, by rules: web and mail addresses, #topics#, @names,
    numbers, quantities (numbers with a percent sign or unit), words in letters (Wi-Fi, iPhone15), signs
    before prices, emoji.

    They do not overlap, have no white space inside, cut no unit and have at most 1,000 characters. Of kinds
    that are not asked for the parts are found all the same, so that they are not taken for something else: no
    word is seen in an address.
    """
    _check_kinds(kinds)
    found = _native.whole_spans(check_text(text))
    return [WholeSpan(start, end, cast(WholeKind, kind)) for start, end, kind in found if kind in kinds]


def split(
    texts: Sequence[str],
    joins: tuple[bool, bool],
    kinds: Collection[WholeKind],
    *,
    is_one_sentence: bool = False,
) -> Split:
    """Sentences, units and parts that stay whole, all at once; `joins`: whether runs of letters are one unit,
    and of digits.
    """
    _check_kinds(kinds)
    is_whole = [kind in kinds for kind in WHOLE_KINDS]
    try:
        found = _native.split_texts(list(texts), joins, is_one_sentence, is_whole)
    except TypeError:  # a lone surrogate is no text for the native core: say where it is
        for text in texts:
            check_text(text)
        raise
    spans, first, text_first, known, wholes = found
    parts = [WholeSpan(a, b, cast(WholeKind, kind)) for a, b, kind in wholes]
    return Split(spans, first, text_first, known, parts)


def _check_kinds(kinds: Collection[WholeKind]) -> None:
    for kind in kinds:
        if kind not in WHOLE_KINDS:
            raise ConfigError(f"kinds must be of {', '.join(WHOLE_KINDS)}, got {kind!r}")


def cut(text: str, spans: Spans) -> list[str]:
    """The pieces of a text."""
    return [text[start:end] for start, end in spans.tolist()]


def gaps(text: str, spans: Spans) -> list[str]:
    """What lies before, between and behind the pieces: one more than there are pieces."""
    edges = [0, *spans.ravel().tolist(), len(text)]
    return [text[edges[k] : edges[k + 1]] for k in range(0, len(edges), 2)]


def join(pieces: list[str], between: list[str]) -> str:
    """The text again: `join(cut(text, spans), gaps(text, spans)) == text`."""
    if len(between) != len(pieces) + 1:
        raise ConfigError(f"{len(pieces)} pieces need {len(pieces) + 1} gaps, got {len(between)}")
    return between[0] + "".join(piece + gap for piece, gap in zip(pieces, between[1:], strict=True))


def char_types(text: str) -> list[str]:
    """The type of every character: digit, letter, han, punct, space, emoji or other."""
    return _native.char_types(check_text(text))


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


@functools.lru_cache(maxsize=100_000)
def is_punctuation(word: str) -> bool:
    """Whether every character is punctuation (Unicode category P)."""
    return all(unicodedata.category(character)[0] == "P" for character in word)

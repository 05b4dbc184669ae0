"""Raw text → sentences → units, each with offsets into the text.

Only white space and invisible characters (line breaks, zero-width spaces, controls) lie between units; every
other character is in exactly one unit. So `text[start:end]` is the unit, and units and gaps together make up
any text.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.text.characters import check_text

Spans = npt.NDArray[np.int64]
"""[n, 2] start and end of each piece."""

WholeKind = Literal[
    "url", "email", "hashtag", "mention", "number", "quantity", "word", "sign", "emoji", "markup"
]
WHOLE_KINDS: tuple[WholeKind, ...] = get_args(WholeKind)


class WholeSpan(NamedTuple):
    """Characters from `start` to `end` (exclusive) that are one word in every standard."""

    start: int
    end: int
    kind: WholeKind


class Split(NamedTuple):
    """The units of texts, sentence by sentence, and what is known about them before any model runs.

    `known` is a bit set for each unit: BEGINS and GOES_ON (a word begins here; no word begins here), NO_MARK
    (a letter, digit or Han character beside a mark or an end, so not part of punctuation), NO_NUMBER (in a
    word made of letters), GAP (characters outside any unit precede it), APART (white space precedes it), MARK
    (a mark that is not a word by itself), MARKS (one of several in a row; no word begins or ends there),
    CLAUSE (the mark at the end of a clause, in no word but punctuation).
    Others add rules for alphabetic words: NOT_FOREIGN and ONLY_FOREIGN (never tagged as foreign, or always).
    `with_ends` adds ENDS.
    """

    spans: Spans  # of units, as offsets into their own text
    first: npt.NDArray[np.int64]  # [sentences + 1]  number of units before each sentence
    text: npt.NDArray[np.int64]  # [texts + 1]  number of sentences before each text
    known: npt.NDArray[np.uint16]
    wholes: list[WholeSpan]  # counted in units of all texts


BEGINS, GOES_ON, NO_MARK, NO_NUMBER, GAP, APART, MARK, MARKS = (
    1,
    2,
    4,
    8,
    16,
    32,
    64,
    128,
)  # as in native/include/duilian/text/split.hpp
NOT_FOREIGN, ONLY_FOREIGN, ENDS = 256, 512, 1024  # not set by splitting itself
CLAUSE = 2048


def sentences(text: str) -> Spans:
    """The sentences of a text: each ends with 。！？… (and any closing quotes after it), or at a line break.

    No sentence ends inside a protected span. Sentences over 2,000 characters are cut.
    """
    return _native.split_sentences(check_text(text))


def units(text: str, *, join_letters: bool = False, join_digits: bool = False) -> Spans:
    """Characters with their combining marks; joined emoji and, on request, runs are one unit."""
    return _native.split_units(check_text(text), join_letters, join_digits)


def whole_spans(text: str, kinds: Collection[WholeKind] = WHOLE_KINDS) -> list[WholeSpan]:
    """Protected spans, which are never cut, found by rules: web and mail addresses, #topics#, @names,
    numbers, quantities (numbers with a percent sign or unit), alphabetic words (Wi-Fi, iPhone15), currency
    signs before prices, emoji.

    They do not overlap, contain no white space, split no unit and have at most 1,000 characters. Spans of
    other kinds are found too, and dropped afterwards: so no word is found inside an address, for example.
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
    """Find sentences, units and protected spans, all at once; `joins` says whether runs of letters, and
    runs of digits, are one unit.
    """
    try:
        found = _native.split_texts(list(texts), joins, is_one_sentence, _is_whole(tuple(kinds)))
    except TypeError:  # the native core rejects lone surrogates: say where they are
        for text in texts:
            check_text(text)
        raise
    spans, first, text_first, known, wholes = found
    parts = [WholeSpan(a, b, cast(WholeKind, kind)) for a, b, kind in wholes]
    return Split(spans, first, text_first, known, parts)


@functools.cache
def _is_whole(kinds: tuple[WholeKind, ...]) -> list[bool]:
    _check_kinds(kinds)
    return [kind in kinds for kind in WHOLE_KINDS]


def with_ends(known: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Add that a word ends where the next unit begins one.

    A forward search that follows few labels needs to know this, or it would drop labels that end words.
    """
    return _native.with_ends(known)


def _check_kinds(kinds: Collection[WholeKind]) -> None:
    for kind in kinds:
        if kind not in WHOLE_KINDS:
            raise ConfigError(f"kinds must be among {', '.join(WHOLE_KINDS)}, got {kind!r}")


def cut(text: str, spans: Spans) -> list[str]:
    return [text[start:end] for start, end in spans.tolist()]


def gaps(text: str, spans: Spans) -> list[str]:
    """The text before, between and after the pieces: one gap more than there are pieces."""
    edges = [0, *spans.ravel().tolist(), len(text)]
    return [text[edges[k] : edges[k + 1]] for k in range(0, len(edges), 2)]


def join(pieces: list[str], between: list[str]) -> str:
    """Put a text back together: `join(cut(text, spans), gaps(text, spans)) == text`."""
    if len(between) != len(pieces) + 1:
        raise ConfigError(
            f"there must be one gap more than pieces, got {len(between)} gaps and {len(pieces)} pieces"
        )
    return between[0] + "".join(piece + gap for piece, gap in zip(pieces, between[1:], strict=True))

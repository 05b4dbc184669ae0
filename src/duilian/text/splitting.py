"""Raw text → sentences → units, with offsets into the text for each.

What lies between two units is white space or invisible (line breaks, zero-width spaces, controls); every
other character is in exactly one unit. So `text[start:end]` is the unit, and units and gaps together are
the text, whatever the text is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.text.characters import check_text

Spans = npt.NDArray[np.int64]
"""[n, 2] start and end of each piece."""

WholeKind = Literal["url", "email", "hashtag", "mention", "number", "quantity", "word", "sign", "emoji"]
WHOLE_KINDS: tuple[WholeKind, ...] = get_args(WholeKind)


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

"""What is known of a text's words before any model speaks, as wishes to the decoder, for every standard.

White space ends a word. Parts that stay whole (addresses, numbers, words in letters) are never cut; most
kinds are words by themselves. What has letters, digits or Han characters is no punctuation. A user's lexicon
comes behind all that: an entry fires where it begins and ends between such parts, never inside one.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.lexicon import Lexicon
from duilian.models.encoding import Encoding
from duilian.pipeline.units import Units, Whole
from duilian.standards import tag_classes, tags_of_wholes
from duilian.text import BEGINS, GOES_ON, NO_MARK, NO_NUMBER, WHOLE_KINDS, Spans, WholeKind
from duilian.wishes import Wished, WishedWord

WORDS: frozenset[WholeKind] = frozenset(WHOLE_KINDS) - {"number", "word"}
"""Kinds that are words by themselves; others may be a part of a longer word (15 in 15日)."""


class Constraints:
    """Makes wishes for the labels of each standard."""

    def __init__(self, encodings: Mapping[str, Encoding], lexicon: Lexicon | None) -> None:
        self._encodings = list(encodings.items())
        self._lexicon = lexicon
        if lexicon is not None:
            lexicon.check_tags({name: each.tags for name, each in encodings.items()})
        self._tags = [
            {kind: _known(tags, encoding) for kind, tags in tags_of_wholes(standard).items()}
            for standard, encoding in encodings.items()
        ]
        self._barred_by = [
            encoding.barred_by(tag_classes(standard)) for standard, encoding in encodings.items()
        ]

    def wishes(self, units: Units) -> list[_native.Constraints]:
        """For each standard; none at all if nothing is known of these units."""
        known = _known_of(units)
        if self._lexicon is None and not known.any():
            return []
        edges = units.sentence.tolist()
        matches = {} if self._lexicon is None else self._matches(units)
        told = sorted({*units.wholes, *matches})  # sentences of which words are known
        found = []
        rows = zip(self._encodings, self._tags, self._barred_by, strict=True)
        for (standard, encoding), tags, barred_by in rows:
            wished = Wished(encoding, standard)
            for s in told:
                wished.go_to(edges[s])
                words = _words(units.wholes.get(s, ()), matches.get(s, ()), tags, encoding)
                wished.add_sentence(words, edges[s + 1] - edges[s])
            wished.go_to(edges[-1])
            found.append(wished.native().restricted(known, barred_by))
        return found

    def _matches(self, units: Units) -> dict[int, list[WishedWord]]:
        """The lexicon's words in each sentence that has any, by units; to the lexicon a part that stays whole
        is one unit.
        """
        assert self._lexicon is not None
        gaps = _by_sentence(units, units.has_gap)
        joined = [_joined(pieces, units.wholes.get(s, ())) for s, pieces in enumerate(units.pieces)]
        places = [first for _, first in joined]
        apart = [np.searchsorted(first, gaps.get(s, ())).tolist() for s, first in enumerate(places)]
        found = self._lexicon.matched([pieces for pieces, _ in joined], apart)
        for s in units.wholes:
            first = places[s]
            found[s] = [each._replace(start=first[each.start], end=first[each.end]) for each in found[s]]
        return {s: words for s, words in enumerate(found) if words}


def _words(
    wholes: Sequence[Whole],
    matches: Sequence[WishedWord],
    tags: Mapping[str, tuple[str, ...]],
    encoding: Encoding,
) -> list[WishedWord]:
    """The user's words, and parts that are words where the user has none; both are in order."""
    usual = {(start, end): tags.get(kind, ()) for start, end, kind in wholes}
    own = [
        each._replace(tags=_known(each.tags, encoding) or usual.get((each.start, each.end), ()))
        if each.tags or usual
        else each
        for each in matches
    ]
    forced = [each for each in own if each.bonus is None]
    parts = [
        WishedWord(start, end, tags.get(kind, ()), None, kind in ("sign", "emoji"))
        for start, end, kind in wholes
        if kind in WORDS
    ]
    parts = _apart(parts, forced)
    return sorted([*forced, *parts, *_apart([each for each in own if each.bonus is not None], parts)])


def _apart(words: Sequence[WishedWord], others: Sequence[WishedWord]) -> list[WishedWord]:
    """The words that overlap none of the others, which are in order."""
    ends = [each.end for each in others]
    behind = [bisect.bisect_right(ends, each.start) for each in words]  # the first that ends behind its start
    is_apart = [k == len(ends) or others[k].start >= each.end for each, k in zip(words, behind, strict=True)]
    return list(itertools.compress(words, is_apart))


def _known_of(units: Units) -> npt.NDArray[np.uint8]:
    """What is known of each unit; of a sentence's last one also that it is no mark: sentences of corpora end
    in one, so that a model takes anything there for punctuation.
    """
    known = units.known & np.uint8(BEGINS | GOES_ON | NO_NUMBER)
    last = units.sentence[1:][np.diff(units.sentence) > 0] - 1
    known[last] |= units.known[last] & NO_MARK
    known[units.is_apart] |= BEGINS
    return known


def _joined(pieces: list[str], wholes: Sequence[Whole]) -> tuple[list[str], list[int]]:
    """The units of a sentence with each part that stays whole as one; and where each of them begins."""
    if not wholes:
        return pieces, list(range(len(pieces) + 1))
    inner = {t for each in wholes for t in range(each.start + 1, each.end)}
    first = [t for t in range(len(pieces) + 1) if t not in inner]
    return ["".join(pieces[a:b]) for a, b in itertools.pairwise(first)], first


def _by_sentence(units: Units, is_marked: npt.NDArray[np.bool_]) -> dict[int, list[int]]:
    """The marked units of each sentence that has any, counted in it."""
    found: dict[int, list[int]] = {}
    for unit in np.flatnonzero(is_marked).tolist():
        sentence = int(np.searchsorted(units.sentence, unit, "right")) - 1
        found.setdefault(sentence, []).append(unit - int(units.sentence[sentence]))
    return found


def _known(tags: tuple[str, ...], encoding: Encoding) -> tuple[str, ...]:
    """Those of the tags that a standard has; tags of another standard say nothing here."""
    return tuple(tag for tag in tags if tag in (encoding.tags or ()))


def uncut_spans(units: Units) -> list[Spans]:
    """For each sentence the places of what the lexicon takes for one unit."""
    found = []
    for s, (a, b) in enumerate(itertools.pairwise(units.sentence.tolist())):
        first = np.array(_joined(units.pieces[s], units.wholes.get(s, ()))[1], np.int64)
        found.append(np.stack([units.start[a:b][first[:-1]], units.end[a:b][first[1:] - 1]], axis=1))
    return found

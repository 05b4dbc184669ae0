"""What is known about the words of a text before any model runs, as constraints on the decoder.

White space ends a word. Protected spans (addresses, numbers, alphabetic words) are never cut; most kinds are
complete words. A unit with letters, digits or Han characters is not punctuation. Alphabetic words may have
rules of their own (`letter_words.py`). The user's lexicon comes last: an entry does not fire if it begins or
ends inside a protected span.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.labels.encoding import Encoding, no_sets
from duilian.labels.units import UnitBatch, Whole
from duilian.lexicon.constraints import ConstrainedWord, WordConstraints
from duilian.lexicon.letter_words import LetterWords
from duilian.lexicon.lexicon import Lexicon
from duilian.standards import pairs_with, tag_classes, tags_of_wholes
from duilian.text import (
    BEGINS,
    CLAUSE,
    GOES_ON,
    MARK,
    MARKS,
    NO_MARK,
    NO_NUMBER,
    NOT_FOREIGN,
    ONLY_FOREIGN,
    WHOLE_KINDS,
    Spans,
    WholeKind,
    with_ends,
)

WORD_KINDS: frozenset[WholeKind] = frozenset(WHOLE_KINDS) - {"number", "word"}
"""Kinds of protected spans that are complete words; others may be part of a longer word (15 in 15日)."""


FACTS = np.uint16(BEGINS | GOES_ON | NO_MARK | NO_NUMBER | MARK | MARKS | CLAUSE | NOT_FOREIGN | ONLY_FOREIGN)
NO_BONUS = (np.array([], np.int64), np.array([], np.int32), np.array([], np.float32))


def no_constraints() -> _native.Constraints:
    """Constraints that allow everything; made anew, as `no_sets` are."""
    return _native.Constraints(no_sets(), *NO_BONUS)


class ConstraintBuilder:
    """Builds constraints on the labels of each standard; `encodings` has them by standard."""

    def __init__(
        self,
        encodings: Mapping[str, Encoding],
        lexicon: Lexicon | None = None,
        letters: LetterWords | None = None,
    ) -> None:
        self._encodings, self._lexicon, self._letters = dict(encodings), lexicon, letters
        self._is_word = all(encoding.level == "word" for encoding in encodings.values())
        if lexicon is not None:
            lexicon.check_tags({name: each.tags for name, each in encodings.items()})
        self._tags = {
            standard: {kind: _known_tags(tags, encoding) for kind, tags in tags_of_wholes(standard).items()}
            for standard, encoding in encodings.items()
        }
        self._barred_by = {
            standard: encoding.barred_by(tag_classes(standard)) for standard, encoding in encodings.items()
        }
        self._all_barred = list(self._barred_by.values())

    def constraints(self, units: UnitBatch) -> dict[str, _native.Constraints]:
        """Return the constraints by standard; empty if nothing is known about these units."""
        known = None if self._is_word else units.known
        if known is not None and self._letters is not None and len(units):
            known = self._letters.facts(units)
        known = None if known is None else with_ends(known)
        matches = {} if self._lexicon is None else self._matches(units)
        if not matches and not units.wholes:
            facts = [] if known is None else _native.restrictions(known, self._all_barred)
            return dict(zip(self._encodings, facts, strict=False))
        if not matches and (known is None or not (known & FACTS).any()):
            return {}
        edges = units.sentence.tolist()
        if known is not None and matches:
            known = _with_forced(known, matches, edges)
        sentences_with_words = {
            s for s, wholes in units.wholes.items() if any(each.kind in WORD_KINDS for each in wholes)
        }
        constrained_sentences = sorted({*sentences_with_words, *matches})
        found = {}
        for standard, encoding in self._encodings.items():
            constrained = WordConstraints(encoding, standard)
            for s in constrained_sentences:
                constrained.go_to(edges[s])
                words = _constrained_words(
                    units.wholes.get(s, ()), matches.get(s, ()), self._tags[standard], encoding
                )
                constrained.add_sentence(words, edges[s + 1] - edges[s])
            constrained.go_to(edges[-1])
            native = constrained.native()
            found[standard] = native if known is None else native.restricted(known, self._barred_by[standard])
        return found

    def given(self, layers: Sequence[Layer], standard: str) -> _native.Constraints:
        """Return the constraints that annotation in a standard implies."""
        return _native.Constraints(self._encodings[standard].limits(layers), *NO_BONUS)

    def of_words(
        self, units: UnitBatch, words: Sequence[Sequence[str]], standard: str
    ) -> _native.Constraints:
        """Return constraints that cut the units of each sentence into the given words.

        A word that ends inside a unit is extended to the unit's end.
        """
        layers = []
        for pieces, own in zip(units.pieces, words, strict=True):
            ends = set(itertools.accumulate(map(len, own)))
            at = list(itertools.accumulate(map(len, pieces)))
            edges = [0, *(k for k, end in enumerate(at, start=1) if end in ends or k == len(at))]
            layers.append(Layer(tuple(["".join(pieces[a:b]) for a, b in itertools.pairwise(edges)])))
        return self.given(layers, standard)

    def _matches(self, units: UnitBatch) -> dict[int, list[ConstrainedWord]]:
        """Return the lexicon matches by sentence; to the lexicon, a protected span is one unit."""
        assert self._lexicon is not None
        if self._is_word:
            words = self._lexicon.matched(units.pieces, [()] * len(units.pieces), level="word")
            return {s: each for s, each in enumerate(words) if each}
        near = self._sentences_with_words(units) if len(units) else []
        if not near:
            return {}
        gaps = _by_sentence(units, units.has_gap)
        joined = [_join_wholes(units.pieces_of(s), units.wholes.get(s, ())) for s in near]
        places = [first for _, first in joined]
        apart = [np.searchsorted(places[k], gaps.get(s, ())).tolist() for k, s in enumerate(near)]
        found = self._lexicon.matched([pieces for pieces, _ in joined], apart)
        for k, s in enumerate(near):
            if s in units.wholes:
                at = places[k]
                found[k] = [each._replace(start=at[each.start], end=at[each.end]) for each in found[k]]
        return {s: words for s, words in zip(near, found, strict=True) if words}

    def _sentences_with_words(self, units: UnitBatch) -> list[int]:
        """Return the sentences in which words of the lexicon occur, as entries or as parts of words."""
        assert self._lexicon is not None
        places = self._lexicon.places_in("\n".join(units.batch))
        if not len(places):
            return []
        sizes = [len(text) + 1 for text in units.batch]
        before = np.repeat(np.cumsum([0, *sizes[:-1]]), np.diff(units.text))
        begin = before + units.start[np.minimum(units.sentence[:-1], len(units) - 1)]
        found: list[int] = np.unique(np.searchsorted(begin, places, "right") - 1).tolist()
        return [s for s in found if s >= 0]


def _constrained_words(
    wholes: Sequence[Whole],
    matches: Sequence[ConstrainedWord],
    tags: Mapping[str, tuple[str, ...]],
    encoding: Encoding,
) -> list[ConstrainedWord]:
    """Merge the user's words with protected spans that are words; the user's words win."""
    default_tags = {(start, end): tags.get(kind, ()) for start, end, kind in wholes}
    own = [
        each._replace(tags=_known_tags(each.tags, encoding) or default_tags.get((each.start, each.end), ()))
        if each.tags or default_tags
        else each
        for each in matches
    ]
    forced = [each for each in own if each.bonus is None]
    spans = [
        ConstrainedWord(start, end, tags.get(kind, ()), None, kind in ("sign", "emoji"))
        for start, end, kind in wholes
        if kind in WORD_KINDS
    ]
    spans = _disjoint(spans, forced)
    return sorted([*forced, *spans, *_disjoint([each for each in own if each.bonus is not None], spans)])


def _with_forced(
    known: npt.NDArray[np.uint16], matches: Mapping[int, Sequence[ConstrainedWord]], edges: Sequence[int]
) -> npt.NDArray[np.uint16]:
    """What is known, less what the user's forced words contradict: `.` is no punctuation mark in `.NET`."""
    known = known.copy()
    for s, words in matches.items():
        for each in words:
            own = known[edges[s] + each.start : edges[s] + each.end]
            if each.bonus is None and not (own & MARK).all():
                own &= ~np.uint16(MARK | MARKS | CLAUSE)
    return known


def _disjoint(words: Sequence[ConstrainedWord], others: Sequence[ConstrainedWord]) -> list[ConstrainedWord]:
    """Return the words that overlap none of the others, which are in order."""
    ends = [each.end for each in others]
    after = [bisect.bisect_right(ends, each.start) for each in words]  # the first that ends after its start
    is_apart = [k == len(ends) or others[k].start >= each.end for each, k in zip(words, after, strict=True)]
    return list(itertools.compress(words, is_apart))


def _join_wholes(pieces: list[str], wholes: Sequence[Whole]) -> tuple[list[str], list[int]]:
    """Join each protected span into one unit; also return the first original unit of each."""
    if not wholes:
        return pieces, list(range(len(pieces) + 1))
    inner = {t for each in wholes for t in range(each.start + 1, each.end)}
    first = [t for t in range(len(pieces) + 1) if t not in inner]
    return ["".join(pieces[a:b]) for a, b in itertools.pairwise(first)], first


def _by_sentence(units: UnitBatch, is_marked: npt.NDArray[np.bool_]) -> dict[int, list[int]]:
    """Return the marked units of each sentence that has any, counted within it."""
    found: dict[int, list[int]] = {}
    for unit in np.flatnonzero(is_marked).tolist():
        sentence = int(np.searchsorted(units.sentence, unit, "right")) - 1
        found.setdefault(sentence, []).append(unit - int(units.sentence[sentence]))
    return found


def _known_tags(tags: tuple[str, ...], encoding: Encoding) -> tuple[str, ...]:
    """Keep the tags that the encoding knows; the others belong to other standards."""
    return _all_pairs(tags, tuple(encoding.tags or ()))


@functools.lru_cache(maxsize=4096)
def _all_pairs(tags: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for tag in tags for each in pairs_with(tag, known)))


def uncut_spans(units: UnitBatch) -> list[Spans]:
    """Return the spans that the lexicon treats as single units, for each sentence."""
    found = []
    for s, (a, b) in enumerate(itertools.pairwise(units.sentence.tolist())):
        first = np.array(_join_wholes(units.pieces[s], units.wholes.get(s, ()))[1], np.int64)
        found.append(np.stack([units.start[a:b][first[:-1]], units.end[a:b][first[1:] - 1]], axis=1))
    return found

"""Which entries of a lexicon occur in a text, which of them fire, and why the others do not."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Literal, NamedTuple

from duilian.corpus.lines import shown

EntryMode = Literal["force", "prefer"]


class Match(NamedTuple):
    """An entry that fires on the units from `start` to `end` (exclusive)."""

    start: int
    end: int
    word: str
    mode: EntryMode


class Finding(NamedTuple):
    """An occurrence of an entry's word in the text: characters from `start` to `end` (exclusive).

    `why_not` is empty if the entry fires; otherwise it says briefly why not. In an analyser's findings, an
    entry fires if the answer has it as a word with a suitable tag in every standard; otherwise `why_not` says
    what is there instead, and `standards` are those in which it is a word nevertheless.
    """

    start: int
    end: int
    word: str  # in the text's own characters
    mode: EntryMode
    why_not: str = ""
    tags: tuple[str, ...] = ()  # allowed by the entry
    place: str = ""  # `path:line` of the entry, if it is from a file
    standards: tuple[str, ...] = ()

    @property
    def fires(self) -> bool:
        """Whether it is in the analysis; without an analysis, whether the decoder takes it into account."""
        return not self.why_not


def mode_of(is_soft: bool) -> EntryMode:
    """The mode of an entry that is a preference, or not."""
    return "prefer" if is_soft else "force"


def why_not(text: str, place: tuple[int, int], fired: Sequence[tuple[int, int]], edges: set[int]) -> str:
    """Say briefly why an occurrence is not among those that fired, which are sorted."""
    start, end = place
    if start not in edges or end not in edges:
        return "begins or ends inside a unit that is never cut"
    for a, b in fired[max(0, bisect.bisect_right(fired, place) - 1) :]:
        if a < end and start < b:
            return f"overlaps {shown(text[a:b])}, which has priority"
        if a >= end:
            break
    return "contains the end of a sentence or an invisible character"

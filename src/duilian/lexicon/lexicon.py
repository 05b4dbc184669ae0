"""The user's lexicon: strings that must or should be words wherever they occur in a text.

Matches become constraints on the decoder: allowed labels at a unit, or a bonus on them. Words that do not
occur in a text do not affect its analysis. The same matches can be columns for feature templates, so that a
model learns how far to trust the lexicon.

Words are found in either script: entries and texts are compared in simplified characters, one for one.
"""

from __future__ import annotations

import functools
import itertools
import logging
import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from duilian import text as texts
from duilian.arguments import checked
from duilian.corpus.lines import shown
from duilian.errors import ConfigError, CorpusError, StandardError
from duilian.lexicon.constraints import ConstrainedWord
from duilian.lexicon.entries import Entry, EntryTable, check_weight
from duilian.lexicon.findings import EntryMode, Finding, Match, mode_of, why_not
from duilian.standards import with_parts
from duilian.text import check_text, simplified
from duilian.wording import counted

if TYPE_CHECKING:
    from duilian.labels.encoding import Level

_UnitMatch = tuple[int, int, int, bool]
"""First unit, end (exclusive), number of the entry, whether it is a preference."""

WHOLE_DICTIONARY = 20_000  # entries; that many preferred words do more harm than good
WEIGHT = 5.0  # per unit: enough unless the model is very sure of other words
LINES_AT_ONCE = 50_000
MAX_LENGTH_CLASS = 5  # words of this many units or more share a length class, as in the template `len`


class Lexicon:
    """Words to find in texts. Their order does not matter; entries for the same word are merged.

    `mode` is what entries without a weight do: `force` allows no other analysis, `prefer` adds `weight` to
    the score of the labels on each unit.

    >>> lexicon = Lexicon(["云计算中心", Entry("杭州湾", ("ns",))])
    >>> [found.word for found in lexicon.trace("云计算中心在杭州湾")]
    ['云计算中心', '杭州湾']
    """

    @checked
    def __init__(
        self, entries: Iterable[Entry | str] = (), *, mode: EntryMode = "force", weight: float = WEIGHT
    ) -> None:
        if mode not in ("force", "prefer"):
            raise ConfigError(f"mode must be 'force' or 'prefer', got {mode!r}")
        self.mode: EntryMode = mode
        self.weight = check_weight(weight)
        self.skipped = 0  # number of malformed lines that a lenient read skipped
        self.problems: tuple[str, ...] = ()  # the first few messages about them
        self._entries = EntryTable()
        if isinstance(entries, str):
            raise ConfigError(
                f"a lexicon takes a list of words, not the string {entries!r}",
                f"write Lexicon([{entries!r}])",
            )
        for entry in entries:
            self._entries.add(entry if isinstance(entry, Entry) else Entry(entry))

    @classmethod
    @checked
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        mode: EntryMode = "force",
        weight: float = WEIGHT,
        encoding: str = "utf-8",
        lenient: bool = False,
    ) -> Self:
        """Read a file with one entry per line: word, tags (`NN|VV`) and weight, separated by tabs.

        Tags and weight are optional. `#` starts a comment line, `\\#` a word that begins with #. `lenient`
        skips and counts malformed lines.

        Dictionaries of jieba are read, too: a line without tabs that is `word frequency tag`, or a Chinese
        word with one of the two. Frequencies are not weights and are ignored, as are tags that the model does
        not know.
        """
        from duilian.corpus.files import display_name, read_lines  # slow: not for those without a file
        from duilian.corpus.storage import ReadReport, skipped_line

        lexicon = cls(mode=mode, weight=weight)
        lexicon._entries = EntryTable(display_name(path))
        report = ReadReport()
        lines = read_lines(path, encoding=encoding, skip=report.skip if lenient else None)
        while block := list(itertools.islice(lines, LINES_AT_ONCE)):
            for number, error in lexicon._entries.add_lines(block):
                problem = CorpusError(display_name(path), number, error.message, error.hint)
                if not lenient:
                    raise problem
                report.skip(problem)
        lexicon.skipped, lexicon.problems = report.skipped, tuple(report.problems)
        if report.skipped:
            logging.getLogger(__name__).warning("%s", skipped_line(report.counts, report.problems))
        if mode == "prefer" and len(lexicon) >= WHOLE_DICTIONARY:
            logging.getLogger(__name__).warning(
                "%s: a whole dictionary (%d words) makes a poor lexicon, which finds words where there are "
                "none; use it as the dictionary of a model that was trained with one",
                display_name(path),
                len(lexicon),
            )
        return lexicon

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._entries.find([word])[0] >= 0

    def __iter__(self) -> Iterator[Entry]:
        """The entries, sorted by word; words are in simplified characters."""
        return map(self._entries.__getitem__, self._entries.native.sorted().tolist())

    def __repr__(self) -> str:
        return f"<Lexicon: {counted(len(self), 'word')}, mode {self.mode}>"

    @checked
    def explain(self, units: Sequence[str], *, level: Level = "char") -> list[Match]:
        """The entries that fire. Among overlapping matches, forced ones win, then longer, then earlier ones.

        At word level, only entries with tags fire, on units equal to the word.
        """
        check_text("".join(units))
        return [
            Match(start, end, "".join(units[start:end]), mode_of(is_soft))
            for start, end, _, is_soft in self._matches([units], level, None)[0]
        ]

    @checked
    def trace(self, text: str, *, join_letters: bool = False, join_digits: bool = False) -> list[Finding]:
        """All occurrences of entries in a text: which fire, and why the others do not.

        Sentences are analysed separately. `join_letters` and `join_digits` are those of the model.
        """
        units = [
            texts.units(text[a:b], join_letters=join_letters, join_digits=join_digits) + a
            for a, b in texts.sentences(text).tolist()
        ]
        return self.trace_units(text, units)

    def trace_units(self, text: str, units: Sequence[texts.Spans]) -> list[Finding]:
        """Like `trace`, with the units of each sentence given."""
        gaps = [(np.flatnonzero(spans[1:, 0] > spans[:-1, 1]) + 1).tolist() for spans in units]
        sentences = [texts.cut(text, spans) for spans in units]
        matches = self._matches(sentences, "char", gaps)
        fired, inner = (
            [
                (int(spans[start, 0]), int(spans[end - 1, 1]))
                for spans, found in zip(units, each, strict=True)
                for start, end, _, _ in found
            ]
            for each in (matches, self._inner(sentences, matches))
        )
        edges, used = {int(edge) for spans in units for edge in spans.ravel()}, {*fired, *inner}
        return [
            Finding(
                start,
                end,
                text[start:end],
                mode_of(self._is_soft(entry)),
                "" if (start, end) in used else why_not(text, (start, end), fired, edges),
                self._tags(entry),
                self._entries.place(entry),
            )
            for start, end, entry in self._entries.native.occurrences(simplified(text)).tolist()
        ]

    def _is_soft(self, entry: int) -> bool:
        return self.mode == "prefer" or not math.isnan(self._entries.native.weight(entry))

    def _matches(
        self, sentences: Sequence[Sequence[str]], level: Level, gaps: Sequence[Sequence[int]] | None
    ) -> list[list[_UnitMatch]]:
        if level == "word":
            return [
                [
                    (t, t + 1, entry, self._is_soft(entry))
                    for t, entry in enumerate(self._entries.find(units))
                    if entry >= 0 and self._tags(entry)
                ]
                for units in sentences
            ]
        found: list[list[_UnitMatch]] = [[] for _ in sentences]
        rows = self._entries.native.matches(
            _simplified_units(sentences),
            [] if gaps is None else [list(each) for each in gaps],
            self.mode == "prefer",
        )
        for sentence, start, end, entry, is_soft in rows.tolist():
            found[sentence].append((start, end, entry, bool(is_soft)))
        return found

    def _inner(
        self, sentences: Sequence[Sequence[str]], matches: Sequence[Sequence[_UnitMatch]]
    ) -> list[list[_UnitMatch]]:
        """Preferred words at the start or end of a longer preferred one, which they may beat."""
        found: list[list[_UnitMatch]] = [[] for _ in sentences]
        outer = [
            (sentence, start, sentences[sentence][start:end])
            for sentence, each in enumerate(matches)
            for start, end, _, is_soft in each
            if is_soft and end - start > 1
        ]
        words = ["".join(units) for _, _, units in outer]
        first = np.cumsum([0, *(len(word) + 1 for word in words)])
        rows = self._entries.native.occurrences(simplified("\n".join(words)))
        owner = np.searchsorted(first, rows[:, 0], "right") - 1
        is_inner = (rows[:, 0] == first[owner]) != (rows[:, 1] == first[owner + 1] - 1)
        pairs = zip(owner[is_inner].tolist(), rows[is_inner].tolist(), strict=True)
        for k, own in itertools.groupby(pairs, operator.itemgetter(0)):
            sentence, at, units = outer[k]
            ends = itertools.accumulate(map(len, units), initial=int(first[k]))
            unit = {edge: at + t for t, edge in enumerate(ends)}
            found[sentence] += [
                (unit[start], unit[end], entry, True)
                for _, (start, end, entry) in own
                if start in unit and end in unit
            ]
        return found

    @checked
    def columns(self, units: Sequence[str]) -> dict[str, list[str]]:
        """The matches as columns for feature templates.

        `lexicon`: position in the word and its number of units (`B2`, `I3`, `E2`, `S`; `O` outside words);
        `lexicon_tag`: the word's tags (`NN|VV`; `-` if it has none, `O` outside words).
        """
        check_text("".join(units))
        places, tags = ["O"] * len(units), ["O"] * len(units)
        for start, end, entry, _ in self._matches([units], "char", None)[0]:
            places[start:end] = _places(end - start)
            tags[start:end] = ["|".join(self._tags(entry)) or "-"] * (end - start)
        return {"lexicon": places, "lexicon_tag": tags}

    def places_in(self, text: str) -> npt.NDArray[np.int64]:
        """The characters of a text at which an entry occurs, whether it fires or not."""
        return self._entries.native.starts(simplified(text))

    def matched(
        self, sentences: Sequence[Sequence[str]], gaps: Sequence[Sequence[int]], *, level: Level = "char"
    ) -> list[list[ConstrainedWord]]:
        """The words that fire in each sentence; `gaps` are the units before which a word must end."""
        matches = self._matches(sentences, level, gaps)
        inner = self._inner(sentences, matches) if level == "char" else [[] for _ in matches]
        return [
            [
                ConstrainedWord(
                    start,
                    end,
                    self._tags(entry),
                    self._bonus(entry) if is_soft else None,
                    self._is_symbol(entry),
                )
                for start, end, entry, is_soft in (*outer, *inside)
            ]
            for outer, inside in zip(matches, inner, strict=True)
        ]

    def _tags(self, entry: int) -> tuple[str, ...]:
        return tuple(self._entries.native.tags(entry))

    def _bonus(self, entry: int) -> float:
        weight = self._entries.native.weight(entry)
        return self.weight if math.isnan(weight) else weight

    def _is_symbol(self, entry: int) -> bool:
        return not any(map(str.isalnum, self._entries.native.word(entry)))

    def check_tags(self, known: Mapping[str, Sequence[str] | None]) -> None:
        """Reject tags that no standard of a model has (None: a standard without tags, which accepts any)."""
        # All entries, not only those that match: a mistake shows at the first text, not halfway through.
        sets = [with_parts(tags) for tags in known.values() if tags is not None]
        unknown = set(self._entries.native.all_tags()).difference(self._entries.loose_tags, *sets)
        if not unknown or len(sets) < len(known):
            return
        numbers = range(len(self._entries))
        entry = next(number for number in numbers if not unknown.isdisjoint(self._tags(number)))
        tag = next(tag for tag in self._tags(entry) if tag in unknown)
        word, place = self._entries[entry].word, self._entries.place(entry)
        raise StandardError(
            f"{place}: " * bool(place)
            + f"the lexicon's word {shown(word)} has the tag {shown(tag)}, which the model does not know",
            hint="; ".join(f"the tags of {name} are {' '.join(tags or ())}" for name, tags in known.items()),
        )


def _simplified_units(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    joined = "\n".join(itertools.chain.from_iterable(sentences))  # no unit has a line break
    found = simplified(joined)
    if found == joined:
        return [list(units) for units in sentences]
    units = iter(found.split("\n"))
    return [list(itertools.islice(units, len(each))) for each in sentences]


@functools.cache
def _places(count: int) -> tuple[str, ...]:
    if count == 1:
        return ("S",)
    size = f"{MAX_LENGTH_CLASS}+" if count >= MAX_LENGTH_CLASS else str(count)
    return (f"B{size}", *[f"I{size}"] * (count - 2), f"E{size}")

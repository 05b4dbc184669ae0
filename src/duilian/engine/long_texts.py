"""Texts too long to be analysed at once: cut after sentences, and their tables put together again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from duilian import text as texts
from duilian.document.word_table import Names, WordTable

MARGIN = 5_000  # characters after a cut that are looked at; sentences and protected spans are shorter


def pieces(text: str, limit: int) -> Iterator[str]:
    """Cut a text after sentences into pieces of about `limit` characters.

    What follows a sentence closely may belong to it, so each cut looks a little ahead.
    """
    at = 0
    while len(text) - at > limit + MARGIN:
        ends = texts.sentences(text[at : at + limit + MARGIN])[:, 1]
        last = max(int(np.searchsorted(ends, limit, "right")) - 1, 0)
        cut = at + (int(ends[last]) if len(ends) else limit)
        yield text[at:cut]
        at = cut
    yield text[at:]


class LongTable:
    """The table of a long text, which grows piece by piece.

    Columns have room for as many words as there are characters; memory that is not written to costs nothing.
    """

    NAMES = ("tags", "relations", "xpos")

    def __init__(self, characters: int) -> None:
        self._room, self._words = characters, 0
        self._columns: dict[str, Any] = {}
        self._names: dict[str, tuple[str | None, ...]] = {}
        self._marginals: list[Mapping[str, float]] = []
        self._sentences = [np.zeros(1, np.int32)]

    def add(self, part: WordTable, place: int) -> None:
        """Add the words of a piece that begins at this place of the text."""
        if not len(part):
            return
        columns = {"start": part.start + place, "end": part.end + place}
        columns |= {
            name: each for name in ("confidence", "heads") if (each := getattr(part, name)) is not None
        }
        for name in self.NAMES:
            if (each := getattr(part, name)) is not None:
                columns[name], self._names[name] = each.codes, each.names
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = np.empty(self._room, values.dtype)
            self._columns[name][self._words : self._words + len(part)] = values
        self._marginals += part.marginals or ()
        self._sentences.append(part.sentence[1:] + np.int32(self._words))
        self._words += len(part)

    def table(self, like: WordTable) -> WordTable:
        """Return all words, with the columns that a piece has."""
        if not self._words:
            return like
        found: dict[str, Any] = {name: each[: self._words] for name, each in self._columns.items()}
        found |= {name: Names(found[name], self._names[name]) for name in self.NAMES if name in found}
        marginals = None if like.marginals is None else self._marginals
        xpos = found.pop("xpos", None)
        table = WordTable(**found, sentence=np.concatenate(self._sentences), marginals=marginals)
        return table.with_xpos(xpos)

"""All words of a text in one standard as columns, 18 bytes for a word with its tag, confidence and head."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Name = TypeVar("Name", bound=str | None)
PLACES = 4  # decimal places of a confidence
UNKNOWN = -1  # a head that is not known


@functools.cache
def _code_type(names: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type that can number this many names."""
    return np.min_scalar_type(max(names - 1, 0))


class Names(Sequence[Name]):
    """A sequence of few distinct names, such as the tags of a text, stored as numbers and a list of names."""

    __slots__ = ("codes", "names")

    def __init__(self, codes: npt.ArrayLike, names: Iterable[Name]) -> None:
        self.names = tuple(names)
        self.codes = np.asarray(codes, _code_type(len(self.names)))

    @classmethod
    def of(cls, values: Iterable[Name]) -> Names[Name]:
        """Return the same names, stored compactly."""
        if isinstance(values, Names):
            return values
        number: dict[Name, int] = {}
        codes = [number.setdefault(each, len(number)) for each in values]
        return cls(codes, number)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, place: int) -> Name: ...

    @overload
    def __getitem__(self, place: slice) -> Names[Name]: ...

    def __getitem__(self, place: int | slice) -> Name | Names[Name]:
        if not isinstance(place, slice):
            return self.names[int(self.codes[place])]
        found: Names[Name] = Names.__new__(Names)  # must be fast: analysers do this for every text
        found.codes, found.names = self.codes[place], self.names
        return found

    def __iter__(self) -> Iterator[Name]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and self.tolist() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Names.of({self.tolist()})"

    def tolist(self) -> list[Name]:
        """Return the names as a list."""
        return list(self)


@dataclasses.dataclass(init=False, eq=False)
class WordTable:
    """All words of a text in one standard, as columns of equal length. Plain sequences become compact."""

    start: Ints
    end: Ints
    sentence: Ints  # [sentences + 1]  index of the first word of each sentence
    tags: Names[str] | None
    confidence: npt.NDArray[np.floating[Any]] | None  # 32 bits, or as precise as given
    heads: Ints | None  # -1 where unknown
    relations: Names[str | None] | None
    marginals: Sequence[Mapping[str, float]] | None  # of each word with each of its likely tags
    xpos: Names[str | None] | None  # language-specific tags, beside universal ones in `tags`

    def __init__(
        self,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        sentence: npt.ArrayLike,
        tags: Sequence[str] | None = None,
        confidence: npt.NDArray[np.floating[Any]] | Sequence[float] | None = None,
        heads: npt.NDArray[np.integer[Any]] | Sequence[int | None] | None = None,
        relations: Sequence[str | None] | None = None,
        marginals: Sequence[Mapping[str, float]] | None = None,
    ) -> None:
        self.start = np.asarray(start, np.int32)
        self.end = np.asarray(end, np.int32)
        self.sentence = np.asarray(sentence, np.int32)
        self.tags = None if tags is None else Names.of(tags)
        if confidence is not None and not isinstance(confidence, np.ndarray):
            confidence = np.array(confidence, np.float32)
        self.confidence = confidence
        if heads is not None and not isinstance(heads, np.ndarray):
            heads = np.array([UNKNOWN if head is None else head for head in heads], np.int32)
        self.heads = None if heads is None else np.asarray(heads, np.int32)
        self.relations = None if relations is None else Names.of(relations)
        self.marginals = marginals
        self.xpos = None

    @classmethod
    def of_columns(cls, *columns: Any) -> WordTable:
        """Return a table with these columns, which must be complete and already compact."""
        found = cls.__new__(cls)  # must be fast: analysers do this for every text
        found.start, found.end, found.sentence, found.tags, found.confidence = columns[:5]
        found.heads, found.relations, found.marginals, found.xpos = columns[5:]
        return found

    def __len__(self) -> int:
        return len(self.start)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordTable):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self)]
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, words: slice) -> WordTable:
        """Return some of the words as one sentence, without copying the columns."""
        columns = (self.tags, self.confidence, self.heads, self.relations, self.marginals)
        own: list[Any] = [None if column is None else column[words] for column in columns]
        start = self.start[words]
        found = WordTable(start, self.end[words], [0, len(start)], *own)
        return found.with_xpos(None if self.xpos is None else self.xpos[words])

    def part(self, first: int, stop: int) -> WordTable:
        """Return the words of sentences `first` to `stop` (exclusive), without copying the columns."""
        return self.parts([first, stop])[0]

    def parts(self, edges: Sequence[int]) -> list[WordTable]:
        """Cut between sentences: `edges` has the first sentence of each part, and the end of the last."""
        # Analysers call this for every batch, so most work is done for all parts at once, and columns are cut
        # when somebody reads them.
        counts = np.diff(edges) + 1  # an edge belongs to both parts
        number = np.repeat(np.arange(len(counts)), counts)
        words = self.sentence[edges]
        sentence = self.sentence[np.arange(len(number)) - number + edges[0]] - words[number]
        found = []
        places = itertools.pairwise([0, *np.cumsum(counts).tolist()])
        for (a, b), (first, stop) in zip(itertools.pairwise(words.tolist()), places, strict=True):
            part = WordTable.__new__(WordTable)
            part.__dict__["_uncut"], part.sentence = (self, slice(a, b)), sentence[first:stop]
            found.append(part)
        return found

    def __getattr__(self, name: str) -> Any:
        """Cut a column of a part that has not been read before."""
        if name not in WordTable.__dataclass_fields__ or "_uncut" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        table, words = self.__dict__["_uncut"]
        column = getattr(table, name)
        found = None if column is None else column[words]
        setattr(self, name, found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return the columns, without those of other parts."""
        return {name: getattr(self, name) for name in WordTable.__dataclass_fields__}

    def with_trees(
        self, heads: Sequence[int | None] | None, relations: Sequence[str | None] | None
    ) -> WordTable:
        """Return the same words with other trees, or none."""
        own = (self.start, self.end, self.sentence, self.tags, self.confidence)
        return WordTable(*own, heads, relations, self.marginals).with_xpos(self.xpos)

    def with_xpos(self, xpos: Names[str | None] | None) -> WordTable:
        """Return the same words with these specific tags beside the universal ones."""
        if xpos is self.xpos:
            return self
        found = copy.copy(self)
        found.xpos = xpos
        return found

    def words(self, text: str) -> list[str]:
        """Return the words of `text`."""
        return [text[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]

    def heads_or_none(self) -> list[int | None]:
        """Return the heads, None where unknown."""
        assert self.heads is not None
        heads: list[int | None] = self.heads.tolist()
        return [None if head == UNKNOWN else head for head in heads] if UNKNOWN in heads else heads

    def to_dict(self, text: str) -> dict[str, Any]:
        """Return everything as plain lists by name, for JSON."""
        found: dict[str, Any] = {
            "words": self.words(text),
            "spans": list(map(list, zip(self.start.tolist(), self.end.tolist(), strict=True))),
            "sentences": self.sentence.tolist(),
        }
        if self.tags is not None:
            found["tags"] = self.tags.tolist()
        if self.xpos is not None:
            found["xpos"] = self.xpos.tolist()
        if self.confidence is not None:
            found["confidence"] = self.confidence.astype(np.float64).round(PLACES).tolist()
        if self.marginals is not None:
            found["marginals"] = [
                {tag: round(p, PLACES) for tag, p in each.items()} for each in self.marginals
            ]
        if self.heads is not None:
            found["heads"] = self.heads_or_none()
            found["relations"] = [] if self.relations is None else self.relations.tolist()
        return found


def _are_equal(a: Any, b: Any) -> bool:
    is_array = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    return np.array_equal(a, b) if is_array else type(a) is type(b) and bool(a == b)

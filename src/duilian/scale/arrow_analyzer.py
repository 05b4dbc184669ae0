"""One callable for all engines: a batch of rows in, the same rows with their analysis out."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from duilian.arguments import check_fields
from duilian.corpus.batches import batches
from duilian.engine import Analyzer
from duilian.engine.analyzer import BATCH_CHARACTERS
from duilian.engine.word_tables import BatchWords
from duilian.errors import ConfigError, DuilianError, did_you_mean
from duilian.models.roles import Ask
from duilian.scale.arrow import pa
from duilian.scale.model_cache import ModelPlace, place_of
from duilian.scale.text_column import TextColumn
from duilian.scale.word_columns import WordColumn

ERROR = "error"
EVERYTHING = Ask()
NO_ERRORS: Mapping[int, str] = MappingProxyType({})
MAX_CHARACTERS = 100_000_000
MAX_BYTES = 2**31 - 1  # of a text: Arrow's strings have 32-bit offsets
WORKS = "一"  # a text to find out which columns an analysis has


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArrowAnalyzer:
    """Adds the analysis of a column of texts to record batches and tables.

    For each standard of `ask`, the result has a column of that name, a list of words for each text: `start`,
    `end` (in characters), `word`, `tag` and, in the standard with trees, `sentence`, `head`, `relation`. If a
    row cannot be analysed (null, not UTF-8, longer than `max_characters`), its lists are null and the column
    `error` says why.

    `model` and `lexicon` are paths that every worker can read. An object of this class is small and can be
    pickled: a worker loads the model on first use, once per process, and must have exactly the same one.
    `columns` names the columns to keep; the default is all.

    >>> import pyarrow as pa
    >>> analyze = ArrowAnalyzer(ask=Ask(standards=("pku",), trees=False))
    >>> found = analyze(pa.table({"text": ["我们去北京。", None]}))
    >>> found.column_names
    ['text', 'pku', 'error']
    >>> [word["word"] for word in found["pku"][0].as_py()], found["error"].to_pylist()
    (['我们', '去', '北京', '。'], [None, 'the text is null'])
    """

    model: str | None = None
    ask: Ask = EVERYTHING
    text: str = "text"
    columns: tuple[str, ...] | None = None
    lexicon: str | None = None
    lexicon_mode: Literal["force", "prefer"] = "force"
    threads: int = 1
    max_characters: int = MAX_CHARACTERS
    place: ModelPlace = None  # type: ignore[assignment]  # set by __post_init__

    def __post_init__(self) -> None:
        if self.place is None:
            found = place_of(self.model, self.lexicon, self.lexicon_mode)
            object.__setattr__(self, "place", found)
        check_fields(self)
        if self.ask.marginals:
            raise ConfigError("there is no column for marginals", "ask for confidence")

    def __call__(self, batch: Any) -> Any:
        """Return a record batch or table with the same rows, in order, and their analysis."""
        schema = self.schema(batch.schema)
        if not isinstance(batch, pa.RecordBatch):
            parts = [part for own in batch.to_batches() for part in self.parts(own)]
            return pa.Table.from_batches(parts, schema)
        parts = list(self.parts(batch))
        if len(parts) == 1:
            return parts[0]
        whole = pa.Table.from_batches(parts, schema).combine_chunks().to_batches()
        return whole[0] if whole else pa.RecordBatch.from_pylist([], schema)

    def schema(self, given: Any) -> Any:
        """Return the schema of the result for that of the input; unsuitable columns are refused."""
        if self.text not in given.names:
            raise ConfigError(f"there is no column {self.text!r}", did_you_mean(self.text, given.names))
        for name in self._kept(given):
            if name in (*self._word_columns, ERROR):
                hint = "rename it, or leave it out with columns"
                raise ConfigError(f"the input already has a column {name!r}", hint)
        TextColumn(pa.array([], given.field(self.text).type))
        kept = [given.field(name) for name in self._kept(given)]
        return pa.schema([*kept, *self.answer_type])

    @property
    def answer_type(self) -> Any:
        """The type of what `answers` returns: a field for each standard, and `error`."""
        fields = [pa.field(name, column.type) for name, column in self._word_columns.items()]
        return pa.struct([*fields, pa.field(ERROR, pa.string())])

    def answers(self, texts: Any) -> Any:
        """Return the analysis of an array of strings as an array of structs: for functions on columns."""
        if isinstance(texts, pa.ChunkedArray):
            return pa.chunked_array([self.answers(each) for each in texts.chunks], self.answer_type)
        found = [each for _, each in self._answers(TextColumn(texts), NO_ERRORS)]
        return pa.concat_arrays(found) if found else pa.array([], self.answer_type)

    def parts(self, batch: Any, errors: Mapping[int, str] = NO_ERRORS) -> Iterator[Any]:
        """Yield the rows of a record batch with their analysis, in several batches if memory requires it.

        `errors` has rows that the reader already knows to be bad, with the reason.
        """
        schema, texts = self.schema(batch.schema), TextColumn(batch.column(self.text))
        kept = batch.select(self._kept(batch.schema))
        for rows, found in self._answers(texts, errors):
            own = kept.slice(rows.start, rows.stop - rows.start)
            yield pa.RecordBatch.from_arrays([*own.columns, *found.flatten()], schema=schema)

    def _kept(self, schema: Any) -> list[str]:
        if self.columns is None:
            return list(schema.names)
        for name in self.columns:
            if name not in schema.names:
                raise ConfigError(f"there is no column {name!r}", did_you_mean(name, schema.names))
        return list(self.columns)

    @property
    def _analyzer(self) -> Analyzer:
        return self.place.analyzer()

    @functools.cached_property
    def _word_columns(self) -> dict[str, WordColumn]:
        found = self._analyzer.columns([WORKS], ask=self.ask)
        sure = self.ask.confidence
        return {name: WordColumn.like(each.table, with_confidence=sure) for name, each in found.items()}

    def __getstate__(self) -> dict[str, Any]:
        """Return only the settings: everything else is derived from them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _answers(self, texts: TextColumn, errors: Mapping[int, str]) -> Iterator[tuple[slice, Any]]:
        """Yield answers in batches of the size that an analyser prefers."""
        self.answer_type  # noqa: B018  # fail now if model or standard is missing: no row is to blame
        wrong = self._wrong(texts) | dict(errors)
        sizes: list[int] = texts.characters.tolist()

        def size(row: int) -> int:
            return 1 if row in wrong else sizes[row] + 1

        for rows in batches(range(len(texts)), BATCH_CHARACTERS, size):
            chosen = slice(rows[0], rows[-1] + 1)
            yield chosen, self._answers_of(texts, chosen, wrong)

    def _wrong(self, texts: TextColumn) -> dict[int, str]:
        sizes, bytes_of = texts.characters, np.diff(texts.offsets)
        wrong = dict.fromkeys(np.flatnonzero(texts.is_null).tolist(), "the text is null")
        wrong |= dict.fromkeys(np.flatnonzero(sizes < 0).tolist(), "the text is not valid UTF-8")
        for row in np.flatnonzero(bytes_of > MAX_BYTES).tolist():
            wrong[row] = f"the text has {bytes_of[row]} bytes, more than {MAX_BYTES}"
        for row in np.flatnonzero(sizes > self.max_characters).tolist():
            wrong[row] = f"the text has {sizes[row]} characters, more than {self.max_characters}"
        return wrong

    def _answers_of(self, texts: TextColumn, rows: slice, wrong: dict[int, str]) -> Any:
        good = [row for row in range(rows.start, rows.stop) if row not in wrong]
        try:
            own = texts.texts(rows, wrong)
            found = self._analyzer.columns(own, ask=self.ask, threads=self.threads)
        except (DuilianError, ValueError, MemoryError) as error:
            if len(good) == 1:
                wrong[good[0]] = str(error) or "not enough memory"
                return self._answers_of(texts, rows, wrong)
            alone = (slice(row, row + 1) for row in range(rows.start, rows.stop))
            return pa.concat_arrays([self._answers_of(texts, each, wrong) for each in alone])
        counts = np.zeros(rows.stop - rows.start + 1, np.int64)
        places = np.array(good, np.int64) - rows.start + 1
        is_bad = np.ones(rows.stop - rows.start, bool)
        is_bad[places - 1] = False
        arrays = []
        for name, column in self._word_columns.items():
            table, first = found[name]
            counts[places] = np.diff(first)
            arrays.append(column.array(texts, rows, BatchWords(table, np.cumsum(counts)), is_bad))
        said = pa.array([wrong.get(row) for row in range(rows.start, rows.stop)], pa.string())
        return pa.StructArray.from_arrays([*arrays, said], fields=list(self.answer_type))

"""What CoNLL-U and CoNLL-X share: ten tab-separated columns per word, a blank line after each sentence.

Both have id, form, lemma, a coarse tag (upos), a fine tag (xpos), feats, head, relation and two more columns.
A standard's tags are in one of the two tag columns; the other one and all further columns are kept as text.
If they are in both (`upos+xpos`), a tag is a pair: see `standards/paired_tags.py`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from itertools import starmap
from sys import intern

from duilian.corpus.lines import Block, Lines, blocks, shown, unwritable
from duilian.corpus.sentence import Layer, Sentence, Tag
from duilian.corpus.tag_spelling import UNKNOWN_FIELD, format_tags, parse_column
from duilian.corpus.trees import TreeCheck, find_fault
from duilian.errors import ConfigError, CorpusError
from duilian.standards.paired_tags import is_pair, paired, split_pair, universal_names
from duilian.standards.standard import conll_column, tags_in_either_column
from duilian.wording import counted

TAG_COLUMNS = ("upos", "xpos")
BOTH = "upos+xpos"
DEFAULT_STANDARD = "ud"
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.[1-9][0-9]{0,8}")
_SENTENCE_ID = re.compile(r"#\s*sent_id\s*=(.*)")
_UNSAFE = re.compile(r"[\0\t\r\n]")


@dataclasses.dataclass(frozen=True)
class RowFormat:
    """The names of the ten columns; `has_extra_rows` allows multiword tokens and empty nodes."""

    name: str
    columns: tuple[str, ...]
    has_extra_rows: bool

    def kept(self, tag_column: str) -> list[tuple[int, str]]:
        """The index and name of each column that goes into `Layer.columns`."""
        own = {"id", "form", "head", "relation", *tag_column.split("+")}
        return [(place, name) for place, name in enumerate(self.columns) if name not in own]


def tag_column(column: str | None, standard: str | None) -> str:
    """The given column, or else that of the standard."""
    if column is None:
        return conll_column(standard or DEFAULT_STANDARD)
    if column not in (*TAG_COLUMNS, BOTH):
        raise ConfigError(f"there is no tag column {column!r}", f"choose upos, xpos or {BOTH}")
    return column


@dataclasses.dataclass(frozen=True)
class RowReader:
    """Turns blocks of rows into sentences; `column` has the tags and defaults to that of the standard."""

    format: RowFormat
    path: str
    standard: str | None
    column: str | None
    trees: TreeCheck = "any"

    def read(self, lines: Lines) -> Iterator[Sentence]:
        """Yield one sentence per block."""
        for block in blocks(lines):
            yield self._sentence(block)

    def _tag_column(self, upos: tuple[str, ...], xpos: tuple[str, ...]) -> str:
        """If no standard is named, use xpos if only xpos has tags. If the standard allows either column, use
        xpos if some of its tags are there, or if upos has universal tags and none of the standard's.
        """
        if self.column is None and self.standard is None:
            return "xpos" if {*upos} == {UNKNOWN_FIELD} != {*xpos} else "upos"
        own = tags_in_either_column(self.standard or DEFAULT_STANDARD)
        if self.column is not None or not own:
            return tag_column(self.column, self.standard)
        is_fine = not own.isdisjoint(xpos) or (
            own.isdisjoint(upos) and universal_names().issuperset({*upos} - {UNKNOWN_FIELD})
        )
        return "xpos" if is_fine else "upos"

    def _sentence(self, block: Block) -> Sentence:
        comments = self._comments(block)
        rows, extra_rows = self._rows(block[len(comments) :])
        if not rows:
            raise CorpusError(self.path, block[0][0], "this sentence has no words")
        numbers = [number for number, _ in rows]
        # [columns][words]
        table = tuple(zip(*[row for _, row in rows], strict=True))
        column = self._tag_column(table[3], table[4])
        layer = Layer(
            tuple(map(intern, table[1])),
            self._tags(table, column, numbers),
            self._heads(table[6], numbers),
            _relations(table[7]),
            columns={name: tuple(map(intern, table[place])) for place, name in self.format.kept(column)},
            extra_rows=extra_rows,
        )
        return Sentence({self.standard or DEFAULT_STANDARD: layer}, _sentence_id(comments), comments)

    def _tags(
        self, table: tuple[tuple[str, ...], ...], column: str, numbers: list[int]
    ) -> tuple[Tag, ...] | None:
        places = [self.format.columns.index(name) for name in column.split("+")]
        universal, *specific = (parse_column(table[place], numbers, self.path) for place in places)
        if not specific or universal is None or specific[0] is None:
            return universal or (specific[0] if specific else None)
        return tuple(starmap(_pair, zip(universal, specific[0], strict=True)))

    def _comments(self, block: Block) -> tuple[str, ...]:
        count = 0
        while count < len(block) and block[count][1][0] == "#":
            count += 1
        return tuple([line for _, line in block[:count]])

    def _rows(self, block: Block) -> tuple[list[tuple[int, list[str]]], tuple[tuple[int, str], ...]]:
        rows: list[tuple[int, list[str]]] = []
        extra_rows: list[tuple[int, str]] = []
        reach = (0, 0)  # the last word that a multiword token covers, and the line of that token
        for number, line in block:
            row = line.split("\t")
            if len(row) != 10 or "" in row:
                raise self._wrong_width(number, row)
            if row[0] == str(len(rows) + 1):
                rows.append((number, row))
            elif self.format.has_extra_rows and not row[0].isdigit():
                reach = max(reach, (self._extra_row(number, row[0], len(rows)), number))
                extra_rows.append((len(rows), line))
            else:
                raise self._wrong_id(number, row[0], len(rows) + 1)
        if reach[0] > len(rows):
            raise CorpusError(
                self.path,
                reach[1],
                f"a token range ends at word {reach[0]} of a sentence of {counted(len(rows), 'word')}",
            )
        return rows, tuple(extra_rows)

    def _extra_row(self, number: int, id: str, words_before: int) -> int:
        """The last word that this row covers."""
        token, node = _RANGE.fullmatch(id), _EMPTY_NODE.fullmatch(id)
        if token and int(token[1]) == words_before + 1 and int(token[2]) >= int(token[1]):
            return int(token[2])
        if node and int(node[1]) == words_before:
            return words_before
        raise self._wrong_id(number, id, words_before + 1)

    def _wrong_id(self, number: int, found: str, expected: int) -> CorpusError:
        hint = "perhaps a blank line is missing before this sentence" if found == "1" else ""
        return CorpusError(self.path, number, f"expected the id {expected}, found {shown(found)}", hint)

    def _wrong_width(self, number: int, row: list[str]) -> CorpusError:
        if row[0].startswith("#"):
            return CorpusError(self.path, number, "a comment must come before the words of its sentence")
        if len(row) != 10:
            hint = "columns are separated by tabs" if len(row) == 1 else ""
            return CorpusError(self.path, number, f"expected 10 columns, found {len(row)}", hint)
        column = self.format.columns[row.index("")]
        return CorpusError(self.path, number, f"the column {column} is empty", "write _ if it is unknown")

    def _heads(self, texts: tuple[str, ...], numbers: list[int]) -> tuple[int | None, ...] | None:
        heads: list[int | None] = []
        for place, text in enumerate(texts):
            if text == UNKNOWN_FIELD:
                heads.append(None)
                continue
            if not _NUMBER.fullmatch(text):
                raise CorpusError(self.path, numbers[place], f"the head {shown(text)} is not a number")
            heads.append(int(text))
        wrong = find_fault(heads, self.trees)
        if wrong is not None:
            raise CorpusError(self.path, numbers[wrong.word], wrong.message, wrong.hint)
        return None if all(head is None for head in heads) else tuple(heads)


def _pair(universal: Tag, specific: Tag) -> Tag:
    """Both tags as one; if only one is known, that one."""
    if universal is None or specific is None:
        return universal or specific
    several = [{each} if isinstance(each, str) else each for each in (universal, specific)]
    found = frozenset(intern(paired(a, b)) for a in several[0] for b in several[1])
    return next(iter(found)) if len(found) == 1 else found


def _relations(texts: tuple[str, ...]) -> tuple[str | None, ...] | None:
    relations = tuple([None if text == UNKNOWN_FIELD else intern(text) for text in texts])
    return None if all(relation is None for relation in relations) else relations


def _sentence_id(comments: tuple[str, ...]) -> str:
    for comment in comments:
        match = _SENTENCE_ID.fullmatch(comment)
        if match:
            return match[1].strip()
    return ""


def comments_to_write(sentence: Sentence) -> list[str]:
    """The comments, with the sentence's current id."""
    kept = []
    id_line = f"# sent_id = {sentence.id}" if sentence.id else None
    for comment in sentence.comments:
        match = _SENTENCE_ID.fullmatch(comment)
        if match and match[1].strip() == sentence.id:
            id_line = None  # already there, perhaps spelled differently
        if not match or match[1].strip() == sentence.id:
            kept.append(comment)
    kept = [id_line, *kept] if id_line else kept
    for comment in kept:
        if comment[:1] != "#" or re.search(r"[\0\r\n]", comment) or sentence.id != sentence.id.strip():
            raise unwritable("comment", comment, "conllu")
    return kept


def format_rows(layer: Layer, form: RowFormat, column: str | None, standard: str | None) -> list[str]:
    """The rows of one layer. Tags go where they came from; if that is unknown, `column` decides. The parts of
    pairs go to both columns.
    """
    if column is None:
        column = next((other for other in TAG_COLUMNS if other not in layer.columns), None)
        if not any(other in layer.columns for other in TAG_COLUMNS):
            column = tag_column(None, standard)
    assert column is not None
    unknown = (UNKNOWN_FIELD,) * len(layer)
    fields = {name: layer.columns.get(name, unknown) for name in form.columns}
    fields["id"] = tuple([str(place) for place in range(1, len(layer) + 1)])
    fields["form"] = layer.words
    fields |= _tag_fields(layer, column)
    if layer.heads is not None:
        fields["head"] = tuple([UNKNOWN_FIELD if head is None else str(head) for head in layer.heads])
    if layer.relations is not None:
        fields["relation"] = tuple([_format_relation(relation) for relation in layer.relations])
    rows = [_join(row, form) for row in zip(*[fields[name] for name in form.columns], strict=True)]
    for words_before, extra in reversed(layer.extra_rows if form.has_extra_rows else ()):
        rows.insert(words_before, extra)
    return rows


def _tag_fields(layer: Layer, column: str) -> dict[str, tuple[str, ...]]:
    several = [{tag} if isinstance(tag, str) else tag or () for tag in layer.tags or ()]
    if not any(is_pair(name) for each in several for name in each):
        name = TAG_COLUMNS[0] if column == BOTH else column
        return {name: tuple(format_tags(layer.tags, len(layer), UNKNOWN_FIELD))}
    parts = [list(zip(*map(split_pair, sorted(each)), strict=True)) or [(), ()] for each in several]
    columns = zip(*[(_one_or_several(a), _one_or_several(b)) for a, b in parts], strict=True)
    return {
        name: tuple(format_tags(tags, len(layer), UNKNOWN_FIELD))
        for name, tags in zip(TAG_COLUMNS, columns, strict=True)
    }


def _one_or_several(names: tuple[str | None, ...]) -> Tag:
    """One tag if all names are the same, else a set; unknown if any of them is."""
    known = frozenset(name for name in names if name is not None)
    if None in names or not known:
        return None
    return next(iter(known)) if len(known) == 1 else known


def _format_relation(relation: str | None) -> str:
    if relation == UNKNOWN_FIELD:
        raise ConfigError("the relation '_' cannot be written: it would be read as unknown")
    return UNKNOWN_FIELD if relation is None else relation


def _join(row: tuple[str, ...], form: RowFormat) -> str:
    for field in row:
        if not field or _UNSAFE.search(field):
            raise unwritable("field", field, form.name)
    return "\t".join(row)

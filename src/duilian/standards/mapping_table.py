r"""Mappings as text files: each line has a tag of the left standard and its partners on the right.

    standards: ctb pku
    include: ctb-pku.tight
    NN   n vn Ng      # why

`standards:` comes first: names of built-in standards, paths of `.toml` files relative to the table, or `any`
for a standard whose tags are not declared. `include:` adds the pairs of another table, so a looser table
needs only what it adds. `#` at the start of a word begins a comment; `\#` is a literal `#`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from duilian.arguments import checked
from duilian.errors import StandardError
from duilian.standards.standard import Standard, table_file, table_names

FileLine = tuple[str, int]
"""File and line."""

ANY = "any"
TABLE_KINDS = ("strict", "tight", "relaxed")  # of the built-in tables


@dataclasses.dataclass(frozen=True)
class MappingTable:
    """The pairs of a table and the place of each; a standard is None where the table says `any`."""

    path: str
    left: Standard | None
    right: Standard | None
    pairs: dict[tuple[str, str], FileLine]

    @classmethod
    @checked
    def load(cls, name: str | Path) -> MappingTable:
        """Load a built-in table by name, in either direction, or your own by the path of its `.txt` file."""
        if isinstance(name, Path) or name.endswith(".txt"):
            return _TableReader(Path(name)).read()
        if name in table_names():
            return _TableReader(name).read()
        if _reversed(name) in table_names():
            return _TableReader(_reversed(name)).read().transposed()
        raise StandardError(
            f"there is no mapping table {name!r}",
            f"choose {', '.join(table_names())}, or give the path of your own .txt file",
        )

    def transposed(self) -> MappingTable:
        """The same table read from right to left."""
        pairs = {(b, a): place for (a, b), place in self.pairs.items()}
        return MappingTable(self.path, self.right, self.left, pairs)


def _reversed(name: str) -> str:
    standards, dot, kind = name.partition(".")
    left, dash, right = standards.partition("-")
    return f"{right}{dash}{left}{dot}{kind}"


class _TableReader:
    """Reads one file; errors name the line."""

    def __init__(self, source: str | Path, including: tuple[str, ...] = ()) -> None:
        self.folder = source.parent if isinstance(source, Path) else None
        self.path = str(source) if isinstance(source, Path) else f"{source}.txt"
        self.including = (*including, self.path)
        self.line = 0
        self.names: list[str] = []
        self.left: Standard | None = None
        self.right: Standard | None = None
        self.pairs: dict[tuple[str, str], FileLine] = {}

    def read(self) -> MappingTable:
        own_lines: dict[str, int] = {}
        for fields in self._rows():
            if fields[0] == "standards:":
                self._take_standards(fields[1:])
            elif not self.names:
                self._fail("the table must begin with 'standards:' and two names")
            elif fields[0] == "include:":
                self._take_include(fields[1:])
            else:
                self._take_row(fields[0], fields[1:], own_lines)
        if not self.pairs:
            self._fail("the table has no pairs")
        return MappingTable(self.path, self.left, self.right, self.pairs)

    def _rows(self) -> Iterator[list[str]]:
        for row in self._text().split("\n"):
            self.line += 1
            fields = []
            for word in row.split():
                if word.startswith("#"):
                    break
                fields.append(word[1:] if word.startswith("\\#") else word)
            if fields:
                yield fields

    def _text(self) -> str:
        try:
            if self.folder is None:
                return table_file(self.path).read_text(encoding="utf-8")
            return Path(self.path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise StandardError(f"{self.path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise StandardError(f"{self.path}: this is not UTF-8 (byte {error.start})") from None

    def _take_standards(self, names: list[str]) -> None:
        if self.names:
            self._fail("'standards:' appears a second time")
        if len(names) != 2:
            self._fail(f"'standards:' needs two names, got {len(names)}")
        self.names = names
        self.left, self.right = (self._standard(name) for name in names)

    def _standard(self, name: str) -> Standard | None:
        if name == ANY:
            return None
        try:
            return Standard.load(self.folder / name if self.folder and name.endswith(".toml") else name)
        except StandardError as error:
            self._fail(error.message, error.hint)

    def _take_include(self, names: list[str]) -> None:
        if len(names) != 1:
            self._fail(f"'include:' needs one table, got {len(names)}")
        source = self.folder / names[0] if self.folder and names[0].endswith(".txt") else names[0]
        if isinstance(source, str) and source not in table_names():
            self._fail(f"there is no mapping table {source!r} to include")
        inner = _TableReader(source, self.including)
        if inner.path in self.including:
            self._fail(f"{inner.path} includes itself")
        table = inner.read()
        if inner.names != self.names:
            hint = f"write `standards: {' '.join(inner.names)}`; sides of other names may use it"
            message = f"{inner.path} maps {' to '.join(inner.names)}, not {' to '.join(self.names)}"
            self._fail(message, hint if ANY in self.names else "")
        for pair in table.pairs:
            self._add(pair, table.pairs[pair])

    def _take_row(self, tag: str, partners: list[str], own_lines: dict[str, int]) -> None:
        if tag in own_lines:
            self._fail(f"tag {tag!r} already has line {own_lines[tag]}")
        own_lines[tag] = self.line
        if not partners:
            self._fail(f"tag {tag!r} is mapped to nothing")
        self._check_tag(tag, self.left)
        for partner in partners:
            self._check_tag(partner, self.right)
            self._add((tag, partner), (self.path, self.line))

    def _check_tag(self, tag: str, standard: Standard | None) -> None:
        if standard is not None and tag not in standard:
            self._fail(f"standard {standard.name!r} has no tag {tag!r}")

    def _add(self, pair: tuple[str, str], place: FileLine) -> None:
        if pair in self.pairs:
            path, line = self.pairs[pair]
            self._fail(f"tag {pair[0]!r} is already mapped to {pair[1]!r}: {path}:{line}")
        self.pairs[pair] = place

    def _fail(self, message: str, hint: str = "") -> NoReturn:
        raise StandardError(f"{self.path}:{self.line}: {message}", hint)

"""The formats by name: how each is read, written and recognised."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from duilian.corpus.files import display_name, peek, read_lines
from duilian.corpus.formats import columns, conllu, conllx, jsonlines, rows, segmented, slash, underscore
from duilian.corpus.lines import Lines
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import Trees
from duilian.errors import ConfigError, CorpusError

CUTS = ("line", "sentence")
SAMPLE_LINES = 40
TEXT = "text"  # the name of plain text, which is no corpus: a line is a line


@dataclasses.dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """What a format may want to know besides the lines. Each format looks only at its own."""

    standard: str | None = None
    column: str | None = None  # of the tags: upos or xpos
    names: tuple[str, ...] | None = None  # of all columns, for the format columns
    trees: Trees = "any"  # what is asked of heads
    may_lack_tags: bool = False  # whether a word alone, in slash or underscore, is one of unknown tag


@dataclasses.dataclass(frozen=True)
class Format:
    """One format. `write` is None if it can only be read; `is_by_line` if a line is a sentence or more."""

    name: str
    standard: str
    read: Callable[[Lines, str, FormatOptions], Iterator[Sentence]]
    write: Callable[[Iterable[Sentence], FormatOptions], Iterator[str]] | None
    extensions: tuple[str, ...] = ()
    is_by_line: bool = False
    # What the first line decides for the whole file, malformed parts and all.
    settle: Callable[[FormatOptions, str], FormatOptions] = lambda options, first_line: options

    def standard_of(self, options: FormatOptions) -> str:
        """The standard asked for, or the one this format is best known for."""
        return self.standard if options.standard is None else options.standard


def _by_line(
    name: str,
    standard: str,
    read: Callable[..., Iterator[Sentence]],
    write: Callable[..., Iterator[str]],
    extensions: tuple[str, ...],
) -> Format:
    def read_tagged(lines: Lines, path: str, options: FormatOptions) -> Iterator[Sentence]:
        name = options.standard or standard
        return read(lines, path=path, standard=name, may_lack_tags=options.may_lack_tags)

    return Format(
        name,
        standard,
        read_tagged,
        lambda sentences, options: write(sentences, standard=options.standard),
        extensions,
        is_by_line=True,
    )


def _by_row(
    name: str,
    read: Callable[..., Iterator[Sentence]],
    write: Callable[..., Iterator[str]],
    extensions: tuple[str, ...],
) -> Format:
    return Format(
        name,
        rows.UNNAMED,
        lambda lines, path, options: read(
            lines,
            path=path,
            standard=options.standard,
            column=options.column,
            trees=options.trees,
        ),
        lambda sentences, options: write(sentences, standard=options.standard, column=options.column),
        extensions,
    )


def _settle_columns(options: FormatOptions, first_line: str) -> FormatOptions:
    names = options.names or columns.usual_names(first_line)
    return options if names is None else dataclasses.replace(options, names=tuple(names))


def _read_brackets(lines: Lines, path: str, options: FormatOptions) -> Iterator[Sentence]:
    from duilian.corpus.formats.brackets import read_brackets

    return read_brackets(lines, path=path, standard=options.standard or "ctb")


_ALL = (
    _by_line("slash", "pku", slash.read_slash, slash.write_slash, ()),
    _by_line(
        "underscore", "ctb", underscore.read_underscore, underscore.write_underscore, (".wordpos", ".pos")
    ),
    _by_line("segmented", "words", segmented.read_segmented, segmented.write_segmented, (".seg",)),
    _by_row("conllu", conllu.read_conllu, conllu.write_conllu, (".conllu",)),
    _by_row("conllx", conllx.read_conllx, conllx.write_conllx, (".conllx",)),
    Format(
        "columns",
        "chunk",
        lambda lines, path, options: columns.read_columns(
            lines, path=path, standard=options.standard or "chunk", names=options.names
        ),
        lambda sentences, options: columns.write_columns(
            sentences, standard=options.standard, names=options.names
        ),
        settle=_settle_columns,
    ),
    Format(
        "jsonl",
        "",
        lambda lines, path, options: jsonlines.read_jsonlines(
            lines, path=path, standard=options.standard, trees=options.trees
        ),
        lambda sentences, options: jsonlines.write_jsonlines(sentences, standard=options.standard),
        (".jsonl",),
    ),
    Format("ctb-brackets", "ctb", _read_brackets, None, (".fid", ".mrg", ".bracketed")),
)
FORMATS = {form.name: form for form in _ALL}
"""All formats by name."""


def find_format(name: str) -> Format:
    """The format of this name."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"unknown format {name!r}", f"choose one of: {', '.join(FORMATS)}") from None


def guess_format(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> str:
    """The name of the format, by the file's extension or else by its first lines."""
    by_name = guess_by_name(path)
    if by_name is not None:
        return by_name
    lines, _ = peek(read_lines(path, encoding=encoding), SAMPLE_LINES)
    if not lines:
        raise CorpusError(display_name(path), 1, "the file is empty")
    return guess_by_content(lines, display_name(path))


def guess_by_name(path: str | os.PathLike[str]) -> str | None:
    """The format that the extension stands for, .gz aside."""
    suffix = Path(os.fspath(path).removesuffix(".gz")).suffix.lower()
    return next((form.name for form in _ALL if suffix and suffix in form.extensions), None)


def guess_by_content(lines: list[str], path: str) -> str:
    """The format that these lines, none of them blank, look like."""
    lines = lines[:SAMPLE_LINES]
    rows = [line for line in lines if line[0] != "#" or line.count("\t") == 9]
    if lines and lines[0].lstrip()[0] == "{" and '"layers"' in lines[0]:
        return "jsonl"
    if rows and all(line.count("\t") == 9 for line in rows):
        is_conllu = len(rows) < len(lines) or any(
            "SpaceAfter=" in row or re.match(r"\d+[-.]", row) for row in rows
        )
        return "conllu" if is_conllu else "conllx"
    return _guess_text(lines, path)


def _guess_text(lines: list[str], path: str) -> str:
    text = [line.strip() for line in lines if not re.match(r"\s*<[/!?A-Za-z]", line)]
    if text and text[0][0] == "(" and re.match(r"\(\s*\(?\s*[\w-]*", text[0]) and not _share(text[:1], "/"):
        return "ctb-brackets"
    if _share(text, "/") > 0.9:
        return "slash"
    if _share(text, "_") > 0.9:
        return "underscore"
    widths = {len(line.split()) for line in text}
    if len(text) > 1 and len(widths) == 1 and widths <= {2, 3}:
        return "columns"
    if any(re.search(r"\S[ \u3000]+\S", line) for line in text):
        return "segmented"
    raise CorpusError(path, 1, "cannot tell the format of this file", f"name it: {', '.join(FORMATS)}")


def _share(lines: list[str], sign: str) -> float:
    """How many of the tokens have this sign inside, from 0 to 1."""
    tokens = [token for line in lines for token in line.split()]
    return sum(sign in token[1:-1] for token in tokens) / max(1, len(tokens))

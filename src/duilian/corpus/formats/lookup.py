"""The corpus formats by name: how each is read, written and recognised.

Other packages add formats with `register_format`, or by the entry-point group `duilian.formats`; entry points
are looked up when a name or an extension is unknown.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from duilian.corpus.files import display_name, peek, read_lines
from duilian.corpus.formats import columns, conllu, conllx, jsonlines, rows
from duilian.corpus.formats.segmented import read_segmented, write_segmented
from duilian.corpus.formats.slash import read_slash, write_slash
from duilian.corpus.formats.underscore import read_underscore, write_underscore
from duilian.corpus.lines import Lines
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck
from duilian.errors import ConfigError, CorpusError, UnknownFormatError, did_you_mean
from duilian.lazy import plugins

CUTS = ("line", "sentence")
SAMPLE_LINES = 40
TEXT = "text"  # the name for plain text, which is not a corpus format
ENTRY_POINTS = "duilian.formats"
_TELLS_NOTHING = ("", ".txt")  # extensions that any format may have


@dataclasses.dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """Options for readers and writers; each format uses only those that apply to it."""

    standard: str | None = None
    column: str | None = None  # of the tags: upos, xpos or upos+xpos
    names: tuple[str, ...] | None = None  # of all columns, for the format columns
    trees: TreeCheck = "any"
    may_lack_tags: bool = False  # whether slash and underscore accept words without a tag


@dataclasses.dataclass(frozen=True)
class Format:
    """A corpus format; `write` is None if it can only be read.

    `recognises` tells from the first non-blank lines whether a file is in this format. `is_by_line` says that
    every line holds one or more whole sentences. `settle` fixes options for a file from its first line.
    """

    name: str
    standard: str
    read: Callable[[Lines, str, FormatOptions], Iterator[Sentence]]
    write: Callable[[Iterable[Sentence], FormatOptions], Iterator[str]] | None = None
    extensions: tuple[str, ...] = ()
    is_by_line: bool = False
    settle: Callable[[FormatOptions, str], FormatOptions] = lambda options, first_line: options
    recognises: Callable[[list[str]], bool] = lambda lines: False

    def standard_of(self, options: FormatOptions) -> str:
        """Return the requested standard, or the usual one of this format."""
        return self.standard if options.standard is None else options.standard


def _by_line(
    name: str,
    standard: str,
    read: Callable[..., Iterator[Sentence]],
    write: Callable[..., Iterator[str]],
    extensions: tuple[str, ...],
    recognises: Callable[[list[str]], bool],
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
        recognises=recognises,
    )


def _by_row(
    name: str,
    read: Callable[..., Iterator[Sentence]],
    write: Callable[..., Iterator[str]],
    recognises: Callable[[list[str]], bool],
) -> Format:
    return Format(
        name,
        rows.DEFAULT_STANDARD,
        lambda lines, path, options: read(
            lines, path=path, standard=options.standard, column=options.column, trees=options.trees
        ),
        lambda sentences, options: write(sentences, standard=options.standard, column=options.column),
        (f".{name}",),
        recognises=recognises,
    )


def _settle_columns(options: FormatOptions, first_line: str) -> FormatOptions:
    names = options.names or columns.default_names(first_line)
    return options if names is None else dataclasses.replace(options, names=tuple(names))


def _read_brackets(lines: Lines, path: str, options: FormatOptions) -> Iterator[Sentence]:
    from duilian.corpus.formats.brackets import read_brackets

    return read_brackets(lines, path=path, standard=options.standard or "ctb")


def _of_tool(
    name: str,
    recognises: Callable[[list[str]], bool] = lambda lines: False,
    extensions: tuple[str, ...] = (),
    *,
    is_by_line: bool = False,
) -> Format:
    """The export of an annotation tool; its module is imported when it is read."""
    module = name.replace("-", "_")

    def read(lines: Lines, path: str, options: FormatOptions) -> Iterator[Sentence]:
        found = importlib.import_module(f"duilian.corpus.formats.{module}")
        standard = options.standard or rows.DEFAULT_STANDARD
        sentences: Iterator[Sentence] = getattr(found, f"read_{module}")(
            lines, path=path, standard=standard, trees=options.trees
        )
        return sentences

    return Format(
        name,
        rows.DEFAULT_STANDARD,
        read,
        extensions=extensions,
        is_by_line=is_by_line,
        recognises=recognises,
    )


def _looks_like_tasks(lines: list[str]) -> bool:
    """Whether it is a list of objects, as Label Studio exports it."""
    return re.match(r'\[\s*\{\s*"', "".join(line.strip() for line in lines)) is not None


def _looks_like_doccano(lines: list[str]) -> bool:
    first = lines[0].lstrip()
    return first[:1] == "{" and '"text"' in first and ('"label"' in first or '"entities"' in first)


def _text_lines(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if not re.match(r"\s*<[/!?A-Za-z]", line)]


def _share(lines: list[str], sign: str) -> float:
    """The share of tokens with this sign inside, from 0 to 1."""
    tokens = [token for line in lines for token in line.split()]
    return sum(sign in token[1:-1] for token in tokens) / max(1, len(tokens))


def _has_tags(sign: str) -> Callable[[list[str]], bool]:
    return lambda lines: _share(_text_lines(lines), sign) > 0.9


def _looks_segmented(lines: list[str]) -> bool:
    return any(re.search(r"\S[ \u3000]+\S", line) for line in _text_lines(lines))


def _looks_like_columns(lines: list[str]) -> bool:
    text = _text_lines(lines)
    widths = {len(line.split()) for line in text}
    return len(text) > 1 and len(widths) == 1 and widths <= {2, 3}


def _looks_bracketed(lines: list[str]) -> bool:
    first = _text_lines(lines)[:1]
    return bool(first) and first[0][0] == "(" and not _share(first, "/")


def _rows(lines: list[str]) -> list[str]:
    return [line for line in lines if line[0] != "#" or line.count("\t") == 9]


def _looks_like_conll(lines: list[str]) -> bool:
    rows = _rows(lines)
    return bool(rows) and all(line.count("\t") == 9 for line in rows)


def _looks_like_conllu(lines: list[str]) -> bool:
    rows = _rows(lines)
    is_typical = any("SpaceAfter=" in row or re.match(r"\d+[-.]", row) for row in rows)
    return _looks_like_conll(lines) and (len(rows) < len(lines) or is_typical)


FORMATS: dict[str, Format] = {}
"""All formats by name, the least strict first: a file's content is tried from the last to the first."""


def register_format(form: Format) -> Format:
    """Register a format by its name, its extensions (such as `.toy`) and its content."""
    if form.name in ("", TEXT, *FORMATS):
        raise ConfigError(f"the format name {form.name!r} is empty or taken")
    for extension in form.extensions:
        if (other := _format_with(extension)) is not None:
            raise ConfigError(f"the extension {extension!r} belongs to the format {other!r}")
    FORMATS[form.name] = form
    return form


def _format_with(extension: str) -> str | None:
    return next((form.name for form in FORMATS.values() if extension in form.extensions), None)


for _form in (
    _by_line("segmented", "words", read_segmented, write_segmented, (".seg",), _looks_segmented),
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
        recognises=_looks_like_columns,
    ),
    _by_line("underscore", "ctb", read_underscore, write_underscore, (".wordpos", ".pos"), _has_tags("_")),
    _by_line("slash", "pku", read_slash, write_slash, (), _has_tags("/")),
    Format(
        "ctb-brackets",
        "ctb",
        _read_brackets,
        extensions=(".fid", ".mrg", ".bracketed"),
        recognises=_looks_bracketed,
    ),
    _by_row("conllx", conllx.read_conllx, conllx.write_conllx, _looks_like_conll),
    _by_row("conllu", conllu.read_conllu, conllu.write_conllu, _looks_like_conllu),
    Format(
        "jsonl",
        "",
        lambda lines, path, options: jsonlines.read_jsonlines(
            lines, path=path, standard=options.standard, trees=options.trees
        ),
        lambda sentences, options: jsonlines.write_jsonlines(sentences, standard=options.standard),
        (".jsonl",),
        recognises=lambda lines: lines[0].lstrip()[0] == "{" and '"layers"' in lines[0],
    ),
    _of_tool("label-studio", _looks_like_tasks),
    _of_tool("doccano", _looks_like_doccano, is_by_line=True),
    _of_tool("brat", extensions=(".ann",)),
):
    register_format(_form)


def find_format(name: str) -> Format:
    """Return the format of this name."""
    if name not in FORMATS:
        _register_plugins()
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"unknown format {name!r}", did_you_mean(name, FORMATS)) from None


def _register_plugins() -> None:
    for form in plugins(ENTRY_POINTS, Format):
        if form.name not in FORMATS:
            register_format(form)


def guess_format(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> str:
    """Return the name of a file's format, judging by its extension or else by its first lines."""
    by_name = guess_by_name(path)
    if by_name is not None:
        return by_name
    lines, _ = peek(read_lines(path, encoding=encoding), SAMPLE_LINES)
    if not lines:
        raise CorpusError(display_name(path), 1, "the file is empty")
    return guess_by_content(lines, display_name(path))


def guess_by_name(path: str | os.PathLike[str]) -> str | None:
    """Return the format that the file's extension stands for; `.gz` does not count."""
    suffix = Path(os.fspath(path).removesuffix(".gz")).suffix.lower()
    found = _format_with(suffix)
    if found is None and suffix not in _TELLS_NOTHING:
        _register_plugins()
        found = _format_with(suffix)
    return found


def guess_by_content(lines: list[str], path: str) -> str:
    """Return the format that these lines, none of them blank, look like."""
    sample = lines[:SAMPLE_LINES]
    for form in reversed(FORMATS.values()):
        if sample and form.recognises(sample):
            return form.name
    raise UnknownFormatError(path, 1, f"name it: {', '.join(FORMATS)}")

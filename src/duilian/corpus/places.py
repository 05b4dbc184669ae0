"""Sentences together with their lines in the file, so that errors can name the place."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence

from duilian.corpus.files import display_name, peek, read_lines
from duilian.corpus.formats.lookup import (
    SAMPLE_LINES,
    Format,
    FormatOptions,
    find_format,
    guess_by_content,
    guess_by_name,
)
from duilian.corpus.lines import Lines
from duilian.corpus.sentence import Sentence
from duilian.corpus.storage import ReadReport, resuming
from duilian.errors import CorpusError
from duilian.text import Errors

ROW_FORMATS = ("conllu", "conllx")


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence of a file, and the lines of its words: one for each word, or one for all."""

    sentence: Sentence
    path: str = ""
    lines: tuple[int, ...] = (1,)

    def line_of(self, word: int) -> int:
        """The line of a word."""
        return self.lines[word] if word < len(self.lines) else self.lines[-1]


def read_placed(
    path: str | os.PathLike[str],
    options: FormatOptions,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    errors: Errors = "strict",
    report: ReadReport | None = None,
) -> tuple[Format, Iterator[PlacedSentence]]:
    """The format of an annotated file, and an iterator over its sentences.

    With a report, malformed lines or sentences are skipped and counted there.
    """
    skip = None if report is None else report.skip
    lines = read_lines(path, encoding=encoding, errors=errors, skip=skip)
    name = format or guess_by_name(path)
    first, lines = peek(lines, 1 if name else SAMPLE_LINES)
    if not first:
        raise CorpusError(display_name(path), 1, "the file is empty")
    form = find_format(name or guess_by_content(first, display_name(path)))
    return form, _placed(lines, form, form.settle(options, first[0]), display_name(path), report)


def _placed(
    lines: Iterator[tuple[int, str]],
    form: Format,
    options: FormatOptions,
    path: str,
    report: ReadReport | None,
) -> Iterator[PlacedSentence]:
    taken: list[tuple[int, str]] = []  # lines that the reader consumed since the last sentence

    def watched() -> Iterator[tuple[int, str]]:
        for number, line in lines:
            if line and not line.isspace():
                taken.append((number, line))
            yield number, line

    def read_on(rest: Lines) -> Iterator[Sentence]:
        taken.clear()  # drop what was skipped
        return form.read(rest, path, options)

    for sentence in read_on(watched()) if report is None else resuming(read_on, watched(), report, form):
        yield PlacedSentence(sentence, path, word_lines(taken, form))
        del taken[: None if _has_rows(form) else -1]  # a line of another form may have several sentences


def _has_rows(form: Format) -> bool:
    return form.name in (*ROW_FORMATS, "columns")


def word_lines(taken: Sequence[tuple[int, str]], form: Format) -> tuple[int, ...]:
    """The lines of the words of a sentence for which these lines, none of them blank, were read."""
    if form.name in ROW_FORMATS:
        return tuple(number for number, line in taken if line.partition("\t")[0].isdigit())
    if form.name == "columns":
        return tuple(number for number, _ in taken)
    return (taken[-1][0],)

"""Reading and writing whole corpora: combines files, formats and leniency."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from duilian.arguments import checked
from duilian.corpus.corpus import Corpus
from duilian.corpus.cut import cut_sentences
from duilian.corpus.files import DamagedFileError, display_name, peek, read_lines
from duilian.corpus.formats.lookup import (
    CUTS,
    FORMATS,
    SAMPLE_LINES,
    Format,
    FormatOptions,
    find_format,
    guess_by_content,
    guess_by_name,
)
from duilian.corpus.lines import Lines, sentences_only
from duilian.corpus.output_files import open_writer, refuse_input
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck
from duilian.errors import ConfigError, CorpusError
from duilian.wording import counted

if TYPE_CHECKING:
    from duilian.corpus.declared import ForeignTags

PathLike = str | os.PathLike[str]
LINE, SENTENCE = "line", "sentence"  # what a lenient read skips
_log = logging.getLogger(__name__)


class ReadReport:
    """What reading found apart from sentences: the format, what was skipped, and what looks wrong."""

    MESSAGES_KEPT = 5

    def __init__(self) -> None:
        self.format = ""
        self.foreign_tags: ForeignTags | None = None  # those that the declared standard does not have
        self.counts: Counter[str] = Counter()  # malformed lines and sentences, by these words
        self.problems: list[str] = []  # the first few messages about them

    @property
    def skipped(self) -> int:
        """The number of malformed lines and sentences."""
        return self.counts.total()

    def skip(self, problem: CorpusError, what: str = LINE) -> None:
        """Count a malformed line or sentence, and keep the problem if it is one of the first."""
        self.counts[what] += 1
        if len(self.problems) < self.MESSAGES_KEPT:
            self.problems.append(problem.message)

    @property
    def warnings(self) -> list[str]:
        """What the user should know, one line each."""
        skipped = [skipped_line(self.counts, self.problems)] if self.skipped else []
        return skipped + ([] if self.foreign_tags is None else self.foreign_tags.warnings)


def skipped_line(counts: Mapping[str, int], problems: Sequence[str]) -> str:
    """What a lenient read skipped, in one line."""
    skipped = " and ".join(counted(count, what) for what, count in counts.items())
    return f"skipped {skipped}; first: {problems[0]}"


@checked
def read(
    path: PathLike,
    *,
    standard: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    lenient: bool = False,
    cut: str = "line",
    column: str | None = None,
    names: Sequence[str] | None = None,
    empty_ok: bool = False,
    trees: TreeCheck = "any",
    check_tags: bool = True,
) -> Corpus:
    """Read a corpus from a file (`-` is standard input).

    >>> from duilian import demo
    >>> corpus = read(Path(demo.__file__).with_name("pku.txt"), standard="pku")
    >>> corpus.standard, corpus[0]["pku"].tags[:2]
    ('pku', ('t', 't'))

    `standard` names the annotation; the format is guessed unless given. `lenient` skips and counts malformed
    lines, or sentences of several lines, instead of raising an error. `cut="sentence"` cuts lines after
    。！？. `column` (upos, xpos, upos+xpos) has the tags of CoNLL files; `names` are for the format columns.
    `trees="partial"` rejects a second root, `trees="whole"` also a missing head. `check_tags` logs tags that
    a built-in standard does not have.
    """
    report = ReadReport()
    sentences = tuple(
        read_sentences(
            path,
            standard=standard,
            format=format,
            encoding=encoding,
            lenient=lenient,
            cut=cut,
            column=column,
            names=names,
            empty_ok=empty_ok,
            trees=trees,
            check_tags=check_tags,
            report=report,
        )
    )
    if standard is None:
        standard = next((name for sentence in sentences for name in sentence), "")
    return Corpus(
        sentences,
        standard=standard,
        source=display_name(path),
        format=report.format,
        skipped=report.skipped,
        problems=report.problems,
    )


@checked
def read_sentences(
    path: PathLike,
    *,
    standard: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
    lenient: bool = False,
    cut: str = "line",
    column: str | None = None,
    names: Sequence[str] | None = None,
    empty_ok: bool = False,
    trees: TreeCheck = "any",
    check_tags: bool = True,
    report: ReadReport | None = None,
) -> Iterator[Sentence]:
    """Like `read`, but yield one sentence at a time; `report` records what a lenient read skips.

    >>> from duilian import demo
    >>> path = Path(demo.__file__).with_name("pku.txt")
    >>> sum(len(sentence["pku"]) for sentence in read_sentences(path, standard="pku"))
    2559
    """
    if cut not in CUTS:
        raise ConfigError(f"unknown cut {cut!r}", f"choose one of: {', '.join(CUTS)}")
    report = ReadReport() if report is None else report
    report.foreign_tags = _foreign_tags(standard) if check_tags and standard is not None else None
    options = FormatOptions(
        standard=standard, column=column, names=None if names is None else tuple(names), trees=trees
    )
    form = None if format is None else find_format(format)
    lines = read_lines(path, encoding=encoding, skip=report.skip if lenient else None)
    return _FileReader(path, form, options, cut, empty_ok, lenient, report).sentences(lines)


def _foreign_tags(standard: str) -> ForeignTags:
    from duilian.corpus.declared import ForeignTags  # not needed to tag

    return ForeignTags(standard)


@dataclasses.dataclass(frozen=True)
class _FileReader:
    path: PathLike
    form: Format | None
    options: FormatOptions
    cut: str
    empty_ok: bool
    lenient: bool
    report: ReadReport

    def sentences(self, lines: Iterator[tuple[int, str]]) -> Iterator[Sentence]:
        name = display_name(self.path)
        named = self.form.name if self.form else guess_by_name(self.path)
        sample, lines = peek(lines, 1 if named else SAMPLE_LINES)
        if not sample:
            if self.empty_ok:
                return
            raise CorpusError(name, 1, "the file is empty", "a corpus needs at least one sentence")
        form = find_format(named or guess_by_content(sample, name))
        options = form.settle(self.options, sample[0])
        self.report.format = form.name
        is_empty = True
        for sentence in self._cut(self._parsed(lines, form, options), form):
            is_empty = False
            yield sentence
        if is_empty and not self.empty_ok:
            hint = f"the first problem is: {self.report.problems[0]}" if self.report.problems else ""
            raise CorpusError(name, 1, f"the file has no sentence in the format {form.name}", hint)
        for warning in self.report.warnings:
            _log.warning("%s", warning)

    def _parsed(
        self, lines: Iterator[tuple[int, str]], form: Format, options: FormatOptions
    ) -> Iterator[Sentence]:
        def read_on(rest: Lines) -> Iterator[Sentence]:
            return form.read(rest, display_name(self.path), options)

        foreign = self.report.foreign_tags
        if foreign is None or not foreign.is_known:
            return resuming(read_on, lines, self.report, form) if self.lenient else read_on(lines)
        taken: list[tuple[int, str]] = []
        kept = _keeping(lines, taken)
        found = resuming(read_on, kept, self.report, form) if self.lenient else read_on(kept)
        return self._watched(found, taken, form, foreign)

    def _watched(
        self, sentences: Iterator[Sentence], taken: list[tuple[int, str]], form: Format, foreign: ForeignTags
    ) -> Iterator[Sentence]:
        for sentence in sentences:
            layer = sentence.layers.get(foreign.standard)
            if layer is not None:
                foreign.add(layer, partial(self._place, taken, form, len(layer)))
            del taken[:-1]  # a line may have several sentences
            yield sentence

    def _place(self, taken: list[tuple[int, str]], form: Format, count: int, word: int) -> str:
        """Where a word is. Its sentence of `count` words was read last, perhaps after malformed lines."""
        from duilian.corpus.places import word_lines  # rarely needed

        lines = word_lines([each for each in taken if each[1].strip()], form)
        return f"{display_name(self.path)}:{lines[max(word - count, -len(lines))]}"

    def _cut(self, sentences: Iterator[Sentence], form: Format) -> Iterator[Sentence]:
        if self.cut == "line":
            return sentences
        if not form.is_by_line:
            raise ConfigError(f"the format {form.name} marks sentences itself", "leave cut at line")
        return cut_sentences(sentences, form.standard_of(self.options))


def resuming(
    read_on: Callable[[Lines], Iterator[Sentence]],
    lines: Iterator[tuple[int, str]],
    report: ReadReport,
    form: Format,
) -> Iterator[Sentence]:
    """Resume after every malformed line, or sentence if they have several (see `lines`: the reader has
    consumed it when it raises).
    """
    rest = _RemainingLines(lines)
    while not rest.is_over:
        try:
            yield from read_on(rest)
        except DamagedFileError:
            raise
        except CorpusError as problem:
            report.skip(problem, LINE if form.is_by_line else SENTENCE)


def _keeping(lines: Iterator[tuple[int, str]], taken: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for line in lines:
        taken.append(line)
        yield line


class _RemainingLines:
    """The lines not read yet, shared by successive readers."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.is_over = False

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        try:
            return next(self._lines)
        except StopIteration:
            self.is_over = True
            raise


@checked
def write(
    sentences: Iterable[Sentence],
    path: PathLike,
    *,
    format: str | None = None,
    standard: str | None = None,
    encoding: str = "utf-8",
    column: str | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write a corpus, or any iterable of sentences, to a file: completely or not at all.

    The format defaults to that of the file's extension. If there are several layers, the named standard or
    the first one is written; jsonl has them all.

    >>> from duilian import Layer
    >>> write([Sentence({"pku": Layer(("我们", "去"), ("r", "v"))})], "a.txt", format="slash")
    >>> read("a.txt", standard="pku")[0].text
    '我们去'
    """
    form = find_format(format or _format_of_name(path))
    if form.write is None:
        raise ConfigError(f"the format {form.name} can only be read", "choose another format")
    options = FormatOptions(standard=standard, column=column, names=None if names is None else tuple(names))
    with open_writer(path, encoding=encoding) as write_text:
        for text in form.write(sentences_only(sentences), options):
            write_text(text)


def _format_of_name(path: PathLike) -> str:
    name = guess_by_name(path)
    if name is None:
        known = ", ".join(FORMATS)
        raise ConfigError(f"cannot tell the format from the name {os.fspath(path)!r}", f"name it: {known}")
    return name


def write_parts(parts: Sequence[Corpus], directory: PathLike, *, like: PathLike, format: str) -> list[Path]:
    """Write one file per part: train, dev and test if there are three, else part-1, part-2, …

    The files have the extension of `like`; `directory` is created if it is missing.
    """
    names = ["train", "dev", "test"] if len(parts) == 3 else [f"part-{n}" for n in range(1, len(parts) + 1)]
    suffix = "".join(
        Path(like).suffixes[-2:] if os.fspath(like).endswith(".gz") else Path(like).suffixes[-1:]
    )
    paths = [Path(directory) / f"{name}{suffix or '.' + format}" for name in names]
    for path in paths:
        refuse_input(path, [like])
    Path(directory).mkdir(parents=True, exist_ok=True)
    for part, path in zip(parts, paths, strict=True):
        write(part, path, format=format, standard=None if format == "jsonl" else part.standard)
    return paths

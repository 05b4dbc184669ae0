"""The inputs of commands: texts and files from the command line, or standard input."""

from __future__ import annotations

import itertools
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from duilian.cli.live_input import in_runs, standard_input
from duilian.cli.option_groups import TextReading
from duilian.cli.options import warn, warn_of
from duilian.cli.progress import bytes_of, measured, watch
from duilian.corpus import Sentence, guess_format, read_lines
from duilian.corpus.files import STANDARD_STREAM, MeasuredFile, display_name, read_text
from duilian.corpus.formats.lookup import SAMPLE_LINES, TEXT, FormatOptions, guess_by_content, guess_by_name
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.corpus.storage import ReadReport
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.errors import AnnotationError, ConfigError, CorpusError
from duilian.modelfile import MAGIC
from duilian.models.roles import Ask
from duilian.text import Errors, char_types

Answered = TypeVar("Answered")

_ENDINGS = {".txt", ".text", ".md", ".csv", ".tsv", ".json", ".xml", ".html", ".log", ".conll", ".gz"}
_ROW = re.compile(r"[1-9][0-9]*(-[0-9]+)?(\t[^\t]+){9}")
_MIN_TOKENS = 5  # needed to recognise a format by its content
_TAGGED = re.compile(r"\S+([/_])[A-Za-z][A-Za-z0-9-]{0,7}")  # 我们/r, 来_VV
_TAGGED_SHARE = 0.8  # of tokens that must look like words with tags
_ENDING = re.compile(r"\.[A-Za-z]\w{0,5}")


class Item(NamedTuple):
    """A line of text, or a sentence of a corpus."""

    text: str
    placed: PlacedSentence | None = None


class Analysed(NamedTuple):
    """A text or a sentence of a corpus with its analysis."""

    given: Sentence | None
    doc: Doc
    place: PlacedSentence = PlacedSentence(Sentence({}))  # of a given sentence


class Inputs:
    """The inputs of a command, in order: text, files, or standard input.

    `format` overrides what their names suggest. `reads` is what the model reads: if that is words, a file
    whose name does not reveal its format is read as words separated by spaces, unless its content is
    unmistakably something else. `has_columns` means that the model needs further columns.
    """

    def __init__(
        self,
        given: Sequence[str] | None,
        format: str | None,
        reading: TextReading,
        *,
        reads: str = "text",
        has_columns: bool = False,
        is_one_text: bool = False,
    ) -> None:
        self.paths = list(given or [STANDARD_STREAM])
        self._format, self._encoding = format, reading.encoding
        self._errors = cast(Errors, reading.errors)
        self._reads, self._has_columns, self._is_one_text = reads, has_columns, is_one_text
        self._report = ReadReport() if reading.lenient else None
        self._formats: dict[str, str | None] = {}
        self._stdin = standard_input(self.paths)
        self._files = dict(zip(self.paths, measured(self.paths), strict=True))

    def is_file(self, path: str) -> bool:
        """Whether an input names a file, rather than being the text itself."""
        return path != STANDARD_STREAM and os.path.exists(path)

    @property
    def is_text(self) -> bool:
        """Whether no input is a corpus."""
        return all(map(self.is_text_at, self.paths))

    def is_text_at(self, path: str) -> bool:
        """Whether an input is text, not a corpus."""
        return self._format_of(path) is None

    def watched(
        self, path: str, answers: Iterable[Answered], text_of: Callable[[Answered], str]
    ) -> Iterator[Answered]:
        """Show the progress of an input by its answers; by what has been read, if it is a corpus."""
        if not self.is_text_at(path):
            return watch(answers, "texts", files=self.files)
        before = sum(file.size or 0 for file in self.files[: self.paths.index(path)])
        return watch(
            answers, "texts", files=self.files, size=lambda each: bytes_of(text_of(each)), before=before
        )

    def place(self, path: str, number: int) -> str:
        """Return where this text or sentence is, for messages; empty for text from the command line."""
        if path != STANDARD_STREAM and not self.is_file(path):
            return ""
        if self._format_of(path) is not None:
            return f"{display_name(path)}, sentence {number}"
        return display_name(path) if self._is_one_text else f"{display_name(path)}:{number}"

    def runs(self, path: str, options: FormatOptions) -> Iterator[Iterator[Item]]:
        """Yield the texts or sentences of an input, in runs that end where live input makes us wait."""
        form = self._format_of(path)
        if form is None:
            items = (Item(text) for text in self._texts(path))
        else:
            items = (Item("", placed) for placed in self.sentences(path, options, form))
        return in_runs(items, self._stdin)

    def analysed(
        self, path: str, analyzer: Analyzer, options: FormatOptions, ask: Ask, threads: int, *, fill: bool
    ) -> Iterator[Analysed]:
        """Yield the analysed texts of an input, or sentences of a corpus: with their gaps filled, or anew."""
        for run in self.runs(path, options):
            if self._format_of(path) is None:
                docs = analyzer.pipe((item.text for item in run), ask=ask, threads=threads)
                yield from (Analysed(None, doc) for doc in docs)
            else:
                placed = (item.placed for item in run if item.placed is not None)
                work = analyzer.fill if fill else analyzer.anew
                yield from _completed(partial(work, ask=ask, threads=threads), placed, options.standard or "")

    def sentences(
        self, path: str, options: FormatOptions, form: str | None = None
    ) -> Iterator[PlacedSentence]:
        """Yield the sentences of a corpus, in this format or the one that it looks like."""
        form = form or self._format
        _, found = read_placed(
            self._source(path),
            options,
            format=form,
            encoding=self._encoding,
            errors=self._errors,
            report=self._report,
        )
        yield from found
        self._warn()

    def _warn(self) -> None:
        if self._report is not None:
            warn_of(self._report)

    def _source(self, path: str) -> str | os.PathLike[str]:
        return self._stdin if path == STANDARD_STREAM and self._stdin is not None else self._files[path]

    @property
    def files(self) -> list[MeasuredFile]:
        """The inputs, as files that report how much has been read."""
        return list(self._files.values())

    def _format_of(self, path: str) -> str | None:
        if path not in self._formats:
            self._formats[path] = self._guess_format(path)
        return self._formats[path]

    def _guess_format(self, path: str) -> str | None:
        if self._format is not None:
            is_words = self._reads == "words" and self._format == "segmented"
            return None if self._format == TEXT or is_words else self._format
        if path == STANDARD_STREAM or not os.path.isfile(path):
            return None
        name = guess_by_name(path)
        is_some_conll = path.removesuffix(".gz").lower().endswith(".conll")
        if is_some_conll or (name is None and self._reads == "words"):
            name = self._guess_by_content(path, name)
        return None if name == "segmented" and self._reads == "words" else name

    def _guess_by_content(self, path: str, name: str | None) -> str | None:
        if self._reads != "words":
            return guess_format(path, encoding=self._encoding)
        lines = itertools.islice(read_lines(path, encoding=self._encoding), SAMPLE_LINES)
        sample = [line for _, line in lines if line.strip()]
        return guess_format_of_words(sample, display_name(path), has_columns=self._has_columns) or name

    def _texts(self, path: str) -> Iterator[str]:
        """Yield the lines of a file, or the whole file as one text."""
        if path != STANDARD_STREAM and not self.is_file(path):
            yield self._decode_argument(path)
        elif self._is_one_text:
            yield read_text(self._files[path], encoding=self._encoding, errors=self._errors)
        else:
            source = self._source(path)
            skip = None if self._report is None else self._report.skip
            words: list[str] = []  # of the first lines
            for number, line in read_lines(source, encoding=self._encoding, errors=self._errors, skip=skip):
                if number <= SAMPLE_LINES and self._format is None:
                    self._check_is_text(line, display_name(path), number)
                    words += line.split()
                    _warn_of_tags(words, display_name(path))
                yield line
            self._warn()

    def _check_is_text(self, line: str, path: str, number: int) -> None:
        if _ROW.fullmatch(line):
            hint = "use --format conllu to read its annotation, or --format text if it is text"
            raise CorpusError(path, number, "this looks like a row of CoNLL-U, not text", hint)
        sample = [line] if line.strip() else []
        if self._reads == "words" and (name := guess_format_of_words(sample, path)) is not None:
            hint = f"use --format {name} to read the tags, or --format text if it is text"
            raise CorpusError(path, number, "this looks like words with tags", hint)

    def _decode_argument(self, argument: str) -> str:
        """Decode text from the command line, in which invalid bytes have become lone surrogates."""
        raw = os.fsencode(argument)
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            if self._errors == "strict":
                message = f"byte 0x{raw[error.start]:02x} at offset {error.start} of an argument is not UTF-8"
                raise ConfigError(message, "--errors replace substitutes U+FFFD") from None
            text = raw.decode(errors="replace")
        if _looks_like_path(text):
            raise ConfigError(f"there is no file {text!r}", "if it is text, pipe it in")
        return text


def _warn_of_tags(words: Sequence[str], path: str) -> None:
    """Warn if text looks like words with tags."""
    if len(words) < _MIN_TOKENS:
        return
    signs = [found[1] for word in words if (found := _TAGGED.fullmatch(word)) is not None]
    for name, sign in (("slash", "/"), ("underscore", "_")):
        if signs.count(sign) >= _TAGGED_SHARE * len(words):
            what = f"{path}: this looks like words with tags, but is read as text"
            warn(f"{what}; use --format {name} to read the tags, or --format text if it is text")


def refuse_models(paths: Sequence[str] | None) -> None:
    """Refuse a model where text is expected."""
    for path in filter(os.path.isfile, paths or ()):
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                raise ConfigError(f"{path}: this is a model, not text", f"to use it, give --model {path}")


def _looks_like_path(text: str) -> bool:
    folder, slash, _ = text.rpartition("/")
    ending = Path(text).suffix.lower()
    if ending in _ENDINGS or guess_by_name(text) is not None:
        return True
    if "han" in char_types(text):
        return text.startswith(("/", "./", "../", "~/")) or (bool(slash) and os.path.isdir(folder))
    return "://" not in text and (bool(slash) or _ENDING.fullmatch(ending) is not None)


def guess_format_of_words(lines: list[str], path: str, *, has_columns: bool = False) -> str | None:
    """Return the format of a file whose name does not reveal it, if it is unmistakably not lines of words."""
    try:
        name = guess_by_content(lines, path) if lines else TEXT
    except CorpusError:
        return None
    if name == "columns" and has_columns:
        return name
    sign = {"slash": "/", "underscore": "_"}.get(name)
    if sign is None:  # lines of two or three words look like columns
        return None if name in (TEXT, "segmented", "ctb-brackets", "columns") else name
    tokens = [token for line in lines if line.lstrip()[:1] != "<" for token in line.split()]
    return name if len(tokens) >= _MIN_TOKENS and all(sign in token[1:] for token in tokens) else None


def _completed(
    work: Callable[..., Iterator[Doc]], run: Iterator[PlacedSentence], standard: str
) -> Iterator[Analysed]:
    """Yield sentences with their analyses; errors name the place of the sentence."""
    pending: deque[PlacedSentence] = deque()
    answered = 0

    def sentences() -> Iterator[Sentence]:
        for each in run:
            pending.append(each)
            yield each.sentence

    try:
        for doc in work(sentences(), standard):
            yield Analysed(pending[0].sentence, doc, pending[0])
            pending.popleft()
            answered += 1
    except AnnotationError as error:
        place = pending[error.sentence - answered]
        raise CorpusError(place.path, place.line_of(error.word), error.message, error.hint) from None

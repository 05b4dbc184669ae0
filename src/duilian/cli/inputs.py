"""The inputs of `duilian analyze`: texts and files from the command line, or standard input."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from duilian.cli.live_input import in_runs, standard_input
from duilian.corpus import guess_format, read_lines
from duilian.corpus.files import STANDARD_STREAM, display_name, read_text
from duilian.corpus.formats.lookup import SAMPLE_LINES, TEXT, FormatOptions, guess_by_name
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.errors import AnnotationError, ConfigError, CorpusError
from duilian.text import Errors, char_types

_ENDINGS = {".txt", ".text", ".md", ".csv", ".tsv", ".json", ".xml", ".html", ".log", ".conll", ".gz"}
_ROW = re.compile(r"[1-9][0-9]*(-[0-9]+)?(\t[^\t]+){9}")
_ENDING = re.compile(r"\.[A-Za-z]\w{0,5}")


class Inputs:
    """The inputs of a command, in order; `format` overrides what their names suggest."""

    def __init__(
        self,
        given: Sequence[str] | None,
        format: str | None,
        encoding: str,
        errors: Errors,
        *,
        is_one_text: bool = False,
    ) -> None:
        self.paths = list(given or [STANDARD_STREAM])
        self._format, self._encoding, self._errors, self._is_one_text = format, encoding, errors, is_one_text
        self._formats: dict[str, str | None] = {}
        self._stdin = standard_input(self.paths)

    def is_file(self, path: str) -> bool:
        """Return whether an input names a file, rather than being the text itself."""
        return path != STANDARD_STREAM and os.path.exists(path)

    def size(self, path: str) -> int | None:
        """Return the number of bytes of text to read, if it is known."""
        is_plain = os.path.isfile(path) and not path.endswith(".gz") and self._format_of(path) is None
        return os.path.getsize(path) if is_plain else None

    @property
    def is_text(self) -> bool:
        """Whether no input is a corpus."""
        return all(self._format_of(path) is None for path in self.paths)

    def texts(self, path: str) -> Iterator[Iterator[str]]:
        """Yield the texts of an input, in runs."""
        return in_runs(self._texts(path), self._stdin)

    def place(self, path: str, number: int) -> str:
        """Return where this text or sentence is, for messages; empty for text from the command line."""
        if path != STANDARD_STREAM and not self.is_file(path):
            return ""
        if self._format_of(path) is not None:
            return f"{display_name(path)}, sentence {number}"
        return display_name(path) if self._is_one_text else f"{display_name(path)}:{number}"

    def docs(self, path: str, analyzer: Analyzer, options: FormatOptions, threads: int) -> Iterator[Doc]:
        """Yield the analysed texts of an input, or the sentences of a corpus with their gaps filled."""
        form = self._format_of(path)
        if form is None:
            for run in in_runs(self._texts(path), self._stdin):
                yield from analyzer.pipe(run, threads=threads)
        else:
            for given in in_runs(self._sentences(path, form, options), self._stdin):
                yield from _completed_docs(analyzer, given, options.standard or "", threads)

    def _sentences(self, path: str, form: str, options: FormatOptions) -> Iterator[PlacedSentence]:
        source, encoding, errors = self._source(path), self._encoding, self._errors
        yield from read_placed(source, options, format=form, encoding=encoding, errors=errors)[1]

    def _source(self, path: str) -> str | os.PathLike[str]:
        return self._stdin if path == STANDARD_STREAM and self._stdin is not None else path

    def _format_of(self, path: str) -> str | None:
        if path not in self._formats:
            self._formats[path] = self._guess_format(path)
        return self._formats[path]

    def _guess_format(self, path: str) -> str | None:
        if self._format is not None:
            return None if self._format == TEXT else self._format
        if path == STANDARD_STREAM or not os.path.isfile(path):
            return None
        is_some_conll = path.removesuffix(".gz").lower().endswith(".conll")
        return guess_format(path, encoding=self._encoding) if is_some_conll else guess_by_name(path)

    def _texts(self, path: str) -> Iterator[str]:
        """Yield the lines of a file, or the whole file as one text."""
        if path != STANDARD_STREAM and not self.is_file(path):
            yield self._decode_argument(path)
        elif self._is_one_text:
            yield read_text(path, encoding=self._encoding, errors=self._errors)
        else:
            source = self._source(path)
            for number, line in read_lines(source, encoding=self._encoding, errors=self._errors):
                if number <= SAMPLE_LINES and self._format is None and _ROW.fullmatch(line):
                    hint = "use --format conllu to fill its gaps, or --format text if it is text"
                    message = "this looks like a row of CoNLL-U, not like text"
                    raise CorpusError(display_name(path), number, message, hint)
                yield line

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


def _looks_like_path(text: str) -> bool:
    folder, slash, _ = text.rpartition("/")
    ending = Path(text).suffix.lower()
    if ending in _ENDINGS or guess_by_name(text) is not None:
        return True
    if "han" in char_types(text):
        return text.startswith(("/", "./", "../", "~/")) or (bool(slash) and os.path.isdir(folder))
    return "://" not in text and (bool(slash) or _ENDING.fullmatch(ending) is not None)


def _completed_docs(
    analyzer: Analyzer, run: Iterator[PlacedSentence], standard: str, threads: int
) -> Iterator[Doc]:
    """Yield sentences with their gaps filled; errors name the place of the sentence."""
    pending: deque[PlacedSentence] = deque()
    answered = 0

    def sentences() -> Iterator[PlacedSentence]:
        for each in run:
            pending.append(each)
            yield each

    try:
        for doc in analyzer.fill((each.sentence for each in sentences()), standard, threads=threads):
            yield doc
            pending.popleft()
            answered += 1
    except AnnotationError as error:
        place = pending[error.sentence - answered]
        raise CorpusError(place.path, place.line_of(error.word), error.message, error.hint) from None

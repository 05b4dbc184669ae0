"""Reading corpus files as decoded, numbered lines."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import itertools
import os
import select
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from duilian.corpus.encodings import check_encoding, likely_encoding
from duilian.corpus.lines import shown
from duilian.errors import ConfigError, CorpusError, MissingFileError
from duilian.text import Errors

STANDARD_STREAM = "-"
_SAMPLE_SIZE = 1 << 16
_BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_MEGABYTE = 1 << 20
MAX_LINE = 16  # megabytes
MAX_LINE_VARIABLE = "DUILIAN_MAX_LINE"
_MAX_EXPANSION = 200  # of compressed text; ordinary text expands 3 times, gzip's limit is 1,032
_EXPANSION_STEP = 64 * _MEGABYTE  # how much is unpacked before the next check

Skip = Callable[[CorpusError], None]
_REPLACEMENTS = dict.fromkeys(map(ord, "\0\r"), "\ufffd")


class DamagedFileError(CorpusError):
    """A file that cannot be read any further, so skipping a line does not help."""


def check_path(path: object) -> None:
    """Refuse what is not one path, such as a list of them."""
    if not isinstance(path, str | os.PathLike):
        hint = "read one file at a time" if isinstance(path, list | tuple) else ""
        raise ConfigError(f"expected the path of a file, got {shown(path)}", hint)


def max_line_size() -> int:
    """The length limit of lines, in bytes; an environment variable sets it in megabytes."""
    text = os.environ.get(MAX_LINE_VARIABLE, str(MAX_LINE))
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 4096):
        raise ConfigError(f"{MAX_LINE_VARIABLE} must be a number of megabytes from 1 to 4096, got {text!r}")
    return int(text) * _MEGABYTE


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of a file in messages."""
    return "<stdin>" if os.fspath(path) == STANDARD_STREAM else os.fspath(path)


class PastedText(os.PathLike[str]):
    """A text in memory that can be read like a file; messages call it `<text>`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __fspath__(self) -> str:
        return "<text>"


class LiveInput(os.PathLike[str]):
    """Standard input as a path that can tell whether reading its next line would block."""

    def __init__(self) -> None:
        self._stream = cast(io.BufferedReader, sys.stdin.buffer)
        self._complete: deque[bytes] = deque()  # lines received but not yet read
        self._is_read = False

    def __fspath__(self) -> str:
        return STANDARD_STREAM

    def __iter__(self) -> Iterator[bytes]:
        self._is_read = True
        most = max_line_size()
        partial: list[bytes] = []  # pieces of a line whose end has not arrived
        size = 0  # of these pieces
        while piece := self._stream.read1(_SAMPLE_SIZE):
            *complete, rest = piece.split(b"\n")
            if complete:
                complete[0] = b"".join([*partial, complete[0]])
                partial.clear()
                size = 0
                self._complete.extend(complete)
            while self._complete:
                yield self._complete.popleft() + b"\n"
            partial.append(rest)
            size += len(rest)
            if size > most:  # too long; the reader will say so
                break
        if last := b"".join(partial):
            yield last

    def read1(self, size: int) -> bytes:
        """Return some of the lines received, without waiting."""
        return b"\n".join(self._complete)[:size]

    def is_waiting(self) -> bool:
        """Whether it is being read and has nothing more at the moment."""
        if self._complete or not self._is_read:
            return False
        try:
            return not select.select([self._stream], [], [], 0)[0]
        except (OSError, ValueError):  # neither pipe nor terminal, or a system that cannot tell
            return False


class MeasuredFile(os.PathLike[str]):
    """A path that knows how much of its file has been read, for progress displays."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self.stream: BinaryIO | None = None  # the open file
        is_file = self._path != STANDARD_STREAM and os.path.isfile(self._path)
        self.size = os.path.getsize(self._path) if is_file else None  # in bytes; None if it is not known

    def __fspath__(self) -> str:
        return self._path

    @property
    def position(self) -> int:
        """The number of bytes read, before decompression; all of them after it is closed."""
        if self.stream is None or self.size is None:
            return 0
        return self.size if self.stream.closed else self.stream.tell()


@contextlib.contextmanager
def naming(name: str) -> Iterator[None]:
    """Add the file's name to a system error that does not have one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = name
        raise


def read_lines(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    errors: Errors = "strict",
    skip: Skip | None = None,
) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without line ends and byte order mark; gzip is decompressed.

    A line that is not valid text raises an error, or is passed to `skip` and left out; `errors="replace"`
    puts U+FFFD in place of invalid bytes.
    """
    is_ascii_based = check_encoding(encoding)
    name = display_name(path)
    decoder = _Decoder(name, encoding, errors, skip)
    with naming(name), _open_bytes(path) as stream:
        if not is_ascii_based:
            yield from decoder.checked(decoder.wide_lines(stream))
        elif isinstance(stream, io.BufferedReader) and stream.seekable():
            yield from decoder.lines_of_file(stream)
        else:  # a pipe yields its lines as they arrive
            is_plain = isinstance(path, LiveInput) and not isinstance(stream, gzip.GzipFile)
            yield from decoder.checked(decoder.lines(cast(LiveInput, path) if is_plain else stream))


def read_text(path: str | os.PathLike[str], *, encoding: str = "utf-8", errors: Errors = "strict") -> str:
    """Read a whole file with its line ends and byte order mark, so that offsets are those of the file."""
    is_ascii_based = check_encoding(encoding)
    name = display_name(path)
    with naming(name), _open_bytes(path) as stream:
        raw = b"".join(raw for _, raw in _raw_lines(stream, name, 1))
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError:
        again, decoder = io.BytesIO(raw), _Decoder(name, encoding, errors, None)
        for _ in decoder.lines(again) if is_ascii_based else decoder.wide_lines(again):
            pass  # up to the invalid line, which raises the error
        raise


@dataclasses.dataclass(frozen=True)
class _Decoder:
    name: str
    encoding: str
    errors: Errors
    skip: Skip | None

    def lines_of_file(self, stream: io.BufferedReader) -> Iterator[tuple[int, str]]:
        """Decode block by block, three times faster than line by line; blocks with errors go line by line."""
        first, at, most = 1, 0, max_line_size()
        while block := _whole_lines(stream, most):
            if len(block) > most:
                _check_line_size(block, most, self.name, first)
            count = block.count(b"\n") + (not block.endswith(b"\n"))
            lines = _plain_lines(block, self.encoding)
            if lines is None or len(lines) != count:
                yield from self.checked(self.lines(io.BytesIO(block), first, at))
            else:
                if first == 1:
                    lines[0] = lines[0].removeprefix("\ufeff")
                yield from enumerate(lines, first)
            first += count
            at += len(block)

    def lines(
        self, stream: BinaryIO | io.BytesIO | LiveInput, first: int = 1, at: int = 0
    ) -> Iterator[tuple[int, str]]:
        """Decode line by line; `at` is the offset of the stream in the input, in bytes."""
        for number, raw in _raw_lines(stream, self.name, first):
            at += len(raw)
            try:
                line = raw.decode(self.encoding, self.errors)
            except UnicodeDecodeError as error:
                sample = raw if self.skip else raw + cast(io.BytesIO, stream).read1(_SAMPLE_SIZE)
                problem = _not_text(error, self.name, number, at - len(raw), sample)
                if self.skip is None:
                    raise problem from None
                self.skip(problem)
                continue
            if number == 1:
                line = line.removeprefix("\ufeff")
            yield number, line.removesuffix("\n").removesuffix("\r")

    def wide_lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        """Decode lines in encodings such as UTF-16, where a newline is more than one byte."""
        number, most = 0, max_line_size()
        text = io.TextIOWrapper(stream, encoding=self.encoding, errors=self.errors, newline="\n")
        try:
            for number, line in enumerate(iter(lambda: text.readline(most + 1), ""), start=1):
                if len(line) > most:
                    raise _too_long(line, self.name, number, most)
                yield number, line.removesuffix("\n").removesuffix("\r")
        except (UnicodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"this is not {self.encoding} text: {getattr(error, 'reason', error)}"
            raise DamagedFileError(self.name, number + 1, message) from None
        finally:
            text.detach()  # the caller closes the stream

    def checked(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Skip, fix or reject lines that contain NUL or carriage return."""
        for number, line in lines:
            problem = _bad_character(line, self.name, number)
            if problem is None:
                yield number, line
            elif self.errors == "replace":
                yield number, line.translate(_REPLACEMENTS)
            elif self.skip is None:
                raise problem
            else:
                self.skip(problem)


def _plain_lines(block: bytes, encoding: str) -> list[str] | None:
    """The lines of a block, or None if not all of it is valid text."""
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if "\r" in text or "\0" in text:
        return None
    return text.removesuffix("\n").split("\n")


@contextlib.contextmanager
def _open_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    with contextlib.ExitStack() as opened:
        if os.fspath(path) == STANDARD_STREAM:
            stream = cast(io.BufferedReader, sys.stdin.buffer)
        elif isinstance(path, PastedText):
            stream = io.BufferedReader(io.BytesIO(path.text.encode("utf-8", "surrogatepass")))
        else:
            try:
                stream = opened.enter_context(open(path, "rb"))
            except FileNotFoundError:
                raise MissingFileError(os.fspath(path)) from None
        if isinstance(path, MeasuredFile):
            path.stream = stream
        # Standard input that cannot be peeked at is never taken for gzip.
        is_gzip = hasattr(stream, "peek") and stream.peek(2)[:2] == _GZIP_MAGIC
        if is_gzip or os.fspath(path).endswith(".gz"):
            unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
            yield cast(BinaryIO, opened.enter_context(unpacked))
        else:
            yield stream


def _whole_lines(stream: io.BufferedReader, most: int) -> bytes:
    """A block that ends with a line; only a line that is too long makes it longer than two blocks."""
    block = stream.read(min(_BLOCK_SIZE, most))
    if not block or block.endswith(b"\n"):
        return block
    return block + stream.readline(most + 1 - (len(block) - block.rfind(b"\n") - 1))


def _check_line_size(block: bytes, most: int, name: str, first: int) -> None:
    start = block.rfind(b"\n", 0, -1) + 1
    if len(block) - start > most:
        raise _too_long(block[start:], name, first + block.count(b"\n", 0, start), most)


def _too_long(line: bytes | str, name: str, number: int, most: int) -> DamagedFileError:
    has_nul = (b"\0" if isinstance(line, bytes) else "\0") in line  # type: ignore[operator]
    hint = (
        "this is not text: it has NUL bytes"
        if has_nul
        else f"put line breaks into it, or set {MAX_LINE_VARIABLE} to more megabytes"
    )
    return DamagedFileError(name, number, f"a line of more than {most // _MEGABYTE} MB", hint)


def _raw_lines(
    stream: BinaryIO | io.BytesIO | LiveInput, name: str, first: int
) -> Iterator[tuple[int, bytes]]:
    number, most = first - 1, max_line_size()
    size, next_look = 0, _EXPANSION_STEP
    lines = iter(stream) if isinstance(stream, LiveInput) else iter(lambda: stream.readline(most + 1), b"")
    try:
        for number, raw in enumerate(lines, start=first):
            size += len(raw)
            if len(raw) > most:
                raise _too_long(raw, name, number, most)
            if size >= next_look:
                _check_expansion(stream, size, name, number)
                next_look += _EXPANSION_STEP
            yield number, raw
    except EOFError:
        hint = "it was probably not copied completely"
        raise DamagedFileError(name, number + 1, "the gzip file is truncated", hint) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFileError(name, number + 1, f"not a valid gzip file: {error}") from None


def _check_expansion(stream: object, size: int, name: str, number: int) -> None:
    """Refuse a small compressed file that expands enormously."""
    if isinstance(stream, gzip.GzipFile) and stream.fileobj is not None:
        try:
            packed = cast(BinaryIO, stream.fileobj).tell()
        except OSError:  # a pipe
            return
        if size > _MAX_EXPANSION * packed:
            hint = "if that is intended, decompress it first"
            raise DamagedFileError(name, number, f"it expands to over {_MAX_EXPANSION} times its size", hint)


def _not_text(error: UnicodeDecodeError, name: str, number: int, at: int, sample: bytes) -> CorpusError:
    byte = error.object[error.start]
    likely = likely_encoding(sample, error.encoding)
    hint = (
        f"it looks like {likely}: save it as UTF-8, or, if it is the input, use --encoding {likely} "
        f"(in Python encoding={likely!r})"
        if likely
        else "save it as UTF-8, or, if it is text to analyse, use --errors replace"
    )
    message = (
        f"byte 0x{byte:02x} at column {error.start + 1} (offset {at + error.start} of the input) "
        f"is not {error.encoding} text"
    )
    return CorpusError(name, number, message, hint)


def _bad_character(line: str, name: str, number: int) -> CorpusError | None:
    if "\0" in line:
        hint = "skip such lines with --lenient; if the file is UTF-16, read it with --encoding utf-16"
        return CorpusError(name, number, "a NUL byte, which text does not have", hint)
    if "\r" in line:
        hint = "the file may use CR as its line end; save it with LF"
        return CorpusError(name, number, "a carriage return inside a line", hint)
    return None


def peek(lines: Iterator[tuple[int, str]], count: int) -> tuple[list[str], Iterator[tuple[int, str]]]:
    """The first non-blank lines, and an iterator over all lines, these included."""
    seen: list[tuple[int, str]] = []
    found: list[str] = []
    for number, line in lines:
        seen.append((number, line))
        if line and not line.isspace():
            found.append(line)
            if len(found) == count:
                break
    return found, itertools.chain(seen, lines)

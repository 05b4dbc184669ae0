"""Corpus files: reading them as decoded, numbered lines, and writing them completely or not at all.

Only a run that is stopped by Ctrl-C leaves a part, under another name.
"""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import gzip
import io
import itertools
import os
import secrets
import select
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from duilian.corpus.encodings import check_encoding, likely_encoding
from duilian.corpus.lines import shown
from duilian.errors import ConfigError, CorpusError, MissingFileError, TextError
from duilian.text import Errors

STANDARD_STREAM = "-"
_SAMPLE_SIZE = 1 << 16
_BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"

Skip = Callable[[CorpusError], None]
Write = Callable[[str], object]
_REPLACEMENTS = dict.fromkeys(map(ord, "\0\r"), "\ufffd")


class DamagedFileError(CorpusError):
    """A file that cannot be read any further, so skipping a line does not help."""


def check_path(path: object) -> None:
    """Refuse what is not one path, such as a list of them."""
    if not isinstance(path, str | os.PathLike):
        hint = "read one file at a time" if isinstance(path, list | tuple) else ""
        raise ConfigError(f"expected the path of a file, got {shown(path)}", hint)


def display_name(path: str | os.PathLike[str]) -> str:
    """The name of a file in messages."""
    return "<stdin>" if os.fspath(path) == STANDARD_STREAM else os.fspath(path)


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
        partial: list[bytes] = []  # pieces of a line whose end has not arrived
        while piece := self._stream.read1(_SAMPLE_SIZE):
            *complete, rest = piece.split(b"\n")
            if complete:
                complete[0] = b"".join([*partial, complete[0]])
                partial.clear()
                self._complete.extend(complete)
            while self._complete:
                yield self._complete.popleft() + b"\n"
            partial.append(rest)
        if last := b"".join(partial):
            yield last

    def read1(self, size: int) -> bytes:
        """Return some of the lines received, without waiting."""
        return b"\n".join(self._complete)[:size]

    def is_waiting(self) -> bool:
        """Whether it is being read and has nothing more for the moment."""
        if self._complete or not self._is_read:
            return False
        try:
            return not select.select([self._stream], [], [], 0)[0]
        except (OSError, ValueError):  # neither pipe nor terminal, or a system that cannot tell
            return False


class MeasuredFile(os.PathLike[str]):
    """A path that knows how much of its file has been read, for those who show progress."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        self.stream: BinaryIO | None = None  # the open file
        is_file = self._path != STANDARD_STREAM and os.path.isfile(self._path)
        self.size = os.path.getsize(self._path) if is_file else None  # in bytes; None if it is not known

    def __fspath__(self) -> str:
        return self._path

    @property
    def position(self) -> int:
        """The number of bytes read, compressed if the file is; none before it is opened, all after."""
        if self.stream is None or self.size is None:
            return 0
        return self.size if self.stream.closed else self.stream.tell()


def read_lines(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    errors: Errors = "strict",
    skip: Skip | None = None,
) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without line ends and byte order mark; gzip is decompressed.

    A line that is not valid text raises an error, or is passed to `skip` and left out; `errors="replace"`
    puts U+FFFD in place of what is not valid.
    """
    is_ascii_based = check_encoding(encoding)
    name = display_name(path)
    decoder = _Decoder(name, encoding, errors, skip)
    with _naming(name), _open_bytes(path) as stream:
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
    with _naming(name), _open_bytes(path) as stream:
        raw = stream.read()
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError:
        again, decoder = io.BytesIO(raw), _Decoder(name, encoding, errors, None)
        for _ in decoder.lines(again) if is_ascii_based else decoder.wide_lines(again):
            pass  # until the line that is not text
        raise


@dataclasses.dataclass(frozen=True)
class _Decoder:
    """Decodes the bytes of the file `name` into numbered lines."""

    name: str
    encoding: str
    errors: Errors
    skip: Skip | None

    def lines_of_file(self, stream: io.BufferedReader) -> Iterator[tuple[int, str]]:
        """Decode block by block, three times faster than line by line; blocks with errors go line by line."""
        first, at = 1, 0
        while raw := stream.readlines(_BLOCK_SIZE):
            block = b"".join(raw)
            lines = _plain_lines(block, self.encoding)
            if lines is None or len(lines) != len(raw):
                yield from self.checked(self.lines(io.BytesIO(block), first, at))
            else:
                if first == 1:
                    lines[0] = lines[0].removeprefix("\ufeff")
                yield from enumerate(lines, first)
            first += len(raw)
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
        number = 0
        text = io.TextIOWrapper(stream, encoding=self.encoding, errors=self.errors, newline="\n")
        try:
            for number, line in enumerate(text, start=1):
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
        else:
            try:
                stream = opened.enter_context(open(path, "rb"))
            except FileNotFoundError:
                raise MissingFileError(os.fspath(path)) from None
        if isinstance(path, MeasuredFile):
            path.stream = stream
        # Some standard inputs cannot be peeked at; those are never taken for gzip.
        is_gzip = hasattr(stream, "peek") and stream.peek(2)[:2] == _GZIP_MAGIC
        if is_gzip or os.fspath(path).endswith(".gz"):
            unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
            yield cast(BinaryIO, opened.enter_context(unpacked))
        else:
            yield stream


def _raw_lines(
    stream: BinaryIO | io.BytesIO | LiveInput, name: str, first: int
) -> Iterator[tuple[int, bytes]]:
    number = first - 1
    try:
        for number, raw in enumerate(stream, start=first):
            yield number, raw
    except EOFError:
        hint = "it was probably not copied completely"
        raise DamagedFileError(name, number + 1, "the gzip file is truncated", hint) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFileError(name, number + 1, f"not a valid gzip file: {error}") from None


def _not_text(error: UnicodeDecodeError, name: str, number: int, at: int, sample: bytes) -> CorpusError:
    byte = error.object[error.start]
    likely = likely_encoding(sample, error.encoding)
    hint = (
        f"it looks like {likely}: read it with --encoding {likely} (in Python encoding={likely!r})"
        if likely
        else "save it as UTF-8, or read it with `duilian analyze --errors replace`"
    )
    message = (
        f"byte 0x{byte:02x} at column {error.start + 1} (offset {at + error.start} of the input) "
        f"is not {error.encoding} text"
    )
    return CorpusError(name, number, message, hint)


def _bad_character(line: str, name: str, number: int) -> CorpusError | None:
    if "\0" in line:
        hint = "if it is UTF-16, read it with --encoding utf-16 (in Python encoding='utf-16')"
        return CorpusError(name, number, "a NUL byte, which text never has", hint)
    if "\r" in line:
        hint = "the file may use CR as its line end; save it with LF"
        return CorpusError(name, number, "a carriage return inside a line", hint)
    return None


@contextlib.contextmanager
def open_writer(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Iterator[Write]:
    """Open a file and yield a function that writes text to it, an answer at a time.

    The file appears, or is replaced, only if the block ends without an error. If it is stopped by Ctrl-C,
    what was written stays in a file of the same name with .part at the end; a note on the KeyboardInterrupt
    says so. If the name ends in .gz, it is compressed; `-` is standard output.
    """
    check_path(path)
    check_encoding(encoding)
    name = "<stdout>" if os.fspath(path) == STANDARD_STREAM else os.fspath(path)
    written = 0

    def write(text: str) -> None:
        nonlocal written
        stream.write(encoder.encode(text))
        written += bool(text)

    try:
        with _naming(name), _open_target(path) as stream:
            encoder = codecs.getincrementalencoder(encoding)()
            yield write
    except KeyboardInterrupt as stop:
        _keep_part(path, stop, written)
        raise
    except UnicodeEncodeError as error:
        char = error.object[error.start]
        hint = "" if 0xD800 <= ord(char) < 0xE000 else "write it as utf-8"
        raise TextError(f"{name}: {char!r} cannot be written as {encoding}", hint) from None


def _keep_part(path: str | os.PathLike[str], stop: KeyboardInterrupt, written: int) -> None:
    """Note on the exception where the part that was written is, or that there is none."""
    part = _part_of(Path(path).resolve())
    if os.fspath(path) == STANDARD_STREAM or not part.is_file():
        return
    if not written:
        part.unlink()
        stop.add_note("nothing was finished")
        return
    answers = "1 answer" if written == 1 else f"{written:,} answers"
    name = part if Path(path).is_symlink() else f"{os.fspath(path)}.part"
    stop.add_note(f"{name} has the first {answers}; give the rest of the input to go on")


def _part_of(target: Path) -> Path:
    """What a file is called while it is incomplete."""
    return target.with_name(f"{target.name}.part")


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Add the file's name to a system error that does not have one."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = name
        raise


@contextlib.contextmanager
def _open_target(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    if os.fspath(path) == STANDARD_STREAM:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif os.fspath(path).endswith(".gz"):
        with _replacing(Path(path)) as raw, _packed(raw) as packed:
            yield packed
    else:
        with _replacing(Path(path)) as raw:
            yield raw


@contextlib.contextmanager
def _packed(raw: BinaryIO) -> Iterator[BinaryIO]:
    # Neither name nor time inside: the same corpus gives the same bytes.
    packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    try:
        yield cast(BinaryIO, packed)
    except BaseException:
        with contextlib.suppress(OSError):
            packed.close()
        raise
    packed.close()


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the same folder, which takes the file's name at the end."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        with open(target, "wb") as stream:
            yield stream
        return
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with open(temporary, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            if isinstance(error, KeyboardInterrupt):
                os.replace(temporary, _part_of(target))
            else:
                temporary.unlink()
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = str(path)
        raise


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

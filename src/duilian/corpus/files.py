"""Opening corpus files: decoded, numbered lines in; whole files, or nothing, out."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import os
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, cast

from duilian.corpus.encodings import check_encoding, likely_encoding
from duilian.errors import CorpusError, TextError

STANDARD_STREAM = "-"
_SAMPLE_SIZE = 1 << 16
_BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"

Skip = Callable[[CorpusError], None]
Write = Callable[[str], object]
Errors = Literal["strict", "replace"]
_NO_TEXT = dict.fromkeys(map(ord, "\0\r"), "\ufffd")


class DamagedFileError(CorpusError):
    """A file that cannot be read further, so that skipping a line does not help."""


def display_name(path: str | os.PathLike[str]) -> str:
    """How messages call this file."""
    return "<stdin>" if os.fspath(path) == STANDARD_STREAM else os.fspath(path)


def read_lines(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    errors: Errors = "strict",
    skip: Skip | None = None,
) -> Iterator[tuple[int, str]]:
    """Number and text of each line, without line ends and byte order mark; gzip is unpacked.

    A line that is no text raises, or is given to `skip` and left out; `errors="replace"` puts U+FFFD where
    it is none.
    """
    if errors == "replace":
        yield from _replaced_lines(path, encoding)
        return
    is_ascii_based = check_encoding(encoding)
    name = display_name(path)
    with _naming(name), _open_bytes(path) as stream:
        if not is_ascii_based:
            yield from _checked(_wide_lines(stream, name, encoding), name, skip)
        elif isinstance(stream, io.BufferedReader) and stream.seekable():
            yield from _lines_of_file(stream, name, encoding, skip)
        else:  # a pipe gives its lines as they come
            yield from _checked(_decoded_lines(stream, name, encoding, skip), name, skip)


def read_text(path: str | os.PathLike[str], *, encoding: str = "utf-8", errors: Errors = "strict") -> str:
    """The whole of a file with its line ends and byte order mark: places in it are as others count them."""
    is_ascii_based = check_encoding(encoding)
    name = display_name(path)
    with _naming(name), _open_bytes(path) as stream:
        raw = stream.read()
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError:
        again = io.BytesIO(raw)
        lines = _decoded_lines(again, name, encoding, None) if is_ascii_based else None
        for _ in lines or _wide_lines(again, name, encoding):
            pass  # until the line that is no text
        raise


def _replaced_lines(path: str | os.PathLike[str], encoding: str) -> Iterator[tuple[int, str]]:
    check_encoding(encoding)
    with _naming(display_name(path)), _open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="\n")
        try:
            for number, line in enumerate(text, start=1):
                shown = line.removesuffix("\n").removesuffix("\r")
                yield number, (shown.removeprefix("\ufeff") if number == 1 else shown).translate(_NO_TEXT)
        finally:
            text.detach()  # its owner closes the stream


def _checked(lines: Iterator[tuple[int, str]], name: str, skip: Skip | None) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        problem = _bad_character(line, name, number)
        if problem is None:
            yield number, line
        elif skip is None:
            raise problem
        else:
            skip(problem)


def _lines_of_file(
    stream: io.BufferedReader, name: str, encoding: str, skip: Skip | None
) -> Iterator[tuple[int, str]]:
    """Block by block, three times as fast as line by line; a block with something wrong is read by lines."""
    first, at = 1, 0
    while raw := stream.readlines(_BLOCK_SIZE):
        block = b"".join(raw)
        lines = _plain_lines(block, encoding)
        if lines is None or len(lines) != len(raw):
            slow = _decoded_lines(io.BytesIO(block), name, encoding, skip, first, at)
            yield from _checked(slow, name, skip)
        else:
            if first == 1:
                lines[0] = lines[0].removeprefix("\ufeff")
            yield from enumerate(lines, first)
        first += len(raw)
        at += len(block)


def _plain_lines(block: bytes, encoding: str) -> list[str] | None:
    """The lines of a block that is text through and through."""
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
            stream = opened.enter_context(open(path, "rb"))
        # Some standard inputs cannot be peeked into; those are never taken for gzip.
        is_gzip = hasattr(stream, "peek") and stream.peek(2)[:2] == _GZIP_MAGIC
        if is_gzip or os.fspath(path).endswith(".gz"):
            unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
            yield cast(BinaryIO, opened.enter_context(unpacked))
        else:
            yield stream


def _raw_lines(stream: BinaryIO, name: str, first: int) -> Iterator[tuple[int, bytes]]:
    number = first - 1
    try:
        for number, raw in enumerate(stream, start=first):
            yield number, raw
    except EOFError:
        hint = "it was probably not copied to its end"
        raise DamagedFileError(name, number + 1, "the gzip file stops in the middle", hint) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFileError(name, number + 1, f"not a sound gzip file: {error}") from None


def _decoded_lines(
    stream: BinaryIO, name: str, encoding: str, skip: Skip | None, first: int = 1, at: int = 0
) -> Iterator[tuple[int, str]]:
    """`at`: how many bytes of the input lie before the stream."""
    for number, raw in _raw_lines(stream, name, first):
        at += len(raw)
        try:
            line = raw.decode(encoding)
        except UnicodeDecodeError as error:
            sample = raw if skip else raw + stream.read(_SAMPLE_SIZE)
            problem = _not_text(error, name, number, at - len(raw), sample)
            if skip is None:
                raise problem from None
            skip(problem)
            continue
        if number == 1:
            line = line.removeprefix("\ufeff")
        yield number, line.removesuffix("\n").removesuffix("\r")


def _wide_lines(stream: BinaryIO, name: str, encoding: str) -> Iterator[tuple[int, str]]:
    """For encodings such as UTF-16, where a newline is more than one byte."""
    number = 0
    text = io.TextIOWrapper(stream, encoding=encoding, newline="\n")
    try:
        for number, line in enumerate(text, start=1):
            yield number, line.removesuffix("\n").removesuffix("\r")
    except (UnicodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"this is not {encoding} text: {getattr(error, 'reason', error)}"
        raise DamagedFileError(name, number + 1, message) from None
    finally:
        text.detach()  # its owner closes the stream


def _not_text(error: UnicodeDecodeError, name: str, number: int, at: int, sample: bytes) -> CorpusError:
    byte = error.object[error.start]
    likely = likely_encoding(sample, error.encoding)
    hint = f"the file looks like {likely}: set the encoding to {likely}" if likely else "save it as UTF-8"
    message = (
        f"byte 0x{byte:02x} at column {error.start + 1} (byte {at + error.start} of the input) "
        f"is not {error.encoding} text"
    )
    return CorpusError(name, number, message, hint)


def _bad_character(line: str, name: str, number: int) -> CorpusError | None:
    if "\0" in line:
        hint = "the file may be UTF-16: set the encoding to utf-16, or save it as UTF-8"
        return CorpusError(name, number, "a NUL byte, which no text has", hint)
    if "\r" in line:
        hint = "the file may have line ends of one carriage return; save it with LF"
        return CorpusError(name, number, "a carriage return inside a line", hint)
    return None


@contextlib.contextmanager
def open_writer(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Iterator[Write]:
    """A function that writes text to the file.

    The file appears, or is replaced, only when the block ends without an error. A name that ends in .gz is
    packed; `-` is standard output.
    """
    check_encoding(encoding)
    name = "<stdout>" if os.fspath(path) == STANDARD_STREAM else os.fspath(path)
    try:
        with _naming(name), _open_target(path) as stream:
            encoder = codecs.getincrementalencoder(encoding)()
            yield lambda text: stream.write(encoder.encode(text))
    except UnicodeEncodeError as error:
        char = error.object[error.start]
        hint = "" if 0xD800 <= ord(char) < 0xE000 else "write it as utf-8"
        raise TextError(f"{name}: {char!r} cannot be written as {encoding}", hint) from None


@contextlib.contextmanager
def _naming(name: str) -> Iterator[None]:
    """Put the file's name into an error of the system that does not say which file it is about."""
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
    # No name and no time inside: the same corpus gives the same bytes.
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
    """A binary stream to a temporary neighbour of the file, which takes its name at the end."""
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
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def peek(lines: Iterator[tuple[int, str]], count: int) -> tuple[list[str], Iterator[tuple[int, str]]]:
    """The first lines that are not blank, and an iterator that still has them all."""
    seen: list[tuple[int, str]] = []
    found: list[str] = []
    for number, line in lines:
        seen.append((number, line))
        if line and not line.isspace():
            found.append(line)
            if len(found) == count:
                break
    return found, itertools.chain(seen, lines)

"""Writing corpus files, completely or not at all, and never over a file that is being read.

Only a run that is stopped by Ctrl-C leaves a part, under another name.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from duilian.atomic_files import replacing
from duilian.corpus.encodings import check_encoding
from duilian.corpus.files import STANDARD_STREAM, check_path, naming
from duilian.errors import ConfigError, TextError
from duilian.wording import counted

Write = Callable[[str], object]


def refuse_input(output: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to overwrite an input, even if it is given by another name."""
    if os.fspath(output) == STANDARD_STREAM or not os.path.isfile(output):
        return
    for path in inputs:
        if os.path.isfile(path) and os.path.samefile(path, output):
            raise ConfigError(
                f"{os.fspath(output)}: this file is also an input", "choose another output file"
            )


@contextlib.contextmanager
def open_writer(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Iterator[Write]:
    """Open a file and yield a function that writes text to it, one answer at a time.

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
        with naming(name), _open_target(path) as stream:
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
    name = part if Path(path).is_symlink() else f"{os.fspath(path)}.part"
    stop.add_note(
        f"{name} has the first {counted(written, 'answer')}; give the rest of the input to continue"
    )


def _part_of(target: Path) -> Path:
    """The name of a file while it is incomplete."""
    return target.with_name(f"{target.name}.part")


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
    """Open a file that appears at the end, or a pipe or device, which cannot be replaced."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        with open(target, "wb") as stream:
            yield stream
    else:
        with replacing(path, part=_part_of(target)) as stream:
            yield stream

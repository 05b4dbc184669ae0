"""Files that are complete or do not exist: written under a temporary name, then renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows has no locks, so leftovers of killed runs stay
    fcntl = None  # type: ignore[assignment]

_PREFIX, _SUFFIX = ".duilian-", ".tmp"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, part: Path | None = None) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` when the block ends, and is removed if it fails.

    After any failure, even a power cut, `path` is unchanged or complete. Links are followed, and a replaced
    file keeps its permissions. If the block is stopped by Ctrl-C, what was written becomes `part`, if given.
    """
    target = Path(os.path.realpath(path))
    mode = None
    with contextlib.suppress(FileNotFoundError):
        mode = target.stat().st_mode
    _remove_leftovers(target.parent)
    try:
        file = _new_file(target.parent)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    temporary = Path(file.name)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            if isinstance(error, KeyboardInterrupt) and part is not None:
                os.replace(temporary, part)
            else:
                temporary.unlink()
        # A failed write, as on a full disk, does not name its file.
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename = os.fspath(path)
        raise
    _sync_folder(target.parent)


def _new_file(folder: Path) -> BinaryIO:
    """A locked file under a temporary name.

    Until it is locked, another process may take it for a leftover of a killed run.
    """
    while True:
        # Not tempfile: its files are private, while this one gets the permissions of any new file.
        file = open(folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}", "xb")  # noqa: SIM115
        with contextlib.suppress(FileNotFoundError):
            if lock_file(file) is not False and os.path.samestat(os.fstat(file.fileno()), os.stat(file.name)):
                return file
        file.close()


def lock_file(file: IO[Any]) -> bool | None:
    """Mark a file as being written; False if another process has done so, None if files cannot be marked.

    The mark ends with the process.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _remove_leftovers(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if lock_file(file):
                    path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut. Not every file system can; the file is complete all the same."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

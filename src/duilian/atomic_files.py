"""Files that are complete or not there at all: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # no locks on Windows: what a killed run has left stays
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
    # Not tempfile: its files are private, while this one gets the permissions of any new file.
    temporary = target.with_name(f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")
    try:
        with open(temporary, "xb") as file:
            _lock(file)
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
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = os.fspath(path)
        raise
    _sync_folder(target.parent)


def _lock(file: BinaryIO) -> bool:
    """Mark a file as being written; False if another process has done so. The mark ends with the process."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # taken, or a file system without locks
        return False
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed runs have left."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if _lock(file):
                    path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut. Not every file system can; the file is complete all the same."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

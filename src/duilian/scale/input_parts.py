"""The inputs of a run: files, folders, patterns; each file is one part, and has one place in the output."""

from __future__ import annotations

import dataclasses
import glob
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

from duilian.errors import ConfigError, MissingFileError
from duilian.wording import counted

PartFormat = Literal["parquet", "jsonl", "csv", "text"]
PART_FORMATS: tuple[PartFormat, ...] = get_args(PartFormat)
ENDINGS: dict[str, PartFormat] = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "text",
    ".text": "text",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True)
class Part:
    """An input file: its path, its format, and its name in the output folder."""

    path: str
    name: str
    format: PartFormat
    compression: str | None

    @property
    def separator(self) -> str:
        return "\t" if Path(_without_compression(self.path)[0]).suffix.lower() == ".tsv" else ","


def find_parts(inputs: Sequence[str], format: PartFormat | None, output: Path) -> list[Part]:
    """Return the parts of all inputs, sorted by name; the folder `output` is skipped."""
    found = [part for each in inputs for part in _parts_of(each, format, output)]
    if not found:
        raise ConfigError(f"there are no files to read in {', '.join(inputs) or 'the input'}")
    owner: dict[str, Part] = {}
    for part in found:
        other = owner.setdefault(part.name, part)
        if os.path.realpath(other.path) != os.path.realpath(part.path):
            hint = "give their common parent folder"
            raise ConfigError(f"{other.path} and {part.path} would be the same part, {part.name}", hint)
    return sorted(owner.values(), key=lambda part: part.name)


def parts_of_list(paths: Iterable[str], format: PartFormat | None) -> list[Part]:
    """Return the parts that a list names, one path per line; part names omit the common folder."""
    files = [path for line in paths if (path := line.strip("\r\n"))]
    if not files:
        raise ConfigError("standard input lists no paths")
    for path in files:
        if not os.path.isfile(path):
            raise MissingFileError(path)
    above = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in files])
    parts = [_part(path, os.path.relpath(os.path.abspath(path), above), format) for path in files]
    return sorted({part.name: part for part in parts}.values(), key=lambda part: part.name)


def _parts_of(given: str, format: PartFormat | None, output: Path) -> Iterator[Part]:
    if os.path.isdir(given):
        yield from _parts_below(Path(given), format, output)
    elif os.path.exists(given):
        yield _part(given, os.path.basename(given), format)
    elif glob.has_magic(given):
        above = Path(given)
        while glob.has_magic(str(above)):
            above = above.parent
        for path in sorted(glob.glob(given, recursive=True)):
            if os.path.isfile(path) and not Path(path).resolve().is_relative_to(output.resolve()):
                yield _part(path, os.path.relpath(path, above), format)
    else:
        raise MissingFileError(given)


def _parts_below(folder: Path, format: PartFormat | None, output: Path) -> Iterator[Part]:
    """The files of a folder tree with a known extension; names that start with `.` or `_` are skipped."""
    unknown, own = 0, output.resolve()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name[0] not in "._" and Path(place, name).resolve() != own
        )
        for name in sorted(each for each in files if each[0] not in "._"):
            path = os.path.join(place, name)
            if format is None and _format_of(path) is None:
                unknown += 1
            else:
                yield _part(path, os.path.relpath(path, folder), format)
    if unknown:
        _log.warning("%s: skipped %s with an unknown extension", folder, counted(unknown, "file"))


def _part(path: str, name: str, format: PartFormat | None) -> Part:
    chosen = format or _format_of(path)
    if chosen is None:
        hint = f"give it with --format: {', '.join(PART_FORMATS)}"
        raise ConfigError(f"{path}: cannot tell the format from the file extension", hint)
    return Part(path, name, chosen, _without_compression(path)[1])


def _format_of(path: str) -> PartFormat | None:
    return ENDINGS.get(Path(_without_compression(path)[0]).suffix.lower())


def _without_compression(path: str) -> tuple[str, str | None]:
    ending = Path(path).suffix.lower()
    return (path[: -len(ending)], COMPRESSIONS[ending]) if ending in COMPRESSIONS else (path, None)

"""The record of a run: what it does, and which parts are finished.

The manifest is a file of JSON lines in the output folder. The first line says what all parts have in common;
every other line is a finished part, written and synced when the part's file is in place. A half-written line
of a killed run does not count: its part is analysed again.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from duilian.atomic_files import lock_file
from duilian.errors import ConfigError

MANIFEST = "_duilian.jsonl"

_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FinishedPart:
    part: str  # the name of the input below the common folder
    output: str
    bytes: int  # of the input; with `modified`, it identifies the file
    modified: int
    documents: int
    characters: int
    errors: int


_TYPES = {field.name: str(field.type) for field in dataclasses.fields(FinishedPart)}


class Manifest:
    """The manifest of an output folder, locked as long as it is open."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self._folder, self._identity = folder, dict(identity)
        self.finished: dict[str, FinishedPart] = {}
        self._file: IO[str] | None = None

    def open(self, *, resume: bool) -> None:
        """Lock the folder for this run; refuse a folder that belongs to another run."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / MANIFEST
        if not path.exists() and any(name for name in os.listdir(self._folder) if name[0] != "."):
            message = f"{self._folder}: this folder contains files that are not from a run"
            raise ConfigError(message, "choose an empty or new folder")
        file = open(path, "a+", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        try:
            is_ours = lock_file(file)
            if is_ours is False:
                raise ConfigError(
                    f"{self._folder}: another run is writing to this folder", "wait for it to end"
                )
            if is_ours is None:
                _log.warning("%s: this file system has no locks; start only one run", self._folder)
            file.seek(0)
            self._read(file.read().split("\n"), resume=resume)
            self._rewrite(file)
        except BaseException:
            file.close()
            raise
        self._file = file

    def add(self, part: FinishedPart) -> None:
        """Record a finished part."""
        assert self._file is not None
        self.finished[part.part] = part
        self._append(self._file, dataclasses.asdict(part))

    def close(self) -> None:
        """Unlock the folder."""
        if self._file is not None:
            self._file.close()

    def _read(self, lines: list[str], *, resume: bool) -> None:
        records = [found for line in lines[:-1] if (found := _record(line)) is not None]
        if not records:
            return
        old = records[0].get("run")
        old = old if isinstance(old, dict) else {}
        if resume:
            self._refuse_another_run(old)
        for part in filter(None, map(self._finished, records[1:])):
            if resume:
                self.finished[part.part] = part
            else:
                (self._folder / part.output).unlink(missing_ok=True)

    def _finished(self, record: Mapping[str, Any]) -> FinishedPart | None:
        """The part of a line, or None: its file must be inside the folder."""
        if {name: type(value).__name__ for name, value in record.items()} != _TYPES:
            return None
        part = FinishedPart(**record)
        try:
            place = (self._folder / part.output).resolve()
        except (OSError, ValueError, RuntimeError):  # a NUL character, circular links
            return None
        folder = self._folder.resolve()
        return part if place != folder and place.is_relative_to(folder) else None

    def _refuse_another_run(self, old: Mapping[str, Any]) -> None:
        names = sorted({*old, *self._identity})
        other = [
            f"{name} was {_short(old.get(name))} there, is {_short(self._identity.get(name))} here"
            for name in names
            if old.get(name) != self._identity.get(name)
        ]
        if other:
            message = f"{self._folder}: belongs to a different run: {'; '.join(other)}"
            raise ConfigError(message, "choose another folder, or start over with --no-resume")

    def _rewrite(self, file: IO[str]) -> None:
        """Begin the file, or drop what a killed run left at its end."""
        records = [{"run": self._identity}, *map(dataclasses.asdict, self.finished.values())]
        wanted = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
        file.seek(0)
        if file.read() != wanted:
            # In place, because this file is locked. If we are killed here, parts are analysed again.
            file.seek(0)
            file.truncate()
            for each in records:
                self._append(file, each)

    def _append(self, file: IO[str], record: Mapping[str, Any]) -> None:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _record(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:16] + "…" + text[-1]

"""Analyses many files into a folder, part by part; an interrupted run can always be resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from duilian.arguments import checked
from duilian.atomic_files import replacing
from duilian.errors import ConfigError, DuilianError
from duilian.scale.arrow_analyzer import ERROR, ArrowAnalyzer
from duilian.scale.input_parts import Part
from duilian.scale.manifest import FinishedPart, Manifest
from duilian.scale.part_readers import ReadBatch, part_columns, read_part
from duilian.scale.part_writers import OutputFormat, PartWriter, part_writer
from duilian.scale.text_column import TextColumn

_log = logging.getLogger("duilian")


class RunProgress(NamedTuple):
    """The progress of a run; parts finished by earlier runs count."""

    parts: int
    finished: int
    documents: int  # by this run
    characters: int
    errors: int
    share: float  # of the bytes that this run has to read
    seconds: float


class PartFailure(NamedTuple):
    """A part that cannot be read; it does not stop the others."""

    part: Part
    error: DuilianError | OSError


class FolderRun:
    """Analyses parts and writes one file for each to a folder, with a manifest.

    A part's file gets its name only when it is complete and on disk; parts finished by an interrupted run are
    skipped. Iterate to run it; `failures` has the parts that could not be read.

    >>> from duilian import Ask
    >>> from duilian.scale.input_parts import find_parts
    >>> _ = Path("texts.txt").write_text("我们去北京。\\n他来了。\\n")
    >>> analyze = ArrowAnalyzer(ask=Ask(standards=("pku",), trees=False))
    >>> run = FolderRun(find_parts(["texts.txt"], None, Path("out")), "out", analyze)
    >>> [each.documents for each in run][-1], run.failures
    (2, [])
    """

    @checked
    def __init__(
        self,
        parts: Sequence[Any],
        output: str | Path,
        analyze: Any,
        *,
        to: OutputFormat = "parquet",
        resume: bool = True,
    ) -> None:
        self._parts: list[Part] = list(parts)
        self._folder, self._analyze, self._to, self._resume = Path(output), analyze, to, resume
        self._manifest = Manifest(self._folder, _identity(analyze, to))
        self.failures: list[PartFailure] = []
        self._documents = self._characters = self._errors = 0
        self._start = time.monotonic()

    def __iter__(self) -> Iterator[RunProgress]:
        """Run, and yield the progress after every batch."""
        self._check_columns()
        self._manifest.open(resume=self._resume)
        try:
            waiting = [part for part in self._parts if not self._is_finished(part)]
            sizes = [_bytes_of(part) for part in waiting]
            done, total = 0.0, max(sum(sizes), 1)
            yield self._progress(0.0 if waiting else 1.0)
            for part, size in zip(waiting, sizes, strict=True):
                for share in self._run_part(part):
                    yield self._progress((done + share * size) / total)
                done += size
                yield self._progress(done / total)
        finally:
            self._manifest.close()

    def _check_columns(self) -> None:
        """Refuse unsuitable columns before anything is written; only one part is checked."""
        for part in self._parts:
            try:
                columns = part_columns(part, self._analyze.text)
            except (DuilianError, OSError):
                continue  # reported when this part is read
            try:
                self._analyze.schema(columns)
            except ConfigError as error:
                raise ConfigError(f"{part.path}: {error.message}", error.hint) from None
            return

    def _is_finished(self, part: Part) -> bool:
        found = self._manifest.finished.get(part.name)
        if found is None or not (self._folder / found.output).exists():
            return False
        if (found.bytes, found.modified) == _state(part):
            return True
        _log.warning("%s: has changed since it was analysed; analysing it again", part.path)
        return False

    def _run_part(self, part: Part) -> Iterator[float]:
        """Analyse a part and put its file in place; an unreadable part becomes a failure."""
        target = self._folder / self._output_name(part)
        target.parent.mkdir(parents=True, exist_ok=True)
        before = self._documents, self._characters, self._errors
        try:
            state = _state(part)
            with replacing(target) as file:
                yield from self._write(part, file)
            if _state(part) != state:
                target.unlink()
                raise ConfigError(f"{part.path}: changed while it was being read", "run again")
        except (DuilianError, OSError) as error:
            if isinstance(error, OSError) and error.filename == os.fspath(target):
                raise  # a full disk affects every part
            self.failures.append(PartFailure(part, error))
            self._documents, self._characters, self._errors = before
            return
        counts = (self._documents, self._characters, self._errors)
        documents, characters, errors = (now - old for now, old in zip(counts, before, strict=True))
        self._manifest.add(
            FinishedPart(
                part=part.name,
                output=str(target.relative_to(self._folder)),
                bytes=state[0],
                modified=state[1],
                documents=documents,
                characters=characters,
                errors=errors,
            )
        )

    def _write(self, part: Part, file: Any) -> Iterator[float]:
        writer: PartWriter | None = None
        try:
            for batch in read_part(part, self._analyze.text):
                if writer is None:
                    writer = part_writer(self._to, file, self._analyze.schema(batch.rows.schema))
                yield self._write_batch(batch, writer)
        except BaseException:
            if writer is not None:
                writer.drop()
            raise
        if writer is None:  # a part without rows
            writer = part_writer(self._to, file, self._analyze.schema(part_columns(part, self._analyze.text)))
        writer.close()

    def _write_batch(self, batch: ReadBatch, writer: PartWriter) -> float:
        """Analyse and write some rows; return which share of the part is done."""
        for found in self._analyze.parts(batch.rows, batch.errors):
            writer.write(found)
            self._documents += len(found)
            self._errors += len(found) - found.column(ERROR).null_count
        characters = TextColumn(batch.rows.column(self._analyze.text)).characters
        self._characters += int(characters[characters > 0].sum())
        return batch.share

    def _output_name(self, part: Part) -> str:
        ending = f".{self._to}"
        return part.name if part.name.endswith(ending) else part.name + ending

    def _progress(self, share: float) -> RunProgress:
        return RunProgress(
            len(self._parts),
            sum(part.name in self._manifest.finished for part in self._parts),
            self._documents,
            self._characters,
            self._errors,
            share,
            time.monotonic() - self._start,
        )


def _bytes_of(part: Part) -> int:
    """The size of a part, or 1 if it is empty or cannot be found: then it fails when it is read."""
    return max(os.path.getsize(part.path), 1) if os.path.exists(part.path) else 1


def _state(part: Part) -> tuple[int, int]:
    found = os.stat(part.path)
    return found.st_size, found.st_mtime_ns


def _identity(analyze: ArrowAnalyzer, to: OutputFormat) -> dict[str, Any]:
    """What all parts of a folder must share."""
    lexicon = Path(analyze.lexicon).read_text(encoding="utf-8") if analyze.lexicon else ""
    return {
        "version": analyze.place.version,
        "model": analyze.place.checksum,
        **dataclasses.asdict(analyze.ask),
        "standards": list(analyze.ask.standards),
        "lexicon": _fingerprint(lexicon),
        "lexicon_mode": analyze.lexicon_mode,
        "text": analyze.text,
        "columns": None if analyze.columns is None else list(analyze.columns),
        "max_characters": analyze.max_characters,
        "to": to,
    }


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""

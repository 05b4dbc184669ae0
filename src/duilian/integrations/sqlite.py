"""Chinese full-text search in SQLite: the tokenizer `duilian` of FTS5, a loadable extension without Python.

It segments text with the fast segmenter of a model, which SQLite reads from a separate file.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from duilian import _native
from duilian.arguments import checked
from duilian.atomic_files import replacing
from duilian.engine import load as load_analyzer
from duilian.engine.loading import find_model
from duilian.engine.planning import labeler_of
from duilian.errors import ConfigError
from duilian.modelfile import checksum_of
from duilian.models.crf.flat_file import flat_segmenter

EXTENSION = Path(_native.__file__).parent / "bundled" / "duilian_fts5.so"
"""The extension, for `SELECT load_extension(…)` or `.load` in the shell of SQLite."""


@checked
def export_segmenter(path: str | Path, model: str | Path | None = None) -> Path:
    """Write the fast segmenter of a model to a file for the extension; return its path.

    >>> export_segmenter("zh.segmenter").stat().st_size > 100_000
    True
    """
    segmenter = load_analyzer(model).segmenter
    if segmenter is None or labeler_of(segmenter).kind != "crf":
        raise ConfigError("this model has no fast segmenter", "train one with [segmenter]")
    with replacing(path) as file:
        file.write(flat_segmenter(labeler_of(segmenter)))  # type: ignore[arg-type]
    return Path(path)


def cached_segmenter(model: str | Path | None = None) -> Path:
    """Return the segmenter file of a model, written to the user's cache on first use."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(home) / "duilian" / f"{checksum_of(find_model(model))[:32]}.segmenter"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        export_segmenter(path, model)
    return path


def load(connection: sqlite3.Connection, model: str | Path | None = None) -> None:
    """Register the tokenizer `duilian` with a connection; tables that name no model use this one.

    >>> base = sqlite3.connect(":memory:")
    >>> load(base)
    >>> _ = base.execute("CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = 'duilian')")
    >>> _ = base.execute("INSERT INTO docs VALUES ('我们去北京。')")
    >>> base.execute("SELECT highlight(docs, 0, '[', ']') FROM docs('北京')").fetchall()
    [('我们去[北京]。',)]
    """
    if not hasattr(connection, "enable_load_extension"):
        hint = "use apsw (pip install apsw), or a Python built with --enable-loadable-sqlite-extensions"
        raise ConfigError("this Python's sqlite3 cannot load extensions", hint)
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(EXTENSION))
    finally:
        connection.enable_load_extension(False)
    connection.execute("SELECT duilian_model(?)", (str(cached_segmenter(model)),))

"""One analyser per process and model; the file is mapped, so processes share its memory."""

from __future__ import annotations

import logging
import os
import platform
import threading
from pathlib import Path
from typing import Any, NamedTuple

from duilian.engine import Analyzer, load
from duilian.engine.loading import find_model
from duilian.errors import ConfigError
from duilian.lexicon import Lexicon
from duilian.modelfile import checksum_of
from duilian.version import __version__

_log = logging.getLogger("duilian")
_lock = threading.Lock()
_analyzers: dict[ModelPlace, Analyzer] = {}
_loads = 0


class ModelPlace(NamedTuple):
    """The paths of a model and a lexicon, and what identifies them."""

    model: str  # a path, or "" for the bundled one
    checksum: str
    version: str  # of this package
    lexicon: str = ""
    lexicon_mode: str = "force"

    def find(self) -> Path:
        """Return the model's path on this machine."""
        return find_model(found_here(self.model))

    def analyzer(self) -> Analyzer:
        """Return the analyser, loaded once in this process."""
        global _loads
        with _lock:
            if self not in _analyzers:
                self._check()
                lexicon = None
                if self.lexicon:
                    mode: Any = self.lexicon_mode
                    lexicon = Lexicon.read(found_here(self.lexicon), mode=mode)
                _analyzers[self] = load(self.find(), lexicon=lexicon)
                _loads += 1
                _log.info("process %d has loaded %s", os.getpid(), self.model or "the bundled model")
            return _analyzers[self]

    def _check(self) -> None:
        if self.version != __version__:
            message = f"this worker has duilian {__version__}, but the job started with {self.version}"
            raise ConfigError(message, "install the same version everywhere")
        if self.model and not os.path.exists(found_here(self.model)):
            message = f"{self.model}: the job's model is not on this worker, {platform.node()}"
            raise ConfigError(message, "put it on every machine, or ship it with Spark's --files")
        path = self.find()
        if (own := checksum_of(path)) != self.checksum:
            message = f"{path}: a different model (checksum {own[:12]}) from the job's ({self.checksum[:12]})"
            raise ConfigError(message, "put the same model on every machine")


def place_of(model: str | None, lexicon: str | None = None, lexicon_mode: str = "force") -> ModelPlace:
    """Return the place of a model on this machine, for this and other processes."""
    path = find_model(model)
    name = "" if model is None or find_model(None) == path else str(model)
    return ModelPlace(name, checksum_of(path), __version__, lexicon or "", lexicon_mode)


def found_here(path: str) -> str:
    """Return the path of a file on a worker: as given, or where Spark puts files shipped with `--files`."""
    if path and not os.path.exists(path):
        try:
            from pyspark import SparkFiles
        except ImportError:
            return path
        shipped = _shipped(SparkFiles, os.path.basename(path))
        if shipped is not None:
            return shipped
    return path


def _shipped(files: Any, name: str) -> str | None:
    try:
        path: str = files.get(name)
    except Exception:  # whatever is raised if this process has no Spark
        return None
    return path if os.path.exists(path) else None


def loads() -> int:
    return _loads

"""Estimators that live in a model file: plain values in its header, arrays behind it, never code."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from duilian.errors import ConfigError, ModelFileError, TemplateError
from duilian.modelfile import read_model, write_model
from duilian.models.base.estimator import Estimator
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import Arrays as Arrays

Notes = Mapping[str, Any]


class Stored(Estimator, abc.ABC):
    """An estimator with a `state` that a file can keep, and `from_state` to make it again."""

    kind: ClassVar[str]
    notes_: dict[str, Any]

    @abc.abstractmethod
    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps: plain values with the key `kind`, and arrays."""

    @classmethod
    @abc.abstractmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The estimator again."""

    def save(self, path: str | Path, *, precision: Precision = "float32", notes: Notes | None = None) -> None:
        """Writes the tagger as one file; `precision` is that of the weights, `notes` goes into its header."""
        header, arrays = self.state(precision)
        write_model(path, {**header, "notes": dict(notes or {})}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A tagger from its file."""
        return cls.restored(path, *read_model(path))

    @classmethod
    def restored(cls, path: str | Path, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """A tagger from what was read from its file."""
        try:
            if header["kind"] != cls.kind:
                raise ModelFileError(str(path), f"is a model of kind {header['kind']!r}, not {cls.kind!r}")
            tagger = cls.from_state(header, arrays)
            tagger.remember(header["notes"])
        except (LookupError, TypeError, ValueError, ConfigError, TemplateError) as error:
            raise ModelFileError(str(path), f"the model's parts do not fit together ({error})") from None
        return tagger

    def remember(self, notes: dict[str, Any]) -> None:
        """Keep what the file says of where it comes from."""
        self.notes_ = notes

    def is_trained(self) -> bool:
        """Whether there is anything to keep."""
        return hasattr(self, "predictor_")

    def __getstate__(self) -> dict[str, Any]:
        """For joblib and multiprocessing: the parameters and, if trained, what a model file has."""
        return {
            "parameters": self.get_params(),
            "state": self.state() if self.is_trained() else None,
            "notes": getattr(self, "notes_", None),
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        if kept["state"] is None:
            self.__dict__.update(type(self)(**kept["parameters"]).__dict__)
        else:
            self.__dict__.update(type(self).from_state(*kept["state"]).__dict__)
        if kept["notes"] is not None:
            self.remember(kept["notes"])

"""scikit-learn's manners without scikit-learn: parameters by name, and what its tools ask of an estimator."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Self

from duilian.errors import ConfigError


class Estimator:
    """Parameters stand in the constructor and are kept under their names."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters by name."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise ConfigError(f"{type(self).__name__} has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        # Not a classifier in scikit-learn's sense: its answers are lists, which no stratified split can sort.
        tags = importlib.import_module("sklearn.utils")
        return tags.Tags(estimator_type=None, target_tags=tags.TargetTags(required=True))

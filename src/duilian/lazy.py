"""Names of a package that are imported when they are first asked for: `import duilian` stays quick."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazily(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """A `__getattr__` for a package: `homes` has modules, and the names that each gives to the package."""
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name in home:
            return getattr(importlib.import_module(home[name]), name)
        if not name.startswith("_"):  # a module of the package, as if it had been imported with it
            with contextlib.suppress(ModuleNotFoundError):
                return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find

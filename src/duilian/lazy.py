"""Code that is imported only on first use, so that `import duilian` stays fast: submodules and plug-ins."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def lazily(package: str, homes: Mapping[str, str | Iterable[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package; `homes` maps modules to the names they provide to it."""
    home = {
        name: module
        for module, names in homes.items()
        for name in (names.split() if isinstance(names, str) else names)
    }

    def find(name: str) -> Any:
        if name in home:
            return getattr(importlib.import_module(home[name]), name)
        if not name.startswith("_"):  # a submodule, as if it had been imported with the package
            with contextlib.suppress(ModuleNotFoundError):
                return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find


@functools.cache
def plugins(group: str, kind: type[T]) -> tuple[T, ...]:
    """Load the objects of one kind that installed packages offer in an entry-point group; log what fails."""
    import logging  # both are slow to import
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=group):
        try:
            loaded = point.load()
            if not isinstance(loaded, kind):
                raise TypeError(f"{point.value} must be of type {kind.__name__}, got {loaded!r}")
        except Exception as error:  # other people's code must not break ours
            logging.getLogger(__name__).warning("cannot load the plug-in %s: %s", point.name, error)
        else:
            found.append(loaded)
    return tuple(found)

"""Scripts of the repository as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

TOP = Path(__file__).parent.parent


def load_script(place: str) -> ModuleType:
    """Run a script, such as `tools/commands.py`, as a module of its name."""
    path = TOP / place
    spec = importlib.util.spec_from_file_location(f"{path.stem}_script", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found

"""Packages that only some tests need: a suite of its own, `nox -s integrations`."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import pytest


def needs(*names: str) -> Any:
    """Mark tests that are not run without these packages, unless DUILIAN_INTEGRATIONS=1 asks for all."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    reason = f"not run: {', '.join(missing)} not installed (nox -s integrations)"
    return pytest.mark.skipif(bool(missing) and not os.environ.get("DUILIAN_INTEGRATIONS"), reason=reason)

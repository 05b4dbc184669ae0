"""pyarrow, which the extra `scale` brings, or a sentence that says how to get it."""

from __future__ import annotations

from duilian.errors import ConfigError

try:
    import pyarrow as pa
except ImportError:
    raise ConfigError("this needs pyarrow", "pip install 'duilian[scale]'") from None

__all__ = ["pa"]

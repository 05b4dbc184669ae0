"""pyarrow, or an error that says how to install it (the extra `scale`)."""

from __future__ import annotations

from duilian.errors import ConfigError

try:
    import pyarrow as pa
except ImportError:
    raise ConfigError("this needs pyarrow", "pip install 'duilian[scale]'") from None

__all__ = ["pa"]

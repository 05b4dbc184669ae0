"""The analyser as an HTTP service with a web page; the extra `serve`.

A request goes `guard` (size, time, headers) ▶ `app` (routes) ▶ `work` (a queue, threads) ▶ `responder` (the
engine) and comes back as finished bytes. All analysis happens in the engine, and no text is logged.
"""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.serve.app import make_app
    from duilian.serve.limits import Limits
    from duilian.serve.server import run

__all__ = ["Limits", "make_app", "run"]

__getattr__ = lazily(
    __name__,
    {
        "duilian.serve.app": "make_app",
        "duilian.serve.limits": "Limits",
        "duilian.serve.server": "run",
    },
)

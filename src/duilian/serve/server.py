"""The service on a socket: closes slow and idle connections, answers accepted requests before it stops."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from duilian.errors import ConfigError
from duilian.serve.guard import SECURITY, Guard, error_body
from duilian.serve.limits import Limits

GRACE = 5.0  # seconds added to the time limit of answers when the service stops
KEEP_ALIVE = 5  # seconds between requests of a connection


def _protocol(limits: Limits) -> type[H11Protocol]:
    """A connection that must send valid headers in time; refused if there are too many connections."""

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._silence = self.loop.call_later(limits.seconds, self._end_if_silent)
            if len(self.connections) > limits.connections:
                self._refuse("503 Service Unavailable", "there are too many connections: try again later")

        def send_400_response(self, msg: str) -> None:
            self._refuse("400 Bad Request", "what arrived is not an HTTP request")

        def connection_lost(self, exc: Exception | None) -> None:
            self._silence.cancel()
            super().connection_lost(exc)

        def _end_if_silent(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()

        def _refuse(self, status: str, sentence: str) -> None:
            self.transport.write(_refusal(status, sentence))
            self.transport.close()

    return LimitedProtocol


def _refusal(status: str, sentence: str) -> bytes:
    """An answer to what is no request, or not yet one."""
    body = error_body(sentence)
    retry = ["Retry-After: 1"] if status.startswith("503") else []
    kind = ["Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close"]
    security = [f"{name}: {value}" for name, value in SECURITY.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *kind, *retry, *security, "", ""]).encode() + body


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, announce: Callable[[str], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._announce(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")


def run(
    app: Guard,
    limits: Limits,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    announce: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` receives the address. Port 0 picks a free port."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=_protocol(limits),
        ws="none",
        loop="asyncio",
        lifespan="on",
        access_log=False,
        proxy_headers=False,  # nobody asks where a request comes from
        log_config=None,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=round(limits.seconds + GRACE),
    )
    server = _Server(config, announce)
    # uvicorn raises the signal again when all requests are answered; then there is nothing left to stop.
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        asyncio.run(server.serve())
    except SystemExit:
        raise ConfigError(
            f"cannot listen on {host}:{port}", "is the port taken? choose another with --port"
        ) from None
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if not server.started:
        raise ConfigError(f"cannot listen on {host}:{port}", "is the port taken? choose another with --port")

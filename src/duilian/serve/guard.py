"""The outermost layer of a service: limits requests, adds security headers, counts, and logs no text.

It reads the whole body before anything else sees the request, so slow or large requests take neither a thread
nor a place in the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from duilian.serve.limits import Limits, RefusedError, SlowBodyError, TooLargeError, UnavailableError
from duilian.serve.metrics import Metrics

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
HEADERS = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
FAILED = "the service failed: this is a bug, please report it"
DISCARDED = 32  # times the maximum size: how much of a larger body is read and discarded
BODIES_AT_ONCE = 64  # of maximum size, held in memory while they arrive

_log = logging.getLogger("duilian.serve")


class AbortedError(Exception):
    """The client went away before its request was complete."""


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: App, limits: Limits, metrics: Metrics, known: frozenset[str]) -> None:
        self._app, self._limits, self._metrics, self._known = app, limits, metrics, known
        self._held = 0  # bytes of bodies that are arriving

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; life-cycle events pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            await self._answer(scope, receive, guarded)
        except AbortedError:
            status = 499  # as nginx counts it
        except Exception as error:
            _log_without_text(error)
            if not status:
                await refuse(guarded, 500, FAILED)
        finally:
            path = scope["path"] if scope["path"] in self._known else "other"
            self._metrics.count(path, status or 500, time.perf_counter() - start)

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            body = await self._body(scope, receive)
        except RefusedError as error:
            if isinstance(error, TooLargeError) and not _waits_to_send(scope):
                await self._discard(receive)
            await refuse(send, error.status, error.message, close=True)
            return
        replayed = False

        async def receive_again() -> Message:
            nonlocal replayed
            if replayed:
                return await receive()  # returns when the client disconnects
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive_again, send)

    async def _body(self, scope: Message, receive: Receive) -> bytes:
        """Read the whole body, if it is small enough and arrives in time."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared) > self._limits.body:
            raise self._too_large()
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise AbortedError
                    chunk = message.get("body", b"")
                    size += len(chunk)
                    self._held += len(chunk)
                    chunks.append(chunk)
                    if size > self._limits.body:
                        raise self._too_large()
                    if self._held > BODIES_AT_ONCE * self._limits.body:
                        raise UnavailableError("too many large requests are arriving: try again later")
                    if not message.get("more_body", False):
                        return b"".join(chunks)
        except TimeoutError:
            seconds = f"{self._limits.seconds:g} seconds"
            raise SlowBodyError(f"the request did not arrive within {seconds}") from None
        finally:
            self._held -= size

    async def _discard(self, receive: Receive) -> None:
        """Read on, within limits, so that a client that is still sending can see the error."""
        left = DISCARDED * self._limits.body
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.seconds):
                while left > 0:
                    message = await receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"the request is larger than {self._limits.body:,} bytes")


def _waits_to_send(scope: Message) -> bool:
    """Whether the client waits for permission to send the body."""
    return any(name == b"expect" for name, _ in scope["headers"])


async def refuse(send: Send, status: int, sentence: str, *, close: bool = False) -> None:
    body = error_body(sentence)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if close:  # the rest of the body would be taken for the next request
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def error_body(sentence: str, hint: str = "") -> bytes:
    """An error as JSON: one sentence, and perhaps a hint."""
    found = {"error": sentence} | ({"hint": hint} if hint else {})
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")


def _log_without_text(error: BaseException) -> None:
    """Log where an exception was raised, but not its message, which may quote the user's text."""
    _log.error("%s in a request:\n%s", type(error).__name__, "".join(_places(error)))


def _places(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__)[-12:]:
        yield f"  {frame.filename}:{frame.lineno} in {frame.name}\n"

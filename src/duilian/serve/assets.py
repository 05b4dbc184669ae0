"""The page and its parts, read once and kept in memory."""

from __future__ import annotations

import gzip
import hashlib
from importlib import resources
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.responses import Response

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
CACHING = "no-cache"  # browsers keep it, but ask each time whether it has changed
INDEX = "index.html"


class Asset(NamedTuple):
    content: bytes
    packed: bytes
    type: str
    tag: str  # changes with the content

    def response(self, request: Request) -> Response:
        """Answer with the file, or with 304 if the browser already has it."""
        headers = {"ETag": self.tag, "Cache-Control": CACHING, "Vary": "Accept-Encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(self.packed, headers=headers, media_type=self.type)
        return Response(self.content, headers=headers, media_type=self.type)


def load_assets() -> dict[str, Asset]:
    found = {}
    for file in resources.files("duilian.serve").joinpath("page").iterdir():
        kind = file.name.rpartition(".")[2]
        if kind in TYPES:
            content = file.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            found[file.name] = Asset(content, gzip.compress(content, 9, mtime=0), TYPES[kind], tag)
    return found


def add_page(app: FastAPI) -> None:
    """Serve the page at `/`, and its parts beside it."""

    def add(path: str, asset: Asset) -> None:
        @app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
        async def page(request: Request) -> Response:
            return asset.response(request)

    for name, asset in load_assets().items():
        add("/" if name == INDEX else f"/page/{name}", asset)

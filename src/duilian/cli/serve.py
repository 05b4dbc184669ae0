"""`duilian serve`: the analyser as an HTTP service, with a page."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from duilian.engine import Analyzer, find_model, load
from duilian.engine.loading import BUNDLED_NAME
from duilian.errors import ConfigError
from duilian.serve.limits import Limits

EXAMPLE = "Example:\n\n    duilian serve --port 8000"
DEFAULT = Limits(work=1)  # work depends on the machine


@dataclasses.dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """The limits of the service."""

    body: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum request size, in bytes.")] = (
        DEFAULT.body
    )
    characters: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of characters per request.")
    ] = DEFAULT.characters
    sentences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of sentences per request.")
    ] = DEFAULT.sentences
    nbest: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum length of an n-best list.")] = (
        DEFAULT.nbest
    )
    nbest_characters: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Maximum number of characters per request for n-best lists."),
    ] = DEFAULT.nbest_characters
    user_words: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of user words per request.")
    ] = DEFAULT.user_words
    seconds: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="N", help="Time limit for receiving a request, and for answering it, in seconds."
        ),
    ] = DEFAULT.seconds
    work: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum number of accepted requests during lasting overload (default: 2 per core).",
        ),
    ] = None
    queue: Annotated[
        int, typer.Option(min=1, metavar="N", help="Further requests that may wait during a short burst.")
    ] = DEFAULT.queue
    connections: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of open connections.")
    ] = DEFAULT.connections

    def chosen(self) -> Limits:
        """The limits, with the usual one where none was chosen."""
        return Limits(**{name: value for name, value in vars(self).items() if value is not None})


def command(
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="A model; may be repeated, the first is the default."),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one.")
    ] = 8000,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="Origin allowed to call the service from a browser; may be repeated."
        ),
    ] = None,
    *,
    limits: LimitOptions,
) -> None:
    """Serve the analyser over HTTP, with a web page at /.

    The API returns words, tags, trees, conversions and evaluations as JSON; /openapi.json describes it. The
    text of requests is never logged. On Ctrl-C or SIGTERM, the server answers accepted requests, then stops.
    """
    chosen = limits.chosen()
    models = _loaded([_named(each) for each in model or [BUNDLED_NAME]])
    from duilian.serve.app import make_app
    from duilian.serve.server import run

    app = make_app(models, chosen, origins=cors or ())
    try:
        run(app, chosen, host=host, port=port, announce=_announce)
    finally:
        gc.unfreeze()


def _loaded(paths: list[tuple[str, Path]]) -> Mapping[str, Analyzer]:
    """Load the models and, at the same time, the libraries of the service: each takes half a second.

    Nothing loaded here is ever freed, so the garbage collector need not scan it.
    """
    gc.disable()
    try:
        with ThreadPoolExecutor(1) as beside:
            libraries = beside.submit(_import_libraries)
            models = {name: load(path) for name, path in paths}
            libraries.result()
    finally:
        gc.freeze()
        gc.enable()
    return models


def _import_libraries() -> None:
    try:
        import duilian.serve.app
        import duilian.serve.server  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("duilian"):
            raise
        raise ConfigError(f"{error.name} is not installed", "run: pip install 'duilian[serve]'") from None


def _named(model: str) -> tuple[str, Path]:
    """Name and file of a model; the name defaults to that of the file."""
    name, equals, path = model.partition("=")
    if not equals:
        name, path = "" if model == BUNDLED_NAME else Path(model).stem, model
    return name or BUNDLED_NAME, find_model(path)


def _announce(address: str) -> None:
    typer.echo(f"duilian: listening on {address} (Ctrl-C stops it)", err=True)

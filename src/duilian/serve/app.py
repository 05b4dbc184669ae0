"""The routes of a service: JSON in, finished bytes out. Slow work runs in threads."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route

from duilian.engine import Analyzer
from duilian.errors import DuilianError
from duilian.serve import catalogue
from duilian.serve.assets import add_page
from duilian.serve.description import describe
from duilian.serve.guard import FAILED, Guard, error_body
from duilian.serve.limits import BusyError, Limits, RefusedError
from duilian.serve.metrics import Metrics
from duilian.serve.questions import (
    Analyses,
    Analyze,
    Convert,
    Converted,
    Error,
    Evaluate,
    Health,
    Segment,
    SegmentedTexts,
)
from duilian.serve.responder import Responder
from duilian.serve.work import Answering, WorkQueue
from duilian.version import __version__

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "The body is not JSON."},
    404: {"model": Error, "description": "There is no such page or tag."},
    408: {"model": Error, "description": "The request arrived too slowly."},
    413: {"model": Error, "description": "The body is too large."},
    422: {"model": Error, "description": "A field is wrong, or there is too much text."},
    429: {"model": Error, "description": "Too many requests are waiting; see Retry-After."},
    503: {"model": Error, "description": "The answer took too long, or the service is stopping."},
}
FORMS = {"application/json": {}, "text/plain": {"schema": {"type": "string"}}}
DESCRIPTION = "Words, tags and trees of Chinese text, in several annotation standards at once."
JSON, PLAIN = "application/json", "text/plain; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
Tag = Annotated[str | None, Query(description="A tag, relation or label.", examples=["ns"])]
TagStandard = Annotated[str | None, Query(description="Only this standard.", examples=["pku"])]


class QuestionRoute(APIRoute):
    """Reads a valid question natively; FastAPI, which takes longer, says what is wrong with the others."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the way that a request takes."""
        slowly = super().get_route_handler()
        kind: Any = self.body_field and self.body_field.field_info.annotation
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            return slowly

        async def handler(request: Request) -> Response:
            if request.headers.get("content-type") != JSON:
                return await slowly(request)
            try:
                question = kind.model_validate_json(await request.body())
            except ValidationError:
                return await slowly(request)
            answer: Response = await self.endpoint(question)
            return answer

        return handler


class Service:
    """The parts of a running service."""

    def __init__(self, models: Mapping[str, Analyzer], limits: Limits) -> None:
        self.limits, self.metrics = limits, Metrics()
        self.answers, self.queue = Responder(models, limits), WorkQueue(limits)
        self.is_stopping = False

    @contextlib.asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Start the threads; at the end, answer all accepted requests."""
        self.is_stopping = False
        self.queue.start()
        yield
        self.is_stopping = True
        self.queue.close()

    def gauges(self) -> dict[str, tuple[str, float]]:
        """The current values for /metrics."""
        return {
            "waiting": ("Requests waiting in the queue.", self.queue.waiting),
            "in_work": ("Requests being answered.", self.queue.in_work),
            "engine_calls_total": (
                "Calls to the engine so far; one call may answer several requests.",
                self.queue.batches,
            ),
        }


def make_app(
    models: Mapping[str, Analyzer], limits: Limits | None = None, *, origins: Sequence[str] = ()
) -> Guard:
    """Build the service as an ASGI application; `origins` are the sites whose pages may use it."""
    service = Service(models, limits or Limits())
    app = FastAPI(
        title="Duilian",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,  # that page would load scripts from another server
        redoc_url=None,
        lifespan=service.lifespan,
    )
    app.router.route_class = QuestionRoute
    _add_questions(app, service)
    _add_facts(app, service)
    add_page(app)
    describe(app, models, service.limits)
    app.add_exception_handler(DuilianError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _failed)
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    known = frozenset(route.path for route in app.routes if isinstance(route, Route | Mount))
    return Guard(app, service.limits, service.metrics, known)


def _add_questions(app: FastAPI, service: Service) -> None:
    answers, queue = service.answers, service.queue

    async def answered(answering: Answering, subject: Any, size: int, question: Hashable = None) -> bytes:
        service.metrics.characters += size
        body: bytes = await queue.answer(answering, subject, question=question, size=size)
        return body

    analyses: dict[int | str, dict[str, Any]] = {200: {"model": Analyses, "content": FORMS}}

    @app.post("/analyze", responses=ERRORS | analyses, summary="Words, tags and trees")
    async def analyze(question: Analyze) -> Response:
        wanted, (texts, size) = answers.wanted(question), answers.texts(question.text)
        answers.check_nbest(wanted.nbest, size)
        body = await answered(answers.analyze, texts, size, wanted)
        return Response(body, media_type=JSON if question.to == "json" else PLAIN)

    @app.post("/segment", responses=ERRORS, response_model=SegmentedTexts, summary="Words only")
    async def segment(question: Segment) -> Response:
        wanted, (texts, size) = answers.wanted_words(question), answers.texts(question.text)
        return Response(await answered(answers.segment, texts, size, wanted), media_type=JSON)

    @app.post("/convert", responses=ERRORS, response_model=Converted, summary="From one standard to another")
    async def convert(question: Convert) -> Response:
        size = answers.check_pasted(question.text)
        return Response(await answered(answers.convert, question, size), media_type=JSON)

    @app.post("/evaluate", responses=ERRORS, response_model=dict[str, Any], summary="Scores on pasted gold")
    async def evaluate(question: Evaluate) -> Response:
        size = answers.check_pasted(question.gold)
        return Response(await answered(answers.evaluate, question, size), media_type=JSON)


def _add_facts(app: FastAPI, service: Service) -> None:
    models = service.answers.models
    standards = catalogue.standards(models)

    @app.get("/models", summary="The models of this service")
    async def list_models() -> dict[str, Any]:
        return {"models": catalogue.models(models), "limits": catalogue.limits(service.limits)}

    @app.get("/standards", summary="The standards of the models, with the meaning of their tags")
    async def list_standards() -> dict[str, Any]:
        return {"standards": standards}

    @app.get("/explain", responses={404: ERRORS[404], 422: ERRORS[422]}, summary="What tags mean")
    async def explain(tag: Tag = None, standard: TagStandard = None) -> dict[str, Any]:
        return {"explanations": catalogue.explained(tag, standard)}

    @app.get("/health", responses={503: {"model": Health}}, summary="Whether the service answers")
    async def health(response: Response) -> Health:
        response.status_code = 503 if service.is_stopping else 200
        return Health(status="stopping" if service.is_stopping else "ok", version=__version__)

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counters for Prometheus")
    async def metrics() -> Response:
        return PlainTextResponse(service.metrics.text(service.gauges()), media_type=PROMETHEUS)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, DuilianError)
    status = error.status if isinstance(error, RefusedError) else 422
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, BusyError) else {}
    return _error(status, error.message, error.hint, headers)


async def _invalid(_: Request, error: Exception) -> Response:
    """Describe the first wrong field."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] in ("json_invalid", "json_type"):
        return _error(400, "the body is not valid JSON")
    # List indices and members of unions mean nothing to people.
    place = next((str(each) for each in first["loc"][1:] if isinstance(each, str)), "")
    if first["type"] == "extra_forbidden":
        return _error(422, f"there is no field {place!r}")
    if not place:
        return _error(422, "the body must be a JSON object, sent as Content-Type: application/json")
    message = str(first["msg"])
    return _error(422, f"{place}: {message[:1].lower()}{message[1:]}")


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {
        400: "the body is not valid JSON in UTF-8, or nested too deeply",
        404: "there is no such page",
        405: "this path does not take this method; use POST to send text, GET to read",
    }
    headers = dict(error.headers or {})
    return _error(error.status_code, sentences.get(error.status_code, str(error.detail)), headers=headers)


async def _failed(_: Request, error: Exception) -> Response:
    return _error(500, FAILED)  # the guard logs it


def _error(status: int, sentence: str, hint: str = "", headers: dict[str, str] | None = None) -> Response:
    return Response(error_body(sentence, hint), status, headers, media_type=JSON)

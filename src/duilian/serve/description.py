"""The OpenAPI description, narrowed to what this service accepts: its models, standards, tags and limits.

`questions` declares requests for any model; clients and tests generated from this description should also
know which names and sizes will be refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI

from duilian.engine import Analyzer
from duilian.models.offers import conversions_of
from duilian.serve.limits import Limits
from duilian.serve.questions import ANNOTATED
from duilian.standards import universal_of
from duilian.standards.explanation import explained_standards

Schema = dict[str, Any]


def describe(app: FastAPI, models: Mapping[str, Analyzer], limits: Limits) -> None:
    """Add the names and limits of this service to the application's description."""
    general = app.openapi

    def openapi() -> Schema:
        if app.openapi_schema is None:
            _narrow(general(), models, limits)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _narrow(description: Schema, models: Mapping[str, Analyzer], limits: Limits) -> None:
    fields = {name: each["properties"] for name, each in description["components"]["schemas"].items()}
    standards = dict.fromkeys(name for each in models.values() for name in each.standards)
    for question in ("Analyze", "Segment", "Convert", "Evaluate"):
        _choose(fields[question]["model"], models)
    for question in ("Segment", "Evaluate"):
        _choose(fields[question]["standard"], standards)
    _choose(fields["Analyze"]["standards"]["items"], standards)
    _choose(fields["UserWord"]["tags"]["items"], _tags(models))
    _limit_texts(fields, limits)
    conversions = [pair for each in models.values() for pair in conversions_of(each.model)]
    _choose(fields["Convert"]["from"], dict.fromkeys(a for a, _ in conversions))
    _choose(fields["Convert"]["to"], dict.fromkeys(b for _, b in conversions))
    example = next((pair for pair in conversions if pair[0] == "pku"), None)
    description["components"]["schemas"]["Convert"]["examples"] = (
        [{"text": ANNOTATED, "from": example[0], "to": example[1]}] if example else []
    )
    for parameter in description["paths"]["/explain"]["get"]["parameters"]:
        if parameter["name"] == "standard":
            _choose(parameter["schema"], explained_standards())


def _tags(models: Mapping[str, Analyzer]) -> Sequence[str]:
    labelers = {each.labeler: each.standards for each in models.values()}
    tags = (each.encoding(name).tags or () for each, names in labelers.items() for name in names)
    found = {str(tag) for each in tags for tag in each}
    return sorted(found | {universal_of(tag) for tag in found})


def _limit_texts(fields: Mapping[str, Schema], limits: Limits) -> None:
    for question, field in (
        ("Analyze", "text"),
        ("Segment", "text"),
        ("Convert", "text"),
        ("Evaluate", "gold"),
    ):
        for each in _kinds(fields[question][field]):
            if each["type"] == "array":
                each["maxItems"] = limits.sentences
            else:
                each["maxLength"] = limits.characters
    fields["Analyze"]["nbest"]["maximum"] = limits.nbest
    fields["Analyze"]["words"]["maxItems"] = limits.user_words


def _choose(schema: Schema, names: Iterable[str]) -> None:
    """Allow only these names, and null where it was allowed."""
    for each in _kinds(schema):
        if each["type"] == "string":
            each["enum"] = list(names)


def _kinds(schema: Schema) -> Sequence[Schema]:
    found: Sequence[Schema] = schema.get("anyOf", [schema])
    return found

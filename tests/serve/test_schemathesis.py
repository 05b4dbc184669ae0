"""Requests that schemathesis makes from the description of the service: no crash, nothing undescribed.

A few by default, if the package is there; `nox -s schemathesis` makes 200 for each path.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import duilian as dl
from duilian.serve import Limits, make_app

EXAMPLES = os.environ.get("DUILIAN_SCHEMATHESIS")
schemathesis: Any = pytest.importorskip(
    "schemathesis", reason="not run: schemathesis not installed (nox -s schemathesis)"
)

PATHS = (
    "/analyze",
    "/segment",
    "/convert",
    "/evaluate",
    "/models",
    "/standards",
    "/explain",
    "/health",
    "/metrics",
)


@pytest.fixture(scope="module")
def description(zh: dl.Analyzer) -> Any:
    """The limit of bytes is so large that a text with too many characters is refused for those, with 422."""
    service = make_app({"bundled": zh}, Limits(body=10_000_000))
    return schemathesis.openapi.from_asgi("/openapi.json", service)


def has_more_to_it(case: Any) -> bool:
    """Whether a request may be refused for what no schema can say: its text is not annotated, the fast
    segmenter does not know the standard, or a word has two weights.
    """
    asked = case.body if isinstance(case.body, dict) else {}
    has_many_words = "words" in asked and len(asked["words"]) > 1
    return case.path in ("/convert", "/evaluate") or "fast" in asked or has_many_words


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("path", PATHS)
def test_answers_are_as_described(description: Any, path: str, mode: str) -> None:
    accepted = schemathesis.specs.openapi.checks.positive_data_acceptance
    ((_, operation),) = description[path].items()
    if mode == "NEGATIVE" and not (operation.body or operation.query):
        return  # nothing can be wrong
    cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode])

    @settings(
        max_examples=int(EXAMPLES or 5),
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def ask(case: Any) -> None:
        is_refusable = mode == "POSITIVE" and has_more_to_it(case)
        case.call_and_validate(excluded_checks=[accepted] if is_refusable else [])

    ask()


def test_every_path_is_asked(description: Any) -> None:
    assert set(description) == set(PATHS)

"""A service around the bundled model, without a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

import duilian as dl
from duilian.serve import Limits, make_app


@pytest.fixture(scope="session")
def zh() -> dl.Analyzer:
    return dl.load()


@pytest.fixture(scope="session")
def client(zh: dl.Analyzer) -> Iterator[TestClient]:
    with TestClient(make_app({"bundled": zh}), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def limited(zh: dl.Analyzer) -> Iterator[Callable[..., TestClient]]:
    """A client of a service with limits of its own."""
    opened: list[TestClient] = []

    def make(**limits: float) -> TestClient:
        client = TestClient(make_app({"bundled": zh}, Limits(**limits)), raise_server_exceptions=False)  # type: ignore[arg-type]
        client.__enter__()
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)

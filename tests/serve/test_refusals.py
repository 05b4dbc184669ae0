"""Every limit, and every kind of bad request, has its status and one sentence."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

import duilian as dl
from duilian.serve import Limits, make_app
from duilian.serve.guard import Guard
from duilian.serve.metrics import Metrics
from duilian.serve.responder import Responder

SECRET = "王小明的秘密"


def refused(answer: Any, status: int, sentence: str) -> None:
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert sentence in error
    assert "\n" not in error
    assert not error.endswith(".")


class TestLimits:
    def test_a_body_that_says_it_is_too_large(self, limited: Callable[..., TestClient]) -> None:
        answer = limited(body=100).post("/segment", json={"text": "好" * 100})
        refused(answer, 413, "larger than 100 bytes")
        assert answer.headers["connection"] == "close"

    def test_a_body_that_grows_too_large(self, limited: Callable[..., TestClient]) -> None:
        sent = []

        def chunks() -> Iterator[bytes]:
            for _ in range(50):
                sent.append(1)
                yield b" " * 30

        refused(limited(body=100).post("/segment", content=chunks()), 413, "larger than 100 bytes")

    def test_characters(self, limited: Callable[..., TestClient]) -> None:
        client = limited(characters=5)
        refused(
            client.post("/analyze", json={"text": ["你好吗", "我很好"]}), 422, "6 characters, more than 5"
        )
        for path, field in (("/convert", "text"), ("/evaluate", "gold")):
            extra = {"from": "pku", "to": "x"} if path == "/convert" else {}
            refused(client.post(path, json={field: "你/r好/a", **extra}), 422, "more than 5")

    def test_sentences(self, limited: Callable[..., TestClient], zh: dl.Analyzer) -> None:
        client = limited(sentences=2)
        refused(client.post("/segment", json={"text": "好。好。好。"}), 422, "more than 2 sentences")
        refused(client.post("/segment", json={"text": ["", "", ""]}), 422, "more than 2 texts")
        (other,) = (name for name in zh.standards if name != "pku")
        pasted = "好/a\n" * 3
        refused(
            client.post("/convert", json={"text": pasted, "from": "pku", "to": other}),
            422,
            "more than 2 sentences",
        )
        refused(client.post("/evaluate", json={"gold": pasted, "standard": "pku"}), 422, "more than 2")

    def test_n_best(self, limited: Callable[..., TestClient]) -> None:
        client = limited(nbest=3, nbest_characters=4)
        refused(client.post("/analyze", json={"text": "好", "nbest": 4}), 422, "nbest is more than 3")
        refused(
            client.post("/analyze", json={"text": "你好你好吗", "nbest": 2}), 422, "limited to 4 characters"
        )
        assert client.post("/analyze", json={"text": "你好", "nbest": 2}).status_code == 200

    def test_words_of_ones_own(self, limited: Callable[..., TestClient]) -> None:
        answer = limited(user_words=1).post("/analyze", json={"text": "好", "words": ["好", "坏"]})
        refused(answer, 422, "more than 1 user words")
        answer = limited().post("/analyze", json={"text": "好", "words": ["好" * 101]})
        refused(answer, 422, "a user word has more than 100 characters")

    def test_time(self, limited: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Responder, "segment", lambda *_: time.sleep(0.4) or [b"{}"])
        refused(limited(seconds=0.1).post("/segment", json={"text": "好"}), 503, "more than 0.1 seconds")

    @pytest.mark.parametrize("field", ["body", "seconds", "queue"])
    def test_a_limit_is_more_than_nothing(self, field: str) -> None:
        with pytest.raises(dl.DuilianError, match=f"{field} must be more than 0, got 0"):
            Limits(**{field: 0})


class TestBadRequests:
    @pytest.mark.parametrize(
        ("body", "status", "sentence"),
        [
            (b"", 422, "must be a JSON object"),
            (b"{", 400, "not valid JSON"),
            (b'{"text": "\xff\xfe"}', 400, "not valid JSON"),
            (b"[" * 100_000, 400, "not valid JSON"),
            (b'{"text":' * 20_000, 400, "not valid JSON"),
            (b"[]", 422, "must be a JSON object"),
            (b'"text"', 422, "must be a JSON object"),
            (b"{}", 422, "text: field required"),
            (b'{"text": 1}', 422, "text: "),
            (b'{"text": [1]}', 422, "text: "),
            (b'{"text": "x", "standards": "pku"}', 422, "standards: "),
            (b'{"text": "x", "standards": ["nonsense"]}', 422, "nonsense"),
            (b'{"text": "x", "trees": "yes"}', 422, "trees: "),
            (b'{"text": "x", "nbest": 0}', 422, "nbest: "),
            (b'{"text": "x", "tree": true}', 422, "there is no field 'tree'"),
            (b'{"text": "x", "model": "y"}', 422, "unknown model 'y'"),
            (b'{"text": "\\ud800"}', 422, "surrogate"),
            (b'{"text": "x", "words": [""]}', 422, ""),
            (b'{"text": "x", "words": [{"word": "x", "tags": ["nonsense"]}]}', 422, "nonsense"),
            (b'{"text": "x", "words": [{"word": "x", "weight": NaN}]}', 422, ""),
        ],
    )
    def test_the_sentence_says_what_is_wrong(
        self, client: TestClient, body: bytes, status: int, sentence: str
    ) -> None:
        answer = client.post("/analyze", content=body, headers={"content-type": "application/json"})
        refused(answer, status, sentence)

    @pytest.mark.parametrize("question", [{"text": "\ud800"}, {"text": "x", "words": ["a b"]}])
    def test_hints_are_for_who_sends_requests(self, client: TestClient, question: dict[str, Any]) -> None:
        body = json.dumps(question).encode()
        said = client.post("/analyze", content=body, headers={"content-type": "application/json"}).json()
        assert not set(re.findall(r"errors=|tabs|line", said.get("hint", "")))

    def test_unknown_pages_and_methods(self, client: TestClient) -> None:
        refused(client.get("/nothing"), 404, "there is no such page")
        refused(client.get("/analyze"), 405, "does not take this method")
        refused(client.get("/page/../../pyproject.toml"), 404, "there is no such page")

    def test_a_bug_is_not_the_users_fault(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError(SECRET)

        monkeypatch.setattr(Responder, "segment", fail)
        with caplog.at_level(logging.DEBUG):
            refused(client.post("/segment", json={"text": SECRET}), 500, "this is a bug")
        assert "ZeroDivisionError" in caplog.text
        assert SECRET not in caplog.text


def test_text_is_never_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        client.post("/analyze", json={"text": SECRET})
        client.post("/analyze", json={"text": SECRET, "standards": [SECRET]})
        client.post("/analyze", content=SECRET.encode()[:-1])
    assert SECRET not in caplog.text


class TestArrival:
    """Bodies that arrive in ways that a test client does not offer."""

    @staticmethod
    def guarded(messages: list[dict[str, Any]], limits: Limits) -> list[dict[str, Any]]:
        """What a guard sends if it receives only these messages."""
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not messages:
                await asyncio.sleep(60)
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        async def app(*_: object) -> None:
            raise AssertionError("the request was not complete")

        scope = {"type": "http", "path": "/analyze", "method": "POST", "headers": []}
        asyncio.run(Guard(app, limits, Metrics(), frozenset())(scope, receive, send))
        return sent

    def test_a_slow_body(self) -> None:
        start, body = self.guarded(
            [{"type": "http.request", "body": b"{", "more_body": True}], Limits(seconds=0.05)
        )
        assert start["status"] == 408
        assert "did not arrive within 0.05 seconds" in body["body"].decode()

    def test_an_aborted_request(self) -> None:
        messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
        assert self.guarded(messages, Limits()) == []


class TestHeaders:
    def test_they_are_on_every_answer(self, client: TestClient) -> None:
        for answer in (client.get("/"), client.get("/health"), client.get("/nothing")):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"

    def test_other_sites_are_not_welcome(self, client: TestClient) -> None:
        answer = client.get("/health", headers={"origin": "https://example.org"})
        assert "access-control-allow-origin" not in answer.headers

    def test_unless_told(self, zh: dl.Analyzer) -> None:
        with TestClient(make_app({"zh": zh}, origins=["https://example.org"])) as client:
            for origin, allowed in {
                "https://example.org": "https://example.org",
                "https://b.org": None,
            }.items():
                answer = client.get("/health", headers={"origin": origin})
                assert answer.headers.get("access-control-allow-origin") == allowed

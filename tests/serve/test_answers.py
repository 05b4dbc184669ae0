"""The service says what the engine says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

import duilian as dl
from duilian.serve import make_app

TEXTS = ["他把手机借给了北京大学的同学。", "", "下雨了！你来吗？"]
ANNOTATED = "他/r  在/p  北京/ns  工作/v  。/w\n我们/r  去/v  上海/ns  。/w\n"
PATHS = {"Analyze": "/analyze", "Segment": "/segment", "Convert": "/convert", "Evaluate": "/evaluate"}


def asked(client: TestClient, path: str, **question: Any) -> Any:
    answer = client.post(path, json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestAnalyze:
    def test_several_texts(self, client: TestClient, zh: dl.Analyzer) -> None:
        docs = asked(client, "/analyze", text=TEXTS)["docs"]
        assert docs == [json.loads(doc.to_json()) for doc in zh.pipe(TEXTS)]

    def test_one_text(self, client: TestClient, zh: dl.Analyzer) -> None:
        ask = dl.Ask(["pku"], trees=False, confidence=True)
        found = asked(client, "/analyze", text=TEXTS[0], standards=["PKU"], trees=False, confidence=True)
        assert found == {"docs": [json.loads(zh(TEXTS[0], ask=ask).to_json())]}

    def test_marginals(self, client: TestClient) -> None:
        (doc,) = asked(client, "/analyze", text=TEXTS[0], standards=["pku"], marginals=True)["docs"]
        assert all(0.0 <= p <= 1.0 for word in doc["standards"]["pku"]["marginals"] for p in word.values())

    def test_n_best(self, client: TestClient, zh: dl.Analyzer) -> None:
        found = asked(client, "/analyze", text=TEXTS[0], nbest=3)
        (lists,) = found["nbest"]
        assert list(lists) == list(zh.standards)
        assert [doc["probability"] for doc in lists["pku"]] == [
            doc.probability for doc in zh.nbest(TEXTS[0], 3, "pku")
        ]

    def test_words_of_ones_own(self, client: TestClient) -> None:
        text = "我喜欢京大的学生。"
        words = ["京大的", {"word": "喜", "tags": ["v"]}]
        (doc,) = asked(client, "/analyze", text=text, words=words, standards=["pku"])["docs"]
        layer = doc["standards"]["pku"]
        assert "京大的" in layer["words"]
        assert layer["tags"][layer["words"].index("喜")] == "v"

    @pytest.mark.parametrize("form", ["conllu", "slash", "words"])
    def test_other_forms(self, client: TestClient, zh: dl.Analyzer, form: str) -> None:
        question = {"text": TEXTS[0], "to": form, "standards": ["pku"]}
        answer = client.post("/analyze", json=question)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        tokens = zh(TEXTS[0]).tokens("pku")
        rows = [line.split("\t")[1] for line in answer.text.splitlines() if line[:1].isdigit()]
        expected = {
            "conllu": (rows, [token.text for token in tokens]),
            "slash": (answer.text.split(), [f"{token.text}/{token.tag}" for token in tokens]),
            "words": (answer.text.split(), [token.text for token in tokens]),
        }
        assert expected[form][0] == expected[form][1]

    def test_a_form_of_one_standard_takes_the_same_as_the_command(
        self, client: TestClient, zh: dl.Analyzer
    ) -> None:
        answer = client.post("/analyze", json={"text": TEXTS[0], "to": "words"})
        assert answer.text.split() == zh(TEXTS[0]).words(zh.standards[0])


def test_segment(client: TestClient, zh: dl.Analyzer) -> None:
    found = asked(client, "/segment", text=TEXTS, standard="pku")
    assert found == {"standard": "pku", "words": list(zh.segment(TEXTS, "pku"))}
    if zh.segmenter is not None:
        fast = asked(client, "/segment", text=TEXTS, fast=True)["words"]
        assert fast == list(zh.segment(TEXTS, fast=True))


class TestConvert:
    def test_pasted_text(self, client: TestClient, zh: dl.Analyzer) -> None:
        (other,) = (name for name in zh.standards if name != "pku")
        found = asked(client, "/convert", text=ANNOTATED, **{"from": "pku", "to": other})
        assert (found["format"], found["unknown"]) == ("slash", 0)
        assert len(found["text"].splitlines()) == len(found["sentences"]) == 2
        first = found["sentences"][0]
        assert "".join(first["from"]["words"]) == "".join(first["to"]["words"]) == "他在北京工作。"
        assert len(first["to"]["confidence"]) == len(first["to"]["words"]) == len(first["to"]["tags"])

    def test_another_format(self, client: TestClient, zh: dl.Analyzer) -> None:
        (other,) = (name for name in zh.standards if name != "pku")
        question = {"text": ANNOTATED, "from": "pku", "to": other, "to_format": "conllu"}
        assert asked(client, "/convert", **question)["text"].count("\n\n") == 2

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"text": "他/XYZ"}, "never seen the tag 'XYZ'"),
            ({"text": "他/r", "to": "pku"}, "nothing to convert"),
            ({"text": "他/r", "from": "nonsense"}, "nonsense"),
            ({"text": "他/r", "format": "nonsense"}, "nonsense"),
            ({"text": ""}, "empty"),
        ],
    )
    def test_what_cannot_be(
        self, client: TestClient, zh: dl.Analyzer, change: dict[str, str], sentence: str
    ) -> None:
        (other,) = (name for name in zh.standards if name != "pku")
        answer = client.post("/convert", json={"from": "pku", "to": other} | change)
        assert answer.status_code == 422
        assert sentence in answer.json()["error"]


def test_evaluate(client: TestClient) -> None:
    found = asked(client, "/evaluate", gold=ANNOTATED, standard="pku")
    assert (found["standard"], found["sentences"], found["tokens"]) == ("pku", 2, 9)
    assert found["word"]["f1"] > 50


class TestFacts:
    def test_models(self, client: TestClient, zh: dl.Analyzer) -> None:
        found = client.get("/models").json()
        (model,) = found["models"]
        assert (model["name"], model["standards"]) == ("bundled", list(zh.standards))
        assert found["limits"]["characters"] == 100_000

    def test_standards_have_meanings(self, client: TestClient) -> None:
        found = {each["name"]: each for each in client.get("/standards").json()["standards"]}
        assert found["pku"]["tags"]["ns"]["english"] == "name of a place"
        assert any(each["relations"].get("nsubj") for each in found.values())

    def test_explain(self, client: TestClient) -> None:
        assert client.get("/explain?tag=ns&standard=pku").json()["explanations"][0]["chinese"]
        assert client.get("/explain?standard=pku").status_code == 200
        assert len(client.get("/explain").json()["explanations"]) > 200
        unknown = client.get("/explain?tag=nonsense")
        assert (unknown.status_code, next(iter(unknown.json()))) == (404, "error")

    def test_explain_reads_no_files(self, client: TestClient) -> None:
        assert client.get("/explain?standard=/x.toml").json()["error"].startswith("unknown standard")

    def test_health_and_metrics(self, client: TestClient) -> None:
        assert client.get("/health").json()["status"] == "ok"
        asked(client, "/segment", text="好")
        lines = client.get("/metrics").text.splitlines()
        assert any(line.startswith('duilian_requests_total{path="/segment",status="200"} ') for line in lines)
        assert "duilian_waiting 0" in lines
        assert "# TYPE duilian_waiting gauge" in lines
        assert "# TYPE duilian_engine_calls_total counter" in lines

    def test_openapi_has_examples(self, client: TestClient, zh: dl.Analyzer) -> None:
        described = client.get("/openapi.json").json()
        assert {"/analyze", "/convert", "/segment", "/evaluate", "/models"} <= set(described["paths"])
        for name, path in PATHS.items():
            assert described["components"]["schemas"][name]["examples"]
            for example in described["components"]["schemas"][name]["examples"]:
                assert client.post(path, json=example).status_code == 200

    def test_openapi_tells_names_and_limits(
        self, limited: Callable[..., TestClient], zh: dl.Analyzer
    ) -> None:
        described = limited(characters=50, nbest=3).get("/openapi.json").json()
        fields = described["components"]["schemas"]["Analyze"]["properties"]
        assert fields["standards"]["items"]["enum"] == list(zh.standards)
        assert fields["model"]["anyOf"][0]["enum"] == ["bundled"]
        assert (fields["text"]["anyOf"][0]["maxLength"], fields["nbest"]["maximum"]) == (50, 3)

    def test_whole_numbers_may_have_a_point(self, client: TestClient) -> None:
        assert len(asked(client, "/analyze", text="好", nbest=2.0)["nbest"][0]["pku"]) == 2
        assert client.post("/analyze", json={"text": "好", "nbest": 1.5}).status_code == 422

    def test_a_second_model_is_chosen_by_name(self, zh: dl.Analyzer) -> None:
        with TestClient(make_app({"a": zh, "b": zh})) as client:
            assert asked(client, "/segment", text="好", model="b")["words"] == [["好"]]
            assert client.post("/segment", json={"text": "好", "model": "c"}).status_code == 422

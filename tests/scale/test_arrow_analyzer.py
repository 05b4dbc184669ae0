"""Arrow in, Arrow out: the answers are those of the Python API, whatever layout the texts have."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from mixed_documents import ASK, answer_of, documents

from duilian import Analyzer, Ask, load
from duilian.errors import ConfigError
from duilian.scale import ArrowAnalyzer
from duilian.scale.model_cache import loads

TEXTS = documents(300)


@pytest.fixture(scope="module")
def zh() -> Analyzer:
    return load()


@pytest.fixture(scope="module")
def analyze() -> ArrowAnalyzer:
    return ArrowAnalyzer(ask=ASK)


@pytest.fixture(scope="module")
def expected(zh: Analyzer) -> list[dict[str, Any]]:
    return [answer_of(zh, text) for text in TEXTS]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_answers_are_those_of_the_api(analyze: ArrowAnalyzer, expected: list[Any], kind: Any) -> None:
    texts = pa.array(TEXTS, pa.string())
    texts = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    assert analyze.answers(texts).to_pylist() == expected
    assert analyze.answers(texts.slice(7, 100)).to_pylist() == expected[7:107]


def test_a_batch_keeps_its_rows_and_columns(analyze: ArrowAnalyzer, expected: list[Any]) -> None:
    table = pa.table({"id": range(len(TEXTS)), "text": TEXTS})
    found = analyze(table)
    assert found.schema == analyze.schema(table.schema)
    assert found.drop_columns(["id", "text"]).to_pylist() == expected
    assert found.select(["id", "text"]).equals(table)
    batch = table.to_batches()[0].slice(10, 50)
    assert analyze(batch).to_pylist() == found.slice(10, 50).to_pylist()
    assert isinstance(analyze(batch), pa.RecordBatch)
    assert analyze(table.slice(0, 0)).schema == found.schema
    assert len(analyze(batch.slice(0, 0))) == 0
    few = dataclasses.replace(analyze, columns=("id",))(batch)
    assert few.schema.names == ["id", "pku", "error"]


def test_trees_and_confidence(zh: Analyzer) -> None:
    text = "我们去北京。他也来了！"
    assert zh.parser is not None
    name = zh.parser.standard
    rows = (
        ArrowAnalyzer(ask=Ask(standards=(name,), confidence=True)).answers(pa.array(["", text])).to_pylist()
    )
    assert rows[0] == {name: [], "error": None}
    doc = zh(text, ask=Ask(standards=(name,), confidence=True))
    found = rows[1][name]
    assert [each["head"] for each in found] == [token.head for token in doc]
    assert [each["relation"] for each in found] == [token.relation for token in doc]
    assert [each["confidence"] for each in found] == pytest.approx(
        [token.confidence for token in doc], abs=1e-6
    )
    assert [each["sentence"] for each in found] == sorted(each["sentence"] for each in found)
    assert {each["sentence"] for each in found} == {0, 1}


def test_a_bad_row_is_told_and_kills_nothing(analyze: ArrowAnalyzer) -> None:
    data = "他\ud800来".encode("utf-8", "surrogatepass") + "我们好".encode()
    offsets = np.array([0, 9, 18], np.int32)
    texts = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    small = dataclasses.replace(analyze, max_characters=3)
    found = small.answers(texts).to_pylist()
    assert [row["error"] for row in found] == ["the text is not valid UTF-8", None]
    assert [each["word"] for each in found[1]["pku"]] == ["我们", "好"]
    long = small.answers(pa.array(["一二三四", None, "一二三"])).to_pylist()
    assert [row["error"] for row in long] == [
        "the text has 4 characters, more than 3",
        "the text is null",
        None,
    ]
    assert [row["pku"] is None for row in long] == [True, True, False]


def test_a_text_that_the_engine_refuses_stands_alone(
    analyze: ArrowAnalyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Analyzer.columns

    def columns(self: Analyzer, texts: list[str], **options: Any) -> Any:
        if "毒" in "".join(texts):
            raise ValueError("poison")
        return own(self, texts, **options)

    monkeypatch.setattr(Analyzer, "columns", columns)
    found = analyze.answers(pa.array(["好", "毒", None, "好"])).to_pylist()
    assert [row["error"] for row in found] == [None, "poison", "the text is null", None]


def test_it_travels_as_a_path_and_loads_once(analyze: ArrowAnalyzer) -> None:
    analyze.answers(pa.array(["好"]))
    before = loads()
    sent = pickle.dumps(analyze)
    assert len(sent) < 2000
    other = pickle.loads(sent)
    assert other == analyze
    assert other.answers(pa.array(["好"])).equals(analyze.answers(pa.array(["好"])))
    assert loads() == before


def test_wrong_columns_are_refused(analyze: ArrowAnalyzer) -> None:
    with pytest.raises(ConfigError, match="there is no column 'text'\n  hint: did you mean 'texts'"):
        analyze(pa.table({"texts": ["好"]}))
    with pytest.raises(ConfigError, match="the texts must be strings, got int64"):
        analyze(pa.table({"text": [1]}))
    with pytest.raises(ConfigError, match="the input already has a column 'pku'"):
        analyze(pa.table({"text": ["好"], "pku": [1]}))
    with pytest.raises(ConfigError, match="there is no column 'id'"):
        dataclasses.replace(analyze, columns=("id",))(pa.table({"text": ["好"]}))
    with pytest.raises(ConfigError, match="no column for marginals"):
        ArrowAnalyzer(ask=Ask(marginals=True))


def test_a_worker_must_have_the_same_model_and_version(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    texts = pa.array(["好"])
    other = dataclasses.replace(analyze, place=analyze.place._replace(checksum="0" * 64))
    with pytest.raises(
        ConfigError, match=r"a different model \(checksum \w+\) from the job's \(000000000000\)"
    ):
        other.answers(texts)
    old = dataclasses.replace(analyze, place=analyze.place._replace(version="0.0"))
    with pytest.raises(ConfigError, match=r"the job started with 0\.0"):
        old.answers(texts)
    gone = dataclasses.replace(analyze, place=analyze.place._replace(model="gone.model"))
    with pytest.raises(ConfigError, match=r"gone\.model: the job's model is not on this worker"):
        gone.answers(texts)
    with pytest.raises(ConfigError, match=r"own\.model: a different model"):
        half_copied(analyze, tmp_path).answers(texts)


def half_copied(analyze: ArrowAnalyzer, folder: Path) -> ArrowAnalyzer:
    """The analyser of a worker on which copying the model has just begun."""
    path = folder / "own.model"
    path.write_bytes(b"\0")
    return dataclasses.replace(analyze, place=analyze.place._replace(model=str(path)))

"""The libraries that people search with find what they should, with their own tokenizers out of the way."""

from __future__ import annotations

import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from duilian.integrations.search import SearchTokenizer
from integrations.packages import needs

TEXTS = ["他在北京大学学习。", "北京的冬天很冷。", "她去圖書館借书，用iPhone15。", "今天下雨。"]
QUERIES = {"大学": 0, "冬天": 1, "图书馆": 2, "图书": 2, "iphone": 2, "下雨": 3}


@pytest.fixture(scope="module")
def terms() -> SearchTokenizer:
    return SearchTokenizer()


@needs("rank_bm25")
def test_rank_bm25(terms: SearchTokenizer) -> None:
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(list(terms.pipe(TEXTS)))
    for query, place in QUERIES.items():
        assert index.get_scores(terms(query)).argmax() == place


@needs("bm25s")
def test_bm25s(terms: SearchTokenizer) -> None:
    import bm25s

    index = bm25s.BM25()
    index.index(list(terms.pipe(TEXTS)), show_progress=False)
    for query, place in QUERIES.items():
        found = index.retrieve([terms(query)], k=1, show_progress=False)
        assert found.documents[0, 0] == place


@needs("whoosh")
def test_whoosh(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Whoosh is older than Python's warnings
        from whoosh import fields, index, qparser

        from duilian.integrations.whoosh import DuilianAnalyzer

    text = fields.TEXT(stored=True, chars=True, phrase=True, analyzer=DuilianAnalyzer())
    made = index.create_in(tmp_path, fields.Schema(text=text))
    writer = made.writer()
    for each in TEXTS:
        writer.add_document(text=each)
    writer.commit()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 100_000  # not the model
    opened = index.open_dir(tmp_path)
    with opened.searcher() as searcher:
        parser = qparser.QueryParser("text", opened.schema)
        for query, place in QUERIES.items():
            assert [hit["text"] for hit in searcher.search(parser.parse(query))] == [TEXTS[place]]
        (hit,) = searcher.search(parser.parse("图书"))
        assert ">圖書</b>館" in hit.highlights("text")


@needs("tantivy")
def test_tantivy(terms: SearchTokenizer) -> None:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_integer_field("id", stored=True)
    schema.add_text_field("terms", tokenizer_name="blanks")
    index = tantivy.Index(schema.build())
    blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer("blanks", blanks)
    writer = index.writer()
    for k, column in enumerate(terms.columns(TEXTS)):
        writer.add_document(tantivy.Document(id=k, terms=column))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    for query, place in QUERIES.items():
        found = searcher.search(index.parse_query(" ".join(terms(query)), ["terms"]), 1)
        assert searcher.doc(found.hits[0][1])["id"] == [place]


POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


@pytest.fixture
def postgres() -> Iterator[Callable[[str], str]]:
    """A server of PostgreSQL for one test, without a network: what `psql` prints for a script."""
    # It refuses to run as root, and its user must be able to enter the folder.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        Path(folder).chmod(0o777)

        def run(*command: str, text: str = "") -> str:
            return subprocess.run(
                [*user, *command],
                input=text,
                cwd=folder,
                check=True,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            ).stdout

        data, bin = f"{folder}/data", str(POSTGRES)
        run(f"{bin}/initdb", "-D", data, "-E", "UTF8", "--no-sync", "--no-instructions")
        run(f"{bin}/pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", f"-k {folder} -h ''", "start")
        try:
            yield lambda script: run(f"{bin}/psql", "-h", folder, "-Atq", "-d", "postgres", text=script)
        finally:
            run(f"{bin}/pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


@pytest.mark.skipif(
    POSTGRES is None or not os.environ.get("DUILIAN_INTEGRATIONS"),
    reason="not run: it starts a PostgreSQL server (DUILIAN_INTEGRATIONS=1, nox -s integrations)",
)
def test_postgres(terms: SearchTokenizer, postgres: Callable[[str], str]) -> None:
    texts = [*TEXTS, "it's C:\\\\temp \\"]

    def literal(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    rows = ", ".join(f"({k}, {literal(vector)})" for k, vector in enumerate(terms.tsvectors(texts)))
    made = f"CREATE TABLE t (id int, terms tsvector); INSERT INTO t VALUES {rows};"
    words = SearchTokenizer(terms.analyzer, parts=False)
    asked = [" | ".join(f"'{term}'" for term in words(query)) for query in QUERIES]
    queries = "".join(f"SELECT id FROM t WHERE terms @@ {literal(query)}::tsquery;" for query in asked)
    assert postgres(made + queries).split() == [str(place) for place in QUERIES.values()]

"""The tokenizer of FTS5 in a real SQLite: matches, offsets, files that are wrong, texts that are no text."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import duilian as dl
from duilian import _native
from duilian.errors import ConfigError
from duilian.integrations import sqlite
from duilian.models.crf.flat_file import PRELUDE, SIZE, flat_segmenter
from integrations.packages import needs

TEXTS = [
    "他在北京大学学习。",
    "北京的冬天很冷，大家都去了南方。",
    "她去圖書館借书，用iPhone15。",
    "产品和服务都很好。",
    "A\u200bb 😀 ８月15日\r\n见https://a.cn/b?c=1。",
    "",
]


@pytest.fixture(scope="module")
def zh() -> dl.Analyzer:
    return dl.load()


@pytest.fixture(scope="module")
def file(zh: dl.Analyzer) -> bytes:
    return flat_segmenter(zh.segmenter.labeler)


def test_the_flat_file_cuts_as_the_segmenter_does(zh: dl.Analyzer, file: bytes) -> None:
    for text, words in zip(TEXTS, zh.segment(TEXTS, fast=True), strict=True):
        assert [text[a:b] for a, b in _native.cut_flat(file, text)] == words


def test_a_file_that_is_cut_short_or_damaged_is_refused(file: bytes) -> None:
    for size in (0, 7, 8, 23, 24, 100, len(file) // 2, len(file) - 1):
        with pytest.raises(ValueError, match=r"segmenter file|truncated"):
            _native.cut_flat(file[:size], "好")
    for at in (30, len(file) // 2, len(file) - 1):
        damaged = bytearray(file)
        damaged[at] ^= 1
        with pytest.raises(ValueError, match="checksum"):
            _native.cut_flat(bytes(damaged), "好")


def test_a_forged_file_is_refused_or_harmless() -> None:
    """Whatever a section holds, with a right checksum: an error or an answer, never a crash."""
    layer = dl.Layer(("我们", "去", "北京"))
    corpus = dl.Corpus([dl.Sentence({"pku": layer})] * 4, standard="pku")
    tagger = dl.Tagger("pku", level="char", segment_only=True).set_params(learning__iterations=1).fit(corpus)
    file = flat_segmenter(tagger.labeler)
    assert _native.cut_flat(file, "我们去")
    random_number, refused = random.Random(1), 0
    for _ in range(2000):
        body = bytearray(file[PRELUDE.size :])
        for _ in range(random_number.choice((1, 1, 2, 8))):
            at = random_number.choice((random_number.randrange(len(body)), random_number.randrange(600)))
            body[at] = random_number.choice((0, 1, 255, random_number.randrange(256)))
        forged = PRELUDE.pack(file[:8], len(file), _native.flat_checksum(bytes(body))) + bytes(body)
        try:
            _native.cut_flat(forged, "我们去北京2026年。ab")
        except ValueError:
            refused += 1
    assert refused > 100
    huge = SIZE.pack(2**63) + bytes(100)
    with pytest.raises(ValueError, match="extends beyond the file"):
        _native.cut_flat(PRELUDE.pack(file[:8], PRELUDE.size + 108, _native.flat_checksum(huge)) + huge, "好")


def test_only_a_segmenter_can_be_written(tmp_path: Path, zh: dl.Analyzer) -> None:
    corpus = dl.Corpus([dl.Sentence({"pku": dl.Layer(("我们", "去"), ("r", "v"))})] * 4, standard="pku")
    tagger = dl.Tagger("pku", level="char").set_params(learning__iterations=1).fit(corpus)
    with pytest.raises(ConfigError, match="segment_only = true"):
        flat_segmenter(tagger.labeler)
    tagger.save(tmp_path / "a.model")
    with pytest.raises(ConfigError, match="no fast segmenter"):
        sqlite.export_segmenter(tmp_path / "a", tmp_path / "a.model")


def connections() -> Iterator[Any]:
    """The ways into SQLite that this machine has."""
    can_load = hasattr(sqlite3.Connection, "enable_load_extension")
    reason = "not run: this Python's sqlite3 cannot load extensions"
    yield pytest.param(sqlite3.connect, marks=pytest.mark.skipif(not can_load, reason=reason), id="sqlite3")
    yield pytest.param(apsw_connection, marks=needs("apsw"), id="apsw")


def apsw_connection(path: str) -> Any:
    import apsw

    return apsw.Connection(path)


@pytest.fixture(params=connections())
def base(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = request.param(":memory:")
    sqlite.load(found)
    assert list((tmp_path / "duilian").iterdir()) == [sqlite.cached_segmenter()]
    found.execute("CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = 'duilian')")
    found.executemany("INSERT INTO docs VALUES (?)", [(text,) for text in TEXTS])
    return found


def matches(base: Any, query: str) -> list[str]:
    sql = "SELECT highlight(docs, 0, '[', ']') FROM docs(?) ORDER BY rowid"
    return [row[0] for row in base.execute(sql, (f'"{query}"',))]


def test_words_and_their_parts_are_found_and_highlighted(base: Any) -> None:
    assert [text.replace("[", "").replace("]", "") for text in matches(base, "北京")] == TEXTS[:2]
    assert matches(base, "北京")[1] == "[北京]的冬天很冷，大家都去了南方。"
    (found,) = matches(base, "图书馆")  # the text is in traditional characters
    assert "[圖書館]" in found
    assert "[圖書館]" in matches(base, "图书")[0]
    assert len(matches(base, "IPHONE")) == 1
    assert "A\u200bb" in matches(base, "https://a.cn/b?c=1")[0]
    assert matches(base, "和服") == []  # 和 and 服务 are words
    assert matches(base, "飞机") == matches(base, "。") == []


def test_a_snippet_is_cut_between_words(base: Any) -> None:
    ((found,),) = base.execute("SELECT snippet(docs, 0, '<', '>', '…', 3) FROM docs('南方')").fetchall()
    assert "<南方>" in found
    assert found.startswith("…")


def test_an_index_is_rebuilt_and_checked(base: Any) -> None:
    base.execute("INSERT INTO docs(docs) VALUES ('rebuild')")
    base.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
    assert len(matches(base, "北京")) == 2
    base.execute("DELETE FROM docs WHERE rowid = 1")
    base.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
    assert len(matches(base, "北京")) == 1


def test_parts_can_be_left_out_and_wrong_options_are_refused(base: Any) -> None:
    base.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'duilian parts 0')")
    base.execute("INSERT INTO words VALUES ('图书馆')")
    assert base.execute("SELECT count(*) FROM words('图书馆')").fetchall()[0][0] == 1
    assert base.execute("SELECT count(*) FROM words('图书')").fetchall()[0][0] == 0
    for wrong in ("parts 2", "parts", "model ''/nowhere''", "speed 9"):
        with pytest.raises(Exception, match="tokenizer"):
            base.execute(f"CREATE VIRTUAL TABLE wrong USING fts5(text, tokenize = 'duilian {wrong}')")
    with pytest.raises(Exception, match="no such file"):
        base.execute("SELECT duilian_model('/nowhere')").fetchall()
    with pytest.raises(Exception, match="not a segmenter file"):
        base.execute("SELECT duilian_model(?)", (__file__,)).fetchall()


def test_what_is_no_text_does_no_harm(base: Any) -> None:
    random_number = random.Random(2)
    some = [*"北京大學ab1 \n，。".encode(), 0, 0x80, 0xC0, 0xE5, 0xED, 0xA0, 0xF0, 0xF4, 0xFF]
    for _ in range(300):
        data = bytes(random_number.choices(some, k=random_number.randrange(60)))
        base.execute("INSERT INTO docs VALUES (CAST(? AS TEXT))", (data,))
    base.execute("INSERT INTO docs VALUES (NULL), (17)")
    base.execute("INSERT INTO docs VALUES (?)", ("北" * 300_000 + "\n" + "上海的冬天。" * 30_000,))
    base.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
    assert any("上海" in text for text in matches(base, "上海"))


def test_a_zero_ends_a_word(base: Any) -> None:
    base.execute("INSERT INTO docs VALUES (CAST(? AS TEXT))", (b"ab\0cd",))
    base.execute("INSERT INTO docs(docs) VALUES ('integrity-check')")
    assert len(matches(base, "ab")) == len(matches(base, "cd")) == 1


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="not run: no sqlite3 shell")
def test_the_shell_of_sqlite_loads_it(tmp_path: Path) -> None:
    model = sqlite.export_segmenter(tmp_path / "zh.segmenter")
    script = f"""
        SELECT load_extension('{sqlite.EXTENSION.with_suffix("")}');
        CREATE VIRTUAL TABLE docs USING fts5(text, tokenize = "duilian model '{model}'");
        INSERT INTO docs VALUES ('我们去北京。');
        SELECT highlight(docs, 0, '[', ']') FROM docs('北京');
    """
    path = str(tmp_path / "a.db")
    first = subprocess.run(["sqlite3", path], input=script, check=True, capture_output=True, encoding="utf-8")
    assert first.stdout.split() == ["我们去[北京]。"]
    assert first.stderr == ""

"""Input without end is refused before it fills the memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from duilian.corpus import files
from duilian.corpus.files import MAX_LINE_VARIABLE, DamagedFileError, read_lines, read_text
from duilian.errors import ConfigError

MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MAX_LINE_VARIABLE, "1")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", ["long.txt", "long.txt.gz"])
def test_a_line_is_not_too_long(tmp_path: Path, encoding: str, name: str) -> None:
    raw = ("好\n" * 3 + "a" * (MEGABYTE + 1)).encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    lines = read_lines(tmp_path / name, encoding=encoding)
    found = []
    with pytest.raises(DamagedFileError, match=f"{name}:4: a line of more than 1 MB"):
        found.extend(line for _, line in lines)
    assert found in ([], ["好"] * 3)  # files are read in blocks


def test_the_longest_line_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a" * (MEGABYTE - 1) + b"\nb" * 3)
    assert [len(line) for _, line in read_lines(tmp_path / "a.txt")] == [MEGABYTE - 1, 1, 1, 1]


def test_lines_across_blocks_are_whole(tmp_path: Path) -> None:
    lines = [f"{k} {'字' * (k % 700)}" for k in range(9_000)]
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    assert list(read_lines(tmp_path / "a.txt")) == list(enumerate(lines, 1))


def test_what_is_not_text_is_said(tmp_path: Path) -> None:
    with open(tmp_path / "sparse.txt", "wb") as file:
        file.truncate(50 * MEGABYTE)
    with pytest.raises(DamagedFileError, match="this is not text: it has NUL bytes"):
        list(read_lines(tmp_path / "sparse.txt"))
    with pytest.raises(DamagedFileError, match="a line of more than 1 MB"):
        read_text(tmp_path / "sparse.txt")


def test_a_small_file_does_not_unpack_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_EXPANSION_STEP", MEGABYTE)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(("你好。" * 20 + "\n").encode() * 50_000))
    with pytest.raises(DamagedFileError, match="expands to over 200 times its size"):
        list(read_lines(tmp_path / "bomb.gz"))


@pytest.mark.parametrize("value", ["0", "-1", "x", "5000", "1.5", "²"])
def test_a_wrong_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(MAX_LINE_VARIABLE, value)
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    with pytest.raises(ConfigError, match="a number of megabytes from 1 to 4096"):
        list(read_lines(tmp_path / "a.txt"))

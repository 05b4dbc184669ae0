"""Folders of files: every format, and whatever may stop or disturb a run."""

from __future__ import annotations

import gc
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from killed_runs import COMMAND, finish, hash_of, kill_and_resume, write_input
from mixed_documents import ASK
from pyarrow import parquet

from duilian.errors import ConfigError, MissingFileError
from duilian.scale import ArrowAnalyzer, FolderRun
from duilian.scale.input_parts import find_parts, parts_of_list
from duilian.scale.manifest import MANIFEST, Manifest
from duilian.scale.part_writers import part_writer

TEXTS = ["我们去北京。", "", '他说"好"\\']
WORDS = [["我们", "去", "北京", "。"], [], ["他", "说", '"', "好", '"', "\\"]]


@pytest.fixture(scope="module")
def analyze() -> ArrowAnalyzer:
    return ArrowAnalyzer(ask=ASK)


def run(source: Path, output: Path, analyze: ArrowAnalyzer, **options: Any) -> FolderRun:
    found = FolderRun(find_parts([str(source)], None, output), output, analyze, **options)
    found.last = list(found)[-1]  # type: ignore[attr-defined]
    return found


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def words_of(rows: list[dict[str, Any]]) -> list[list[str]]:
    return [[each["word"] for each in row["pku"]] for row in rows]


def write_parts(folder: Path) -> dict[str, Path]:
    """The same texts in every format."""
    folder.mkdir()
    lines = "".join(json.dumps({"id": k, "text": text}) + "\n" for k, text in enumerate(TEXTS)).encode()
    table = '"{}"\n'.format('"\n"'.join(text.replace('"', '""') for text in ("text", *TEXTS)))
    plain = "".join(text + "\n" for text in TEXTS)
    parquet.write_table(pa.table({"text": TEXTS}), folder / "a.parquet")
    (folder / "b.jsonl").write_bytes(lines)
    (folder / "c.csv").write_text(table, encoding="utf-8")
    (folder / "d.txt").write_text(plain, encoding="utf-8")
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(lines))
    with pa.CompressedOutputStream(str(folder / "f.txt.zst"), "zstd") as file:
        file.write(plain.encode())
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
def test_every_format_is_read_and_written(analyze: ArrowAnalyzer, tmp_path: Path, to: Any) -> None:
    names = write_parts(tmp_path / "in")
    found = run(tmp_path / "in", tmp_path / "out", analyze, to=to)
    assert found.failures == []
    for name in names:
        path = tmp_path / "out" / (name if name.endswith(f".{to}") else f"{name}.{to}")
        rows = rows_of(path)
        assert [row["text"] for row in rows] == TEXTS
        assert words_of(rows) == WORDS


def test_json_lines_escape_and_long_lists(
    analyze: ArrowAnalyzer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duilian.scale.part_writers.WORDS", 3)
    texts = ['我们去北京，他说"好"。', "a\x01b", None, "\\"]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    run(tmp_path, tmp_path / "json", analyze, to="jsonl")
    run(tmp_path / "a.parquet", tmp_path / "parquet", analyze)
    expected = rows_of(tmp_path / "parquet" / "a.parquet")
    got = rows_of(tmp_path / "json" / "a.parquet.jsonl")
    assert [{"pku": None, "error": None} | row for row in got] == expected


def test_bad_rows_are_told(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    lines = ['{"text": "好"}', "{", "[1]", '{"text": "\\ud800"}', '{"text": 5}', '{"text": null}', "{}"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "b.txt").write_bytes("好\n".encode() + b"\xff\n")
    (tmp_path / "c.csv").write_bytes(b"id,text\n1\n2,\xff\n")
    found = run(tmp_path, tmp_path / "out", analyze)
    assert found.failures == []
    errors = [row["error"] for row in rows_of(tmp_path / "out" / "a.jsonl.parquet")]
    assert errors[0] is None
    assert errors[2:] == [
        "line 3 is not a JSON object",
        "character 0 of 'text' is a lone surrogate",
        "the text is not a string but 5",
        "the text is null",
        "the text is null",
    ]
    assert errors[1].startswith("line 2 is not JSON: ")
    assert rows_of(tmp_path / "out" / "b.txt.parquet")[-1]["error"] == "byte 0 of the line is not UTF-8"
    errors = [row["error"] for row in rows_of(tmp_path / "out" / "c.csv.parquet")]
    assert errors == ["the number of fields is 1, not 2", "'text' is not valid UTF-8"]


def test_half_written_parts_fail_alone_and_are_tried_again(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    names = write_parts(tmp_path / "in")
    whole = {name: names[name].read_bytes() for name in ("a.parquet", "e.jsonl.gz", "f.txt.zst")}
    for name, data in whole.items():
        names[name].write_bytes(data[: len(data) - 9])
    found = run(tmp_path / "in", tmp_path / "out", analyze)
    assert sorted(each.part.name for each in found.failures) == sorted(whole)
    assert all("is the file complete?" in str(each.error) for each in found.failures)
    assert found.last.finished == 3
    for name, data in whole.items():
        names[name].write_bytes(data)
    again = run(tmp_path / "in", tmp_path / "out", analyze)
    assert (again.last.finished, again.last.documents, again.failures) == (6, 9, [])


def test_a_part_that_is_gone_fails_alone(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    names = write_parts(tmp_path / "in")
    names["d.txt"].unlink()
    names["d.txt"].symlink_to(tmp_path / "nowhere")
    found = run(tmp_path / "in", tmp_path / "out", analyze)
    assert [each.part.name for each in found.failures] == ["d.txt"]
    assert found.last.finished == 5
    names["d.txt"].unlink()
    names["d.txt"].write_text("好\n", encoding="utf-8")
    assert run(tmp_path / "in", tmp_path / "out", analyze).last.documents == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names need not be UTF-8 on Linux only")
def test_a_name_that_is_not_utf_8_is_kept_and_found_again(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / os.fsdecode(b"\xb6\xd4.txt")).write_text("好\n", encoding="utf-8")
    assert run(tmp_path / "in", tmp_path / "out", analyze).last.documents == 1
    assert (tmp_path / "out" / os.fsdecode(b"\xb6\xd4.txt.parquet")).exists()
    assert run(tmp_path / "in", tmp_path / "out", analyze).last.documents == 0


def test_finished_parts_are_skipped_and_changed_ones_are_not(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    write_parts(tmp_path / "in")
    out = tmp_path / "out"
    run(tmp_path / "in", out, analyze)
    made = (out / "d.txt.parquet").stat().st_mtime_ns
    assert run(tmp_path / "in", out, analyze).last.documents == 0
    assert (out / "d.txt.parquet").stat().st_mtime_ns == made
    (tmp_path / "in" / "d.txt").write_text("好\n", encoding="utf-8")
    assert run(tmp_path / "in", out, analyze).last.documents == 1
    (out / "a.parquet").unlink()
    assert run(tmp_path / "in", out, analyze).last.documents == 3
    assert run(tmp_path / "in", out, analyze, resume=False).last.documents == 16


def test_a_torn_manifest_does_parts_again(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    write_parts(tmp_path / "in")
    run(tmp_path / "in", tmp_path / "out", analyze)
    manifest = tmp_path / "out" / MANIFEST
    manifest.write_bytes(manifest.read_bytes()[:-10])
    assert run(tmp_path / "in", tmp_path / "out", analyze).last.documents == 3
    for damage in (b"", b"\xae\x00\xff\n"):
        manifest.write_bytes(damage)
        assert run(tmp_path / "in", tmp_path / "out", analyze).last.documents == 18


@pytest.mark.parametrize(
    "change",
    [
        {"output": "../kept.txt"},
        {"output": "{tmp}/kept.txt"},
        {"output": "link/kept.txt"},
        {"output": "."},
        {"output": "\0"},
        {"output": 3},
        {"documents": "many"},
        {"more": 1},
    ],
)
def test_a_hostile_manifest_deletes_nothing(
    analyze: ArrowAnalyzer, tmp_path: Path, change: dict[str, object]
) -> None:
    """Starting over removes what a manifest lists, but nothing that is not in the folder."""
    kept, out = tmp_path / "kept.txt", tmp_path / "out"
    kept.write_text("precious", encoding="utf-8")
    write_input(tmp_path / "in", parts=1, lines=2)
    run(tmp_path / "in", out, analyze)
    (out / "link").symlink_to(tmp_path)
    manifest = out / MANIFEST
    first, line = manifest.read_text(encoding="utf-8").splitlines()
    spelled = {k: v.format(tmp=tmp_path) if isinstance(v, str) else v for k, v in change.items()}
    bad = json.dumps(json.loads(line) | spelled)
    manifest.write_text(f"{first}\n{bad}\n{'[' * 20_000}\n", encoding="utf-8")
    assert run(tmp_path / "in", out, analyze).last.documents == 2
    manifest.write_text(f"{first}\n{bad}\n", encoding="utf-8")
    assert run(tmp_path / "in", out, analyze, resume=False).last.documents == 2
    assert kept.read_text(encoding="utf-8") == "precious"


def test_folders_of_others_are_refused(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    write_parts(tmp_path / "in")
    out = tmp_path / "out"
    run(tmp_path / "in", out, analyze)
    with pytest.raises(
        ConfigError,
        match='belongs to a different run: to was "parquet" there, is "jsonl" here\n  hint: choose',
    ):
        run(tmp_path / "in", out, analyze, to="jsonl")
    with pytest.raises(ConfigError, match="this folder contains files that are not from a run"):
        run(tmp_path / "in", tmp_path / "in", analyze)
    identity = json.loads((out / MANIFEST).read_text(encoding="utf-8").splitlines()[0])["run"]
    other = Manifest(out, identity)
    other.open(resume=True)
    with pytest.raises(ConfigError, match="another run is writing to this folder"):
        run(tmp_path / "in", out, analyze)
    other.close()
    assert run(tmp_path / "in", out, analyze).failures == []


def test_wrong_inputs_are_refused(analyze: ArrowAnalyzer, tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("好\n", encoding="utf-8")
    out = tmp_path / "out"
    with pytest.raises(ConfigError, match=r"would be the same part, a\.txt"):
        find_parts([str(tmp_path / "x" / "a.txt"), str(tmp_path / "y" / "a.txt")], None, out)
    with pytest.raises(MissingFileError):
        find_parts([str(tmp_path / "z")], None, out)
    (tmp_path / "x" / "b.bin").write_bytes(b"")
    with pytest.raises(ConfigError, match="cannot tell the format from the file extension"):
        find_parts([str(tmp_path / "x" / "b.bin")], None, out)
    names = [part.name for part in find_parts([str(tmp_path / "*" / "*.txt")], None, out)]
    assert names == ["x/a.txt", "y/a.txt"]
    listed = parts_of_list([f"{tmp_path}/x/a.txt\n", f"{tmp_path}/y/a.txt\n"], None)
    assert [part.name for part in listed] == names
    parquet.write_table(pa.table({"body": ["好"]}), tmp_path / "b.parquet")
    with pytest.raises(ConfigError, match=r"b\.parquet: there is no column 'text'"):
        run(tmp_path / "b.parquet", out, analyze)
    assert not out.exists()


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    write_input(tmp_path / "in", parts=2, lines=400)
    (tmp_path / "in" / "000.txt").write_text("好\n", encoding="utf-8")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [*COMMAND, str(tmp_path / "in"), str(tmp_path / "out"), "--standard", "pku", "--no-trees"]
    command += ["--to", "jsonl"]
    full = subprocess.run(command, preexec_fn=small_files, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert full.stderr == f"duilian: {tmp_path}/out/001.txt.jsonl: file too large\n"
    assert sorted(os.listdir(tmp_path / "out")) == ["000.txt.jsonl", MANIFEST]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_killed_at_any_point_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    write_input(tmp_path / "in", parts=12, lines=50)
    finish(tmp_path / "in", tmp_path / "whole")
    assert kill_and_resume(tmp_path / "in", tmp_path / "killed", 3) > 0
    finish(tmp_path / "in", tmp_path / "killed")
    assert hash_of(tmp_path / "killed") == hash_of(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob(".duilian-*"))


def test_the_command_tells_what_it_has_done(tmp_path: Path) -> None:
    write_parts(tmp_path / "in")
    (tmp_path / "in" / "g.parquet").write_bytes(b"PAR1")
    given = "".join(f"{path}\n" for path in sorted((tmp_path / "in").iterdir()))
    command = [sys.executable, "-m", "duilian", "run", "-", str(tmp_path / "out"), "--standard", "pku"]
    done = subprocess.run([*command, "--no-trees"], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "6 of 7 parts, 18 documents" in done.stderr
    assert "g.parquet: cannot be read" in done.stderr
    assert "1 of 7 parts could not be finished" in done.stderr


def test_a_part_that_is_given_up_is_dropped_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings are errors here, also those of destructors."""
    rows = pa.record_batch({"a": pa.array([1, 2])})
    monkeypatch.setattr("duilian.scale.part_writers.GROUP_BYTES", 1)
    with (tmp_path / "part").open("wb") as file:
        part = part_writer("parquet", file, rows.schema)
        part.write(rows)
        part.drop()
    del part
    gc.collect()


def test_an_interrupted_run_says_how_to_continue(tmp_path: Path) -> None:
    texts = tmp_path / "in.txt"
    texts.write_text("我们明天去北京工作。\n" * 400_000, encoding="utf-8")
    command = [*COMMAND, str(texts), str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as run:
        assert run.stderr is not None
        while not (tmp_path / "out" / MANIFEST).exists():
            assert run.poll() is None
            time.sleep(0.05)
        run.terminate()
        said = run.stderr.read()
    assert run.returncode == 130
    assert said == "duilian: stopped; repeat the command to continue\n"

"""What is shown on a terminal, and only there: counters with rate and time left, stages, iterations."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.running import DEMO
from duilian import cli
from duilian.cli import progress
from duilian.cli.inputs import Inputs
from duilian.cli.option_groups import TextReading
from duilian.cli.progress import Stages, clock, left_over, measured, watch
from duilian.corpus import read_lines
from duilian.recipes import Recipe, Run, train


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch, refresh: float = 0.0) -> Terminal:
    """Make standard error a terminal."""
    monkeypatch.setattr(progress, "REFRESH", refresh)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    return stream


@pytest.mark.parametrize("total", [6, None])
def test_what_is_watched_passes_by_unchanged(monkeypatch: pytest.MonkeyPatch, total: int | None) -> None:
    terminal = open_terminal(monkeypatch)
    items = ["a", "bcd", "ef"]
    assert list(watch(items, "texts", total=total, size=len)) == items
    assert re.search(r"3 texts, [\d,]+ per second", terminal.getvalue())
    assert ("100 %" in terminal.getvalue()) == (total is not None)


def test_in_a_pipe_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(watch(iter("abc"), total=3)) == ["a", "b", "c"]
    assert stream.getvalue() == ""


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_measured_file_knows_how_much_of_it_was_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    terminal = open_terminal(monkeypatch, 0.01)
    raw = b"".join(b"%d\n" % number for number in range(400_000))
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    files = measured([str(tmp_path / name)])
    (file,) = files
    assert (file.position, file.size) == (0, (tmp_path / name).stat().st_size)
    lines, places = watch(read_lines(file), "lines", files=files), []
    for number, _ in lines:
        if number % 50_000 == 0:
            places.append(file.position)
    assert places == sorted(places)
    assert 0 < places[0] < file.size == file.position
    assert "100 %" in terminal.getvalue()
    assert "left" in terminal.getvalue()


def test_what_has_no_size_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    assert measured(["-"])[0].size is None
    assert list(watch("ab", files=measured(["-"]))) == ["a", "b"]
    assert "%" not in terminal.getvalue()


def test_times_are_short() -> None:
    assert [clock(seconds) for seconds in (0.4, 59.6, 750, 11_100)] == ["0:00", "1:00", "12:30", "3:05:00"]
    assert left_over(10.0, 1, 4) == "0:30 left"
    assert left_over(10.0, 0, 4) == left_over(10.0, 4, 4) == ""


def test_stages_stay_with_their_time_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with Stages("first") as stages:
        stages.begin("reading [x]")
        stages.begin("iteration 1", stays=False)
        stages.print("iteration 1: done")
        stages.begin("last")
    shown = terminal.getvalue()
    assert re.search(r"reading \[x\]: 0\.0 s", shown)
    assert "iteration 1: done" in shown
    assert not re.search(r"(first|iteration 1): 0\.0 s", shown)


def test_train_shows_stages_and_a_line_for_each_iteration(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    recipe = '[model]\nkind = "crf"\n[[side]]\nstandard = "ctb"\ntrain = "ctb.txt"\ndev = "ctb-dev.txt"\n'
    (tmp_path / "r.toml").write_text(recipe + "[learning]\niterations = 3\n", encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "duilian.cli", "train", "r.toml", "--data", str(DEMO), "-o", "m"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = "".join(_received(ours))
        assert process.wait(60) == 0
    assert re.search(r"reading ctb\.txt: \d+\.\d s", shown)
    line = r"iteration {}: loss [\d.]+, dev [\d.]+(?: \(best\))?, [\d.]+ s{}"
    for number, left in ((1, ", 0:0\\d left"), (2, ", 0:0\\d left"), (3, "\\s")):
        assert re.search(line.format(number, left), shown), number


def _received(terminal: int) -> Iterator[str]:
    with contextlib.suppress(OSError):  # raised by Linux when the other end is closed
        while data := os.read(terminal, 1 << 16):
            yield data.decode("utf-8", "replace")
    os.close(terminal)


def test_a_run_says_what_it_reads(tmp_path: Path) -> None:
    recipe = '[model]\nkind = "crf"\n[[side]]\nstandard = "ctb"\ntrain = ["ctb.txt", "ctb-dev.txt"]\n'
    (tmp_path / "r.toml").write_text(recipe + "[learning]\niterations = 1\n", encoding="utf-8")
    told: list[str] = []
    train(Recipe.load(tmp_path / "r.toml", DEMO), Run(output=tmp_path / "m", on_reading=told.append))
    assert told == ["ctb.txt", "", "ctb-dev.txt", ""]


def test_progress_of_text_is_that_of_answers_not_of_reading_ahead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    terminal = open_terminal(monkeypatch)
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("一二三\n" * 50, encoding="utf-8")
    source = Inputs([str(path) for path in paths], "text", TextReading())
    for path in source.paths:
        lines = [text for _, text in read_lines(source.files[source.paths.index(path)])]  # all of it is read
        for _ in source.watched(path, iter(lines), str):
            pass
    shares = [int(share) for share in re.findall(r"(\d+) %", terminal.getvalue())]
    assert shares == sorted(shares)
    assert {1, 10, 49, 50, 51, 99, 100} <= set(shares)


@pytest.mark.parametrize("command", ["segment", "tag", "analyze"])
def test_commands_show_progress_on_a_terminal_with_explanations(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    (tmp_path / "words.txt").write_text("北京\n", encoding="utf-8")
    (tmp_path / "in.txt").write_text("我们去北京。\n", encoding="utf-8")
    terminal = open_terminal(monkeypatch)
    options = ["--explain", "--lexicon", str(tmp_path / "words.txt"), "-o", str(tmp_path / "out.txt")]
    arguments = ["duilian", command, str(tmp_path / "in.txt"), *options]
    monkeypatch.setattr(sys, "argv", arguments)
    assert cli.main() == 0
    assert "1 text" in terminal.getvalue()


def test_a_terminated_run_keeps_what_is_finished(tmp_path: Path) -> None:
    texts, out = tmp_path / "in.txt", tmp_path / "out.txt"
    texts.write_text("我们明天去北京工作。\n" * 400_000, encoding="utf-8")
    command = [sys.executable, "-m", "duilian.cli", "segment", str(texts), "-o", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as run:
        deadline = time.monotonic() + 60
        while not any(path.stat().st_size for path in tmp_path.iterdir() if path != texts):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        run.terminate()
        assert run.stderr is not None
        said = run.stderr.read()
    assert run.returncode == 130
    assert "out.txt.part has the first" in said
    assert (tmp_path / "out.txt.part").read_text(encoding="utf-8").endswith("\n")

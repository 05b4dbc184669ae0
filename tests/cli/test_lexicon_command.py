"""`duilian tag` and `duilian segment` with a user's lexicon, and with a guided tagger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from duilian import demo
from duilian.learning import AdaGrad
from duilian.models import GuidedTagger, Tagger


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "duilian.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def char_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "char"
    Tagger("ctb", level="char", learning=AdaGrad(iterations=2)).fit(demo.load("ctb", "ctb")).save(path)
    return path


def test_a_lexicon_is_obeyed(tmp_path: Path, char_model: Path) -> None:
    (tmp_path / "words.txt").write_text("京去北\tNR\n", encoding="utf-8")
    (tmp_path / "text.txt").write_text("我们京去北。\n", encoding="utf-8")
    arguments = ["-m", str(char_model), str(tmp_path / "text.txt"), "--lexicon", str(tmp_path / "words.txt")]
    assert "京去北_NR" in run("tag", *arguments).stdout
    assert "京去北" in run("segment", *arguments).stdout.split()
    assert all("京去北_NR" in line for line in run("tag", *arguments, "--nbest", "2").stdout.splitlines())
    assert run("tag", *arguments, "--lexicon-mode", "maybe").returncode == 2
    (tmp_path / "words.txt").write_text("京去北\tZZ\n", encoding="utf-8")
    failed = run("tag", *arguments)
    assert failed.returncode == 1
    assert "ZZ" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_guided_tagger_is_used_like_any_other(tmp_path: Path) -> None:
    tagger = GuidedTagger("ctb", source_standard="pku", level="char", learning=AdaGrad(iterations=2))
    tagger.fit(demo.load("ctb", "ctb"), source=demo.load("pku", "pku")).save(tmp_path / "g")
    (tmp_path / "text.txt").write_text("我们去北京。他 来了\n", encoding="utf-8")
    tagged = run("tag", "-m", str(tmp_path / "g"), str(tmp_path / "text.txt"))
    assert "".join(token.split("_")[0] for token in tagged.stdout.split()) == "我们去北京。他来了"

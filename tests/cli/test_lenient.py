"""`--lenient` means the same in every command: malformed sentences are skipped, counted and reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Call, in_demo_folder

from demo_recipes import ONE_SIDE
from duilian import Tagger, demo
from duilian.learning import AdaGrad

GOOD = "1\t我们\t_\tPN\tPN\t_\t2\tnsubj\t_\t_\n2\t来\t_\tVV\tVV\t_\t0\troot\t_\t_\n\n"
BAD = "1\t我们\t_\tPN\n\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    Tagger("ctb", learning=AdaGrad(iterations=1)).fit(demo.load("ctb", "ctb")).save(folder / "word")
    return folder


@pytest.fixture
def duilian(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    (tmp_path / "in.conllu").write_text(GOOD + BAD + GOOD, encoding="utf-8")
    return in_demo_folder(monkeypatch, tmp_path, models, {"r.toml": ONE_SIDE})


@pytest.mark.parametrize(
    "command",
    [
        ("tag", "-m", "word", "in.conllu"),
        ("analyze", "-m", "word", "in.conllu", "--to", "slash"),
        ("evaluate", "word", "in.conllu"),
        ("select", "word", "in.conllu"),
        ("corpus", "stats", "in.conllu"),
    ],
    ids=lambda command: command[0],
)
def test_malformed_sentences_are_skipped_and_told(duilian: Call, command: tuple[str, ...]) -> None:
    status, _, err = duilian(*command)
    assert status == 1
    assert "in.conllu:4: " in err
    status, out, err = duilian(*command, "--lenient")
    assert (status, bool(out)) == (0, True), err
    assert "duilian: warning: skipped 1 sentence; first: in.conllu:4: " in err

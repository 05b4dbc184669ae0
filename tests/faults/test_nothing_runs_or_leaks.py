"""The package runs no code from data, and writes to no path that it was not given."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import duilian as dl
from duilian import _native
from duilian.cli import main
from duilian.corpus.output_files import open_writer
from duilian.modelfile import write_model
from hostile_models import small_models

PACKAGE = Path(dl.__file__).parent
MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "code", "codeop", "ctypes"}
CALLS = {"eval", "exec", "compile", "__import__"}
OUR_OWN = {
    "arguments.py": ["eval"],  # annotations of the package's own source
    "settings.py": ["eval"],
    "learning/jobs.py": ["joblib", "joblib", "joblib"],  # runs our own functions on workers; loads no file
}


def _uses(tree: ast.AST) -> Iterator[str]:
    """What could run code that comes from data."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield node.module or ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield node.func.id
        elif isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell"):
            yield node.arg


def test_no_code_comes_from_data() -> None:
    found = {
        str(path.relative_to(PACKAGE)): uses
        for path in sorted(PACKAGE.rglob("*.py"))
        if (uses := sorted(_uses(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == OUR_OWN


def test_what_could_run_code_is_seen() -> None:
    text = "import pickle\nfrom marshal import loads\neval('1')\nnp.load(a, allow_pickle=True)\n"
    assert sorted(_uses(ast.parse(text))) == ["allow_pickle", "eval", "marshal", "pickle"]


WRITERS = {"train", "analyze", "select", "report", "run"}


class Watch:
    """Notes the paths that are opened for writing, made, renamed or removed while it is on."""

    def __init__(self) -> None:
        self.is_on, self.paths = False, set[str]()
        sys.addaudithook(self._note)  # for good: hooks cannot be removed

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, str | bytes) and (set(mode or "") & set("wax+") or (flags or 0) & 3):
                self.paths.add(str(path))
        elif event in ("os.rename", "os.link", "os.symlink"):
            self.paths.update(map(str, arguments[:2]))
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "shutil.rmtree"):
            self.paths.add(str(arguments[0]))
        elif event in ("socket.connect", "subprocess.Popen", "os.system"):
            self.paths.add(event)


@pytest.fixture(scope="module")
def watch() -> Watch:
    return Watch()


def test_nothing_is_written_outside_the_given_paths(watch: Watch, tmp_path: Path) -> None:
    watch.paths.clear()
    watch.is_on = True
    try:
        zh = dl.load()
        doc = zh("我们明天去北京。")
        with open_writer(tmp_path / "a.txt") as write:
            write(" ".join(doc.words(zh.standards[0])))
        write_model(tmp_path / "b.model", {"kind": "x"}, {})
        list(zh.segment(["国务院"], fast=True))
        zh.nbest("乒乓球拍卖完了", 3)
    finally:
        watch.is_on = False
    outside = {path for path in watch.paths if not path.startswith(str(tmp_path))}
    assert {path for path in outside if "__pycache__" not in path} == set()
    assert any(path.startswith(str(tmp_path)) for path in watch.paths)  # it does watch


def test_commands_write_only_to_their_outputs(
    watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, out = tmp_path / "given", tmp_path / "out"
    given.mkdir()
    out.mkdir()
    (model,) = small_models(given, ["crf-char"])
    monkeypatch.chdir(given)
    for arguments in (
        ("train", "crf-char.toml", "-o", out / "trained.model"),
        ("analyze", "pku.txt", "-m", model, "--format", "text", "-o", out / "a.txt"),
        ("select", model, "pku.txt", "-o", out / "selected.txt"),
        ("report", model, "-o", out / "report.html"),
        ("run", "pku.txt", out / "run", "-m", model),
        ("evaluate", model, "pku.txt"),
        ("inspect", model),
    ):
        monkeypatch.setattr(sys, "argv", ["duilian", *map(str, arguments)])
        watch.paths.clear()
        watch.is_on = True
        try:
            assert main() == 0
        finally:
            watch.is_on = False
        elsewhere = {path for path in watch.paths if not path.startswith(str(out))}
        assert {path for path in elsewhere if "__pycache__" not in path} == set(), arguments
        assert any(path.startswith(str(out)) for path in watch.paths) == (arguments[0] in WRITERS), arguments


def test_no_module_holds_a_native_object() -> None:
    """Whoever keeps a function alive keeps its module's globals: nanobind would report them at the exit."""
    dl.load()("我们明天去北京。")
    native = tuple(each for each in vars(_native).values() if isinstance(each, type))
    held = [
        f"{module.__name__}.{name}"
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("duilian")
        for name, value in vars(module).items()
        for each in (value if isinstance(value, tuple | list) else [value])
        if isinstance(each, native)
    ]
    assert held == []

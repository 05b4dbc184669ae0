"""The API pages have every public name, and the examples of every name are correct."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from typing import Any

import pytest

import duilian
from docs.code_blocks import TOP

PAGES = [page.read_text(encoding="utf-8") for page in sorted((TOP / "docs" / "api").glob("*.md"))]
SHOWN = re.compile(r"^\.\. auto\w+:: (duilian[\w.]+)$", re.MULTILINE)
NAMES = [name for page in PAGES for name in SHOWN.findall(page)]


def resolve(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def test_every_top_name_is_on_a_page_once() -> None:
    assert {f"duilian.{name}" for name in duilian.__all__} - set(NAMES) == set()
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_the_name_has_an_example_and_all_of_them_run(name: str, tmp_path: Any, monkeypatch: Any) -> None:
    found = inspect.unwrap(resolve(name))
    tests = doctest.DocTestFinder(recurse=True).find(found, name, module=inspect.getmodule(found))
    examples = [test for test in tests if test.examples]
    assert examples, f"{name} has no example"
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    runner = doctest.DocTestRunner()
    for test in examples:
        runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)

"""The answers are those that were frozen, to the last character.

Every form is asked here about the first 200 of the 2,000 lines (kinds of text stand in a mixed order, so that
these have all of them), and every small model is trained. `python tools/goldens.py` asks about all lines, and
says what has changed. If a change is meant: `python tools/goldens.py --write`, and say so in the commit.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from golden import hashes
from golden.forms import FORMS, SMALL
from golden.lines import COUNT, MARK, lines
from golden.place import Place, cut, place, rounded

BLOCKS = 2


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with place(BLOCKS) as found:
        yield found


def test_the_lines_are_the_same() -> None:
    assert hashes.of_lines() == hashes.read()["lines"]
    assert len(set(lines())) == COUNT


def test_the_bundled_model_is_the_same() -> None:
    assert hashes.of_bundled() == hashes.read()["bundled"]


def test_nothing_is_asked_that_was_not_frozen() -> None:
    known = hashes.read()
    assert list(known["forms"]) == list(FORMS)
    assert list(known["models"]) == list(SMALL)


@pytest.mark.parametrize("form", FORMS)
def test_answers_are_the_same(form: str, here: Place) -> None:
    assert hashes.check_form(form, here) == ""


@pytest.mark.parametrize("model", SMALL)
def test_small_models_are_the_same(model: str, here: Place) -> None:
    assert hashes.check_small(model, here) == ""


def test_an_answer_is_cut_at_its_marks() -> None:
    assert cut(f"a\n{MARK} {MARK}\nb\n{MARK} {MARK}\n]", 2) == [f"a\n{MARK} ", f"\nb\n{MARK} ", "\n]"]
    assert cut(f"a{MARK}b", 2) == [f"a{MARK}b"]


def test_differences_are_told_precisely() -> None:
    old = ["1", "2", "3", "end"]
    assert hashes.difference("forms", "tag", old, old, 3) == ""
    assert hashes.difference("forms", "tag", old, ["1", "2", "end"], 2) == ""
    said = "tag: block 2 (lines 101 to 200) changed"
    assert hashes.difference("forms", "tag", old, ["1", "x", "3", "end"], 3) == said
    assert hashes.difference("forms", "tag", old, ["1", "x", "end"], 2) == said
    assert "and 1 more" in hashes.difference("forms", "tag", old, ["x", "2", "x", "end"], 3)
    assert "behind the last" in hashes.difference("forms", "tag", old, ["1", "2", "3", "x"], 3)
    assert "1 parts" in hashes.difference("forms", "tag", old, ["x"], 3)
    model = {"file": "f", "arrays": "a", "answers": "s"}
    assert hashes.difference("models", "crf", model, model | {"file": "g"}, 3) == (
        "model crf: the header of the file changed"
    )
    assert "the weights" in hashes.difference("models", "crf", model, model | {"file": "g", "arrays": "b"}, 3)


def test_long_numbers_are_rounded() -> None:
    assert rounded('0.12345678912, 3.5%, 1e-07, "2.123456"') == '0.123457, 3.5%, 0.000000, "2.123456"'

"""Hostile model files are refused: the short form of fuzz/hostile_models.py, and what it has found."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian.cli import inspect
from duilian.errors import ModelFileError
from duilian.modelfile import read_model, write_model
from hostile_models import Worker, ask, attack, small_models
from mutations import mutant

KINDS = [
    "crf-char",
    "guided-word",
    "coupled-char",
    "two-chain",
    "multitask",
    "dynamic",
    "joint-parser",
    "neural-parser",
    "analyzer",
    "crf-dictionary",
    "analyzer-lists",
    "tree-converter",
]
RUNS = 25


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small models by name."""
    return dict(zip(KINDS, small_models(tmp_path_factory.mktemp("models"), KINDS), strict=True))


@pytest.mark.parametrize("name", KINDS)
def test_mutants_are_refused_or_answer(models: dict[str, Path], name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, in newer Pythons
        worker = Worker()
        try:
            outcomes = attack(models[name], RUNS, seed=7, worker=worker)
        finally:
            worker.stop()
    assert [each.detail for each in outcomes if each.is_finding] == []
    assert any(each.what == "refused" for each in outcomes)


@pytest.mark.parametrize(("name", "part"), [("crf-dictionary", None), ("analyzer-lists", "tagger")])
@pytest.mark.parametrize("claims", [{}, {"shares_dictionary": True}])
def test_a_dictionary_that_templates_consult_must_be_there(
    models: dict[str, Path], tmp_path: Path, name: str, part: str | None, claims: dict[str, bool]
) -> None:
    header, arrays = read_model(models[name])
    own = header if part is None else header[part]
    del own["dictionary"]
    own.update(claims)
    write_model(tmp_path / "m", header, {k: v for k, v in arrays.items() if "dictionary." not in k})
    with pytest.raises(ModelFileError, match="dictionary"):
        ask(tmp_path / "m")


@pytest.mark.parametrize("name", ["analyzer-lists", "multitask", "tree-converter"])
def test_mutants_are_shown_or_refused(
    models: dict[str, Path], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    header, arrays = read_model(models[name])
    refused = 0
    for run in range(40):
        _, changed, _ = mutant(random.Random(f"{name} {run}"), header, {})
        try:
            write_model(tmp_path / "mutant.model", changed, arrays)
        except (TypeError, ValueError):
            continue
        try:
            inspect.command(str(tmp_path / "mutant.model"))
        except ModelFileError:
            refused += 1
    assert 0 < refused < 40
    assert "\x1b[2J" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("crf-char", {"notes": "b"}),
        ("crf-char", {"notes": {"overrides": True}}),
        ("crf-char", {"notes": {"corpora": {"train": {"sentences": "f"}}}}),
        ("multitask", {"mapping": {"S@SP": 3}}),
        ("two-chain", {"config": {"standard": 3}}),
    ],
)
def test_what_a_card_was_found_to_show_stays_mended(
    models: dict[str, Path], tmp_path: Path, name: str, change: dict[str, Any]
) -> None:
    header, arrays = read_model(models[name])
    write_model(tmp_path / "bad.model", header | change, arrays)
    with pytest.raises(ModelFileError, match="do not fit together"):
        inspect.command(str(tmp_path / "bad.model"))


def test_what_a_card_does_not_show_does_not_matter(
    models: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, arrays = read_model(models["joint-parser"])
    write_model(tmp_path / "bad.model", header | {"tagger": 7}, arrays)
    inspect.command(str(tmp_path / "bad.model"))
    assert "joint-parser" in capsys.readouterr().out


def test_a_card_does_not_command_the_terminal(
    models: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, arrays = read_model(models["crf-char"])
    header["tags"][0], header["notes"]["recipe"] = "\x1b[2J", "\x1b]0;mine\x07[/b]"
    header["config"]["standard"] = "[/b]"
    write_model(tmp_path / "bad.model", header, arrays)
    inspect.command(str(tmp_path / "bad.model"))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\ufffd[2J" in shown


def _set_tags(header: dict[str, Any], count: int) -> None:
    header["tags"] = [f"T{k}" for k in range(count)]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("coupled-char", lambda h: h.update(pruned_sides=[7]), "pruned_sides must be numbers of sides"),
        ("coupled-char", lambda h: h.update(pruned_sides=[-1]), "pruned_sides must be numbers of sides"),
        ("coupled-char", lambda h: h.update(pruned_sides=[1, 0]), "in ascending order"),
        ("crf-char", lambda h: _set_tags(h, 70_000), "70,000 tags; a model has at most 4,096"),
        ("crf-char", lambda h: _set_tags(h, 4_000), "16,000 labels; a tagger has at most 4,096"),
        ("crf-char", lambda h: h["tags"].__setitem__(0, [1]), "a tag must be a string"),
        ("crf-char", lambda h: h["tags"].__setitem__(0, h["tags"][1]), "a tag is listed twice"),
        ("crf-char", lambda h: h.update(tags="abc"), "must be lists of names"),
        ("multitask", lambda h: h.update(tags={"a": 1, "b": 2}), "must be lists of names"),
        ("coupled-char", lambda h: h.update(tags=["ab", "ab"]), "must be lists of names"),
        ("joint-parser", lambda h: h.update(tags={}), "must be lists of names"),
        ("joint-parser", lambda h: h.update(tags=[]), "a parser must know some tags"),
        ("two-chain", lambda h: h.update(tags="abc"), "must be lists of names"),
        ("tree-converter", lambda h: h.update(target_tags="ab"), "must be lists of names"),
        ("dynamic", lambda h: h["config"]["search"].update(beam=10**6), "beam must be at most 1000"),
        (
            "coupled-char",
            lambda h: h["config"]["pruning"].update(max_candidates_tagging=10**6),
            "max_candidates_tagging must be at most 100",
        ),
        ("guided-word", lambda h: h.update(templates=2), "text must be a string"),
        ("joint-parser", lambda h: h["relations"].append({}), "a tag must be a string"),
    ],
)
def test_what_was_found_stays_mended(
    models: dict[str, Path],
    tmp_path: Path,
    name: str,
    change: Callable[[dict[str, Any]], object],
    message: str,
) -> None:
    header, arrays = read_model(models[name])
    change(header)
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match=message):
        ask(tmp_path / "bad.model")


@pytest.mark.parametrize(
    ("name", "array"), [("two-chain", "clique"), ("crf-char", "weight"), ("joint-parser", "tree.weight")]
)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e20])
def test_weights_are_finite_numbers(
    models: dict[str, Path], tmp_path: Path, name: str, array: str, value: float
) -> None:
    header, arrays = read_model(models[name])
    spoilt = arrays[array].astype("float32")
    spoilt[0] = value
    write_model(tmp_path / "bad.model", header, arrays | {array: spoilt})
    with pytest.raises(ModelFileError, match="is not a number of at most"):
        ask(tmp_path / "bad.model")


def test_a_table_that_makes_lookups_slow_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    """With a single free slot among a million, a text of 98 characters took 0.6 s."""
    header, arrays = read_model(models["crf-char"])
    used = np.arange(2**14) > 0
    arrays["check"], arrays["used"] = np.arange(len(used) - 1, dtype=np.uint32), np.packbits(used)
    arrays["slots"], arrays["size"] = np.array([len(used)]), np.ones(len(used) - 1, np.uint16)
    arrays["first"], arrays["step"] = np.zeros(len(used) - 1, np.uint16), np.zeros(0, np.uint16)
    arrays["weight"] = np.zeros(len(used) - 1, np.float16)
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match="too few free slots"):
        ask(tmp_path / "bad.model")


def test_a_table_of_hardly_any_features_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    """A bit of the file stands for eight bytes of memory."""
    header, arrays = read_model(models["crf-char"])
    arrays["used"], arrays["slots"] = np.zeros(2**20, np.uint8), np.array([2**23])
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match="8388608 slots for"):
        ask(tmp_path / "bad.model")


def test_a_feature_has_each_label_once(models: dict[str, Path], tmp_path: Path) -> None:
    header, arrays = read_model(models["crf-char"])
    arrays["size"] = arrays["size"] + (np.arange(len(arrays["size"])) == 0).astype(np.uint16)
    arrays["step"] = np.concatenate([np.array([2**15 - 1], np.uint16), arrays["step"]])  # the same once more
    arrays["weight"] = np.concatenate([np.zeros(1, arrays["weight"].dtype), arrays["weight"]])
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match="do not ascend"):
        ask(tmp_path / "bad.model")


def test_transitions_are_compared_before_memory_is_taken(models: dict[str, Path], tmp_path: Path) -> None:
    header, arrays = read_model(models["coupled-char"])
    arrays["transition.size"] = arrays["transition.size"] * 0 + 2**28
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match="the transitions do not fit the labels"):
        ask(tmp_path / "bad.model")

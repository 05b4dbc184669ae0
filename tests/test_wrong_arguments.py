"""Every public call with every argument of a wrong type: it works, or the error is ours and one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import duilian as dl
from duilian import demo
from duilian.errors import ArgumentError, DuilianError
from models.small_parsers import TRAIN, small

WRONG: tuple[Any, ...] = (
    None,
    3,
    -1,
    0,
    1.5,
    True,
    "x",
    "",
    b"x",
    [],
    [1],
    [["我"]],
    {"a": 1},
    object(),
    len,
    Path("no"),
)
FUNCTIONS = ("evaluate", "explain", "load", "read", "train", "write")
CLASSES = ("Analyzer", "Ask", "BoundaryScheme", "Corpus", "Folding", "Lexicon", "Mapping", "Templates")
# Methods that only the library itself or scikit-learn calls.
INSIDE = (
    *("annotate", "check_tags", "compile", "config_type", "count", "from_state", "get_params", "index"),
    *("is_trained",),
    *("layers", "matched", "model_type", "parameter_names", "places_in", "predictor_type", "remember"),
    *("restored", "segments_of", "set_params", "state", "tag_lines", "trace_units", "use", "with_config"),
    "with_model",
)
TREES = [dl.Sentence({"ctb": each}) for each in TRAIN[:5]]
RECIPE = """
[model]
kind = "crf"
[[side]]
standard = "ctb"
train = "a.wordpos"
[learning]
iterations = 1
"""
Calls = dict[str, tuple[Callable[..., Any], dict[str, Any]]]


def methods(thing: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of an object."""
    for name in dir(type(thing)):
        is_public = name == "__call__" or (name[0] != "_" and name not in INSIDE)
        if is_public and callable(getattr(type(thing), name)) and callable(getattr(thing, name)):
            yield f"{type(thing).__name__}.{name}", getattr(thing, name)


def right_arguments(folder: Path, corpus: dl.Corpus, tagger: dl.Tagger) -> dict[str, Any]:
    """A right value for every argument that has no default, by its name."""
    found: dict[str, Any] = dict.fromkeys(("X", "sentences", "gold", "corpus"), corpus)
    found |= dict.fromkeys(("standard", "name", "a", "b"), "ctb")
    found |= {
        "texts": ["我们"],
        "text": "我们",
        "tag": "NN",
        "feature": "w[0]=我们",
        "lexicon": None,
        "units": [],
        "words": dl.Dictionary([]),
    }
    found |= {"model": tagger, "sentence": corpus[0], "k": 2, "n": 2, "seed": 1, "shares": [1, 1]}
    found |= {"recipe": folder / "r.toml", "run": folder / "m", "path": folder / "b.wordpos"}
    found |= {"tags_a": ["a"], "tags_b": ["b"], "matrix": [[1]], "min_weight": 0.1, "lexicon": None}
    return found | {"begin": "B", "inside": "I", "end": "E", "single": "S"}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """All calls by name, each with arguments that are right."""
    folder = tmp_path_factory.mktemp("wrong")
    corpus = demo.load("ctb", "ctb")[:5]
    char, word = (
        dl.Tagger("ctb", level=level, learning=dl.AdaGrad(iterations=1)).fit(corpus)
        for level in ("char", "word")
    )
    parser, zh = dl.Parser.with_config(small(order=1)).fit(TREES), dl.Analyzer(char)
    dl.write(corpus, folder / "a.wordpos")
    word.save(folder / "word")
    parser.save(folder / "parser")
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    (folder / "words").write_text("云计算\n", encoding="utf-8")
    right = right_arguments(folder, corpus, char)
    files = {"read": "a.wordpos", "Tagger.load": "word", "Parser.load": "parser", "Lexicon.read": "words"}
    things = [zh, zh("我们去北京。"), dl.Lexicon(["云计算"]), char, word, parser, corpus]
    found = {}
    for name, call in [
        *((each, getattr(dl, each)) for each in (*FUNCTIONS, *CLASSES)),
        *(method for each in things for method in methods(each)),
    ]:
        arguments = {}
        for each in inspect.signature(call).parameters.values():
            arguments[each.name] = right[each.name] if each.default is each.empty else each.default
        if name in files:
            arguments["path"] = folder / files[name]
        if name.startswith("Parser.") and "X" in arguments:
            arguments["X"] = TREES
        found[f"{name} of words" if getattr(call, "__self__", None) is word else name] = call, arguments
    return found


def complaint(call: Callable[..., Any], arguments: dict[str, Any]) -> Exception | None:
    """The error that a call, or one of the answers that it yields, raises about its arguments."""
    try:
        answer = call(**arguments)
        if hasattr(answer, "__next__"):
            list(answer)
    except Exception as error:
        return error
    return None


def is_ours(error: Exception, argument: str) -> bool:
    """Whether it is a sentence, perhaps with a hint, that names the argument or a file."""
    if isinstance(error, OSError):
        return error.filename is not None
    sentence, *hint = str(error).split("\n")
    is_named = not isinstance(error, ArgumentError) or sentence.startswith(f"{argument} must ")
    return isinstance(error, DuilianError) and is_named and len(hint) <= 1 and len(str(error)) < 400


def test_what_is_wrong_is_said_in_one_sentence(
    calls: Calls, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    refused, others = 0, []
    for name, (call, arguments) in calls.items():
        for argument in arguments:
            for wrong in WRONG:
                error = complaint(call, {**arguments, argument: wrong})
                refused += error is not None
                if error is not None and not is_ours(error, argument):
                    others.append(f"{name}({argument}={wrong!r}): {error!r}")
    assert not others, "\n".join(others)
    assert refused > 500


@pytest.mark.parametrize(
    ("name", "argument", "wrong", "said"),
    [
        ("load", "path", 3, "path must be a string or a path or None, got 3"),
        ("train", "recipe", {}, "recipe must be a Recipe or a string or a path, got {}"),
        ("Lexicon", "weight", "5", "weight must be a number, got '5'"),
        ("Analyzer.__call__", "text", None, "text must be a string, got None"),
        ("Analyzer.__call__", "text", ["a", "b"], "text must be a string, got ['a', 'b']"),
        ("Analyzer.pipe", "texts", "一个字符串", "expected a list of texts, got a single string"),
        (
            "Analyzer.fill",
            "sentences",
            [["我"]],
            "sentences must be a list of Sentence, got ['我'] at place 1",
        ),
        ("Analyzer.nbest", "k", 0, "k must be a whole number, at least 1, got 0"),
        ("Tagger.weights", "feature", 3, "feature must be a string, got 3"),
        ("Doc.words", "standard", [], "expected the name of a standard, got []"),
    ],
)
def test_the_argument_is_named(calls: Calls, name: str, argument: str, wrong: object, said: str) -> None:
    call, arguments = calls[name]
    error = complaint(call, {**arguments, argument: wrong})
    assert isinstance(error, DuilianError)
    assert error.message == said


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for read in (dl.read, dl.Lexicon.read):
        with pytest.raises(FileNotFoundError, match="nope: no such file or directory") as error:
            read(tmp_path / "nope")
        assert isinstance(error.value, DuilianError)
    with pytest.raises(DuilianError, match=r"nope\.toml: no such file or directory"):
        dl.train(tmp_path / "nope.toml", tmp_path / "m")

"""One small model of each kind, trained on the demonstration corpora and toy trees in a moment.

The same recipe gives the same bytes: its text and notes in the header of the file, the weights in its arrays.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from duilian import Sentence, demo, write
from duilian.modelfile import read_model
from duilian.recipes import Recipe, Run, train
from tree.treebank import treebank

CTB = {"standard": "ctb", "train": "ctb.txt", "dev": "ctb-dev.txt"}
PKU = {"standard": "pku", "train": "pku.txt", "dev": "pku-dev.txt"}
TREES = {"standard": "ctb", "column": "xpos", "train": "trees.conllu", "dev": "trees-dev.conllu"}
Table = dict[str, object]
Groups = dict[str, Table]

SMALL_PARSER: Groups = {
    "trees": {"bits": 16, "head_cost": 5.0},
    "relations": {"bits": 14, "relation_cost": 5.0},
    "pruning": {"bits": 14},
}
START: Groups = {"start": {"baseline_iterations": 3}}
CANDIDATES: Table = {"max_candidates": 4, "max_candidates_tagging": 4}
COUPLED: Groups = START | {"features": {"joint_count": 1}, "pruning": CANDIDATES}


def recipe(kind: str, groups: Groups, sides: list[dict[str, str]], learning: Table, saving: Table) -> str:
    """Write a recipe; `groups` has the keys of `[model]` and a table for each group of settings."""
    model = {"kind": kind} | groups.get("model", {})
    tables = {name: values for name, values in groups.items() if name != "model"}
    tables |= {"learning": tables.get("learning", {}) | learning, "saving": saving}
    parts = [("[model]", model), *(("[[side]]", dict[str, object](side)) for side in sides)]
    parts += [(f"[{name}]", values) for name, values in tables.items()]
    return "\n".join("\n".join([head, *_settings(values), ""]) for head, values in parts)


def _settings(values: Table) -> list[str]:
    spelled = {True: "true", False: "false"}
    return [
        f"{key} = {spelled[value] if isinstance(value, bool) else _quoted(value)}"
        for key, value in values.items()
    ]


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


ANALYZER: Groups = START | {
    "features": {"joint_count": 1, "script": "simplified"},
    "pruning": CANDIDATES | {"kind": "mixed"},
    "learning": {"keep": "average"},
    "segmenter": {"standard": "pku", "iterations": 2},
}
PARSER_PART: Table = {
    "order": 2,
    "iterations": 2,
    "bits": 16,
    "relation_bits": 14,
    "pruning_bits": 12,
    "min_weight": 0.01,
}
BYTES: Table = {"precision": "int8", "min_weight": 0.01}
HALF: Table = {"precision": "float16", "min_weight": 0.01}
RECIPES = {
    "crf-word": recipe("crf", {}, [CTB], {"iterations": 4}, HALF),
    "crf-word-sgd": recipe("crf", {}, [PKU], {"algorithm": "sgd", "iterations": 2}, {}),
    "crf-word-eg": recipe("crf", {}, [PKU], {"algorithm": "eg", "iterations": 2}, {}),
    "crf-word-pa": recipe("crf", {}, [PKU], {"algorithm": "pa", "iterations": 2, "average": True}, {}),
    "crf-char": recipe(
        "crf",
        {"model": {"level": "char"}, "features": {"script": "simplified"}},
        [PKU],
        {"iterations": 4},
        HALF,
    ),
    "crf-segment": recipe(
        "crf", {"model": {"level": "char", "segment_only": True}}, [CTB], {"iterations": 3}, HALF
    ),
    "guided-word": recipe("guided", {"model": {"folds": 3}}, [CTB, PKU], {"iterations": 3}, HALF),
    "guided-char": recipe("guided", {"model": {"level": "char"}}, [CTB, PKU], {"iterations": 2}, HALF),
    "coupled-word-online": recipe("coupled", COUPLED, [CTB, PKU], {"iterations": 2}, HALF),
    "coupled-word-mixed": recipe(
        "coupled",
        COUPLED | {"model": {"mapping": "tight"}, "pruning": CANDIDATES | {"kind": "mixed"}},
        [CTB, PKU],
        {"iterations": 2},
        HALF,
    ),
    "coupled-word-heard": recipe(
        "coupled",
        START
        | {
            "features": {"joint_count": 1, "guide": "pku"},
            "pruning": CANDIDATES | {"kind": "offline", "folds": 3},
        },
        [CTB, PKU],
        {"iterations": 2},
        {},
    ),
    "coupled-char": recipe(
        "coupled",
        COUPLED | {"model": {"level": "char"}, "pruning": CANDIDATES | {"kind": "mixed"}},
        [CTB, PKU],
        {"iterations": 2},
        HALF,
    ),
    "two-chain": recipe("two-chain", {}, [CTB], {"iterations": 3}, {"precision": "float16"}),
    "two-chain-boundaries": recipe("two-chain", {}, [CTB, PKU], {"iterations": 2}, {"precision": "float16"}),
    "multitask": recipe("multitask", {}, [CTB, PKU], {"iterations": 2}, HALF),
    "dynamic": recipe("dynamic", {}, [PKU], {"iterations": 2}, HALF),
    "parser-1": recipe("parser", SMALL_PARSER | {"model": {"order": 1}}, [TREES], {"iterations": 3}, HALF),
    "parser-2": recipe(
        "parser", SMALL_PARSER | {"model": {"order": 2, "tag_folds": 3}}, [TREES], {"iterations": 3}, HALF
    ),
    "parser-3": recipe("parser", SMALL_PARSER | {"model": {"order": 3}}, [TREES], {"iterations": 3}, HALF),
    "joint-parser": recipe(
        "joint-parser",
        SMALL_PARSER | {"tagging": {"bits": 14, "folds": 3, "iterations": 2}},
        [TREES],
        {"iterations": 2},
        HALF,
    ),
    "analyzer": recipe(
        "analyzer", ANALYZER | {"parser": PARSER_PART}, [TREES, PKU], {"iterations": 2}, BYTES
    ),
    "analyzer-joint": recipe(
        "analyzer",
        ANALYZER | {"parser": PARSER_PART | {"kind": "joint-parser"}},
        [TREES, PKU],
        {"iterations": 2},
        BYTES,
    ),
}


def train_small(name: str, folder: Path) -> Path:
    """The model of that name, trained in a folder that `lay_out` has made."""
    text, model = folder / f"{name}.toml", folder / f"{name}.model"
    text.write_text(RECIPES[name], encoding="utf-8")
    train(Recipe.load(text, folder), Run(output=model))
    return model


def lay_out(folder: Path) -> None:
    """Put the corpora of the recipes there."""
    for path in Path(demo.__file__).parent.glob("*.txt"):
        shutil.copy(path, folder)
    for name, count, seed in (("trees", 80, 1), ("trees-dev", 30, 2)):
        trees = [Sentence({"ctb": layer}) for layer in treebank(count, seed)]
        write(trees, folder / f"{name}.conllu", standard="ctb")


def file_hash(model: Path) -> str:
    """Of the whole file."""
    return hashlib.sha256(model.read_bytes()).hexdigest()


def array_hash(model: Path) -> str:
    """Of the weights alone: names, types, shapes and bytes of the arrays, in the order of the file."""
    found = hashlib.sha256()
    for name, array in read_model(model)[1].items():
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.tobytes())
    return found.hexdigest()

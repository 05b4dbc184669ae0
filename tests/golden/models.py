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
SMALL_PARSER: dict[str, object] = {
    "bits": 16,
    "relation_bits": 14,
    "pruning_bits": 14,
    "margin": 5.0,
    "relation_margin": 5.0,
}
COUPLED: dict[str, object] = {"plain_iterations": 3, "joint_count": 1, "most": 4, "tagging_most": 4}

Table = dict[str, object]


def recipe(kind: str, model: Table, sides: list[dict[str, str]], learn: Table, save: Table) -> str:
    """The text of a recipe."""
    parts = [("[model]", {"kind": kind} | model), *(("[[side]]", dict[str, object](side)) for side in sides)]
    parts += [("[learn]", learn), ("[save]", save)]
    return "\n".join("\n".join([head, *_settings(values), ""]) for head, values in parts)


def _settings(values: Table) -> list[str]:
    spelled = {True: "true", False: "false"}
    return [
        f"{key} = {spelled[value] if isinstance(value, bool) else _quoted(value)}"
        for key, value in values.items()
    ]


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


HALF: Table = {"precision": "float16", "least": 0.01}
RECIPES = {
    "crf-word": recipe("crf", {}, [CTB], {"iterations": 4}, HALF),
    "crf-word-sgd": recipe("crf", {}, [PKU], {"algorithm": "sgd", "iterations": 2}, {}),
    "crf-word-eg": recipe("crf", {}, [PKU], {"algorithm": "eg", "iterations": 2}, {}),
    "crf-word-pa": recipe("crf", {}, [PKU], {"algorithm": "pa", "iterations": 2, "average": True}, {}),
    "crf-char": recipe("crf", {"level": "char", "script": "simplified"}, [PKU], {"iterations": 4}, HALF),
    "crf-segment": recipe("crf", {"level": "char", "segment_only": True}, [CTB], {"iterations": 3}, HALF),
    "guided-word": recipe("guided", {"folds": 3}, [CTB, PKU], {"iterations": 3}, HALF),
    "guided-char": recipe("guided", {"level": "char"}, [CTB, PKU], {"iterations": 2}, HALF),
    "coupled-word-online": recipe("coupled", COUPLED, [CTB, PKU], {"iterations": 2}, HALF),
    "coupled-word-mixed": recipe(
        "coupled", COUPLED | {"pruning": "mixed", "mapping": "tight"}, [CTB, PKU], {"iterations": 2}, HALF
    ),
    "coupled-word-heard": recipe(
        "coupled",
        COUPLED | {"guide": "pku", "pruning": "offline", "folds": 3},
        [CTB, PKU],
        {"iterations": 2},
        {},
    ),
    "coupled-char": recipe(
        "coupled", COUPLED | {"level": "char", "pruning": "mixed"}, [CTB, PKU], {"iterations": 2}, HALF
    ),
    "two-chain": recipe("two-chain", {}, [CTB], {"iterations": 3}, {"precision": "float16"}),
    "two-chain-boundaries": recipe("two-chain", {}, [CTB, PKU], {"iterations": 2}, {"precision": "float16"}),
    "multitask": recipe("multitask", {}, [CTB, PKU], {"iterations": 2}, HALF),
    "dynamic": recipe("dynamic", {}, [PKU], {"iterations": 2}, HALF),
    "parser-1": recipe("parser", SMALL_PARSER | {"order": 1}, [TREES], {"iterations": 3}, HALF),
    "parser-2": recipe("parser", SMALL_PARSER | {"order": 2, "folds": 3}, [TREES], {"iterations": 3}, HALF),
    "parser-3": recipe("parser", SMALL_PARSER | {"order": 3}, [TREES], {"iterations": 3}, HALF),
    "joint-parser": recipe(
        "joint-parser",
        SMALL_PARSER | {"tag_bits": 14, "folds": 3, "tagger_iterations": 2},
        [TREES],
        {"iterations": 2},
        HALF,
    ),
    "analyzer": recipe(
        "analyzer",
        COUPLED
        | {"script": "simplified", "pruning": "mixed", "keep": "average", "segmenter": "pku"}
        | {"segmenter_iterations": 2, "parser_order": 2, "parser_iterations": 2}
        | {"parser_bits": 16, "parser_relation_bits": 14, "parser_pruning_bits": 12, "parser_least": 0.01},
        [TREES, PKU],
        {"iterations": 2},
        {"precision": "int8", "least": 0.01},
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

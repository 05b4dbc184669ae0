"""Tasks of the tagger benchmark, and the plain files that all peers read and write.

A peer reads rows `word` or `word TAB pos` with a blank line between sentences, and writes the tags of a
sentence on one line, so that all have the same input and output costs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from duilian.corpus import Layer, read
from duilian.evaluation import accuracy, chunk_score

HELD_OUT = 1000
"""CoNLL-2000 has no dev set: the last training sentences serve as one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """A corpus with a dev set; `test` is used only if settings were chosen on other data."""

    name: str
    title: str
    templates: str
    standard: str
    train: str
    dev: str | None
    test: str | None = None
    column: str | None = None
    format: str


TASKS = {
    task.name: task
    for task in (
        Task(
            name="zx",
            title="Zhuxian, CTB parts of speech",
            templates="pos-word",
            standard="ctb",
            train="zx/train.wordpos",
            dev="zx/dev.wordpos",
            format="underscore",
        ),
        Task(
            name="udc",
            title="UD Chinese GSD v1, XPOS",
            templates="pos-word",
            standard="ud",
            train="udc/train.conll",
            dev="udc/dev.conll",
            column="xpos",
            format="conllx",
        ),
        Task(
            name="conll2000",
            title=f"CoNLL-2000 chunks (dev: the last {HELD_OUT} training sentences)",
            templates="chunk",
            standard="chunk",
            train="conll2000/train.txt",
            dev=None,
            test="conll2000/test.txt",
            format="columns",
        ),
    )
}


@dataclasses.dataclass(frozen=True)
class Split:
    """The sentences of a task; `test` is empty if it has none."""

    train: list[Layer]
    dev: list[Layer]
    test: list[Layer]


def load_split(task: Task, data: Path) -> Split:
    """Read the task's corpora in `data`."""
    train = _layers(task, data / task.train)
    test = _layers(task, data / task.test) if task.test else []
    if task.dev is None:
        return Split(train[:-HELD_OUT], train[-HELD_OUT:], test)
    return Split(train, _layers(task, data / task.dev), test)


def _layers(task: Task, path: Path) -> list[Layer]:
    corpus = read(str(path), format=task.format, standard=task.standard, column=task.column)
    return [sentence[task.standard] for sentence in corpus]


def gold_tags(layers: Iterable[Layer]) -> list[list[str]]:
    """Return the tags as strings; the corpora are fully annotated."""
    return [[str(tag) for tag in layer.tags or ()] for layer in layers]


def write_rows(layers: Iterable[Layer], path: Path) -> None:
    """Write the input of a peer, without tags: lines of words, or rows if there is another column."""
    with path.open("w", encoding="utf-8") as file:
        for layer in layers:
            if "pos" in layer.columns:
                file.writelines(
                    f"{word}\t{pos}\n" for word, pos in zip(layer.words, layer.columns["pos"], strict=True)
                )
                file.write("\n")
            else:
                file.write(" ".join(layer.words) + "\n")


def read_rows(path: Path) -> list[Layer]:
    """Read what `write_rows` wrote."""
    text = path.read_text(encoding="utf-8")
    if "\t" not in text:
        return [Layer(tuple(line.split(" "))) for line in text.splitlines()]
    return list(map(_layer, text.removesuffix("\n\n").split("\n\n")))


def _layer(block: str) -> Layer:
    words, pos = zip(*(row.split("\t") for row in block.split("\n")), strict=True)
    return Layer(words, columns={"pos": pos})


def write_tags(tags: Iterable[Sequence[str]], path: Path) -> None:
    """Write the output of a peer."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in tags)


def read_tags(path: Path) -> Iterator[list[str]]:
    """Read lines of tags, lines of word_tag, or rows that end in a tag."""
    text = path.read_text(encoding="utf-8")
    if "\t" in text:
        for block in text.removesuffix("\n\n").split("\n\n"):
            yield [row.rpartition(" ")[2] for row in block.split("\n")]
        return
    for line in text.splitlines():
        yield [token.rpartition("_")[2] for token in line.split()]


def tag_accuracy(gold: Sequence[Layer], guess: Iterable[list[str]]) -> float:
    """Return the accuracy in percent."""
    return accuracy(gold_tags(gold), guess)


def chunk_f1(gold: Sequence[Layer], guess: Iterable[list[str]]) -> float:
    """Return the chunk F1 of conlleval in percent."""
    return chunk_score(gold_tags(gold), guess).overall.f1

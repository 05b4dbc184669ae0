"""Conversion of trees from UD version 1 to version 2, by cross-validation on sentences annotated in both.

python benchmarks/tree_conversion.py --data DIR                  # the table of docs/results/conversion.md
python benchmarks/tree_conversion.py --data DIR --only both      # one row
python benchmarks/tree_conversion.py --data DIR --model MODEL    # and udc converted by a model

Rows: the source as it is, rules alone, the learned step alone at orders 1 to 3, rules and the learned step.
All rows but the first attach punctuation as version 2 wants it. Percentages of words, with punctuation and
without; `--model` counts trees with faults.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Layer, read
from duilian.corpus.trees import crossing, find_fault
from duilian.evaluation import accuracy, tree_score
from duilian.learning import jackknifed
from duilian.models import ConversionSteps, TreeConverter

RULES = str(Path(__file__).parents[1] / "recipes" / "ud1-ud2.rules.toml")
Pair = tuple[Layer, Layer]
Rows = dict[str, dict[str, Any] | None]
ROWS: Rows = {
    "source": None,
    "rules": {"order": 1, "conversion__rules": RULES, "conversion__is_learned": False},
    "order-1": {"order": 1},
    "order-2": {"order": 2},
    "order-3": {"order": 3},
    "both": {"order": 2, "conversion__rules": RULES},
}


def pairs(folder: Path) -> list[Pair]:
    """The dev sentences of GSD in both versions."""
    source = read(folder / "udc" / "dev.conll", standard="ud1", format="conllx")
    target = read(folder / "ud2" / "gsdsimp-dev.conllu", standard="ud")
    return [(one["ud1"], other["ud"]) for one, other in zip(source, target, strict=True)]


def converting(options: dict[str, Any]) -> Callable[[list[Pair], list[Pair]], list[Layer]]:
    """Train on some pairs, convert the sources of others."""

    def answer(train: list[Pair], held_out: list[Pair]) -> list[Layer]:
        steps = ConversionSteps(source="ud1", punctuation="projective")
        converter = TreeConverter("ud", conversion=steps).set_params(**options)
        converter.fit([one for one, _ in train], [other for _, other in train])
        return converter.convert([one for one, _ in held_out])

    return answer


def show(name: str, gold: Sequence[Layer], found: Sequence[Layer]) -> None:
    """Print a row."""
    # Some words of the two versions differ in spelling.
    guess = [dataclasses.replace(a, words=b.words) for a, b in zip(found, gold, strict=True)]
    score = tree_score(gold, guess)
    tags = accuracy([layer.tags or () for layer in gold], [layer.tags or () for layer in guess])
    assert score is not None
    both = f"{score.uas_with_punctuation:.2f} / {score.las_with_punctuation or 0:.2f}"
    words = f"{score.uas:.2f} / {score.las or 0:.2f}"
    print(f"| {name} | {both} | {words} | {tags:.2f} | {score.root:.1f} |", flush=True)


def show_trees(folder: Path, model: Path) -> None:
    """Count what is wrong with all converted trees of udc."""
    converter = TreeConverter.load(model)
    for part in ("train", "dev", "test"):
        sentences = read(folder / "udc" / f"{part}.conll", standard="ud1", format="conllx")
        found = [layer.heads or () for layer in converter.convert(sentences)]
        faults = sum(find_fault(heads) is not None for heads in found)
        crossed = sum(len(crossing(heads)) for heads in found)
        print(f"udc {part}: {len(found)} sentences, {faults} faults, {crossed} words of crossing arcs")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=ROWS, default=list(ROWS))
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    both = pairs(options.data)
    gold = [target for _, target in both]
    print("| | UAS / LAS | without punctuation | UPOS | root |\n| --- | --- | --- | --- | --- |")
    for name in options.only:
        row = ROWS[name]
        if row is None:
            show(name, gold, [source for source, _ in both])
        else:
            folds = jackknifed(both, options.folds, converting(row))
            show(name, gold, [layer for fold in folds for layer in fold])
    if options.model is not None:
        show_trees(options.data, options.model)


if __name__ == "__main__":
    main()

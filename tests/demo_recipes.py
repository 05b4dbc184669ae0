"""Recipes for the demonstration corpora."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from duilian.recipes import Recipe, Run, train

ONE_SIDE = """
[model]
kind = "crf"

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"
limit = 80

[learning]
iterations = 2
"""


def both_sides(kind: str, settings: str = "", *, tested: Collection[str] = (), iterations: int = 2) -> str:
    """A recipe for both corpora; `settings`: lines of the model; `tested`: standards with a test set."""
    sides = [_side(standard, is_tested=standard in tested) for standard in ("ctb", "pku")]
    model = "\n".join(["[model]", f'kind = "{kind}"', *([settings] if settings else [])])
    return "\n\n".join([f"\n{model}", *sides, f"[learning]\niterations = {iterations}"]) + "\n"


def _side(standard: str, *, is_tested: bool) -> str:
    test = f'\ntest = "both-{standard}.txt"' if is_tested else ""
    return f'[[side]]\nstandard = "{standard}"\ntrain = "{standard}.txt"\ndev = "{standard}-dev.txt"{test}'


def train_bytes(recipe: Recipe, path: Path, **options: object) -> bytes:
    """Train a recipe and return its model file."""
    train(recipe, Run(output=path, **options))  # type: ignore[arg-type]
    return path.read_bytes()

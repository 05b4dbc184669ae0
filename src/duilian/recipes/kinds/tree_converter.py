"""Kind tree-converter: converts trees and tags of one standard to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from duilian.models.tree_converter.config import TreeConverterConfig
from duilian.models.tree_converter.model import TreeConverter
from duilian.recipes.parts import Kind, Side, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, save, side_notes, warn_of_overlap
from duilian.settings import Settings
from duilian.wording import counted


class _TreeConverterKind(Kind):
    """The first side is the target, the second the source: the same sentences in the same order."""

    def with_sides(self, config: Settings, sides: Sequence[Side]) -> Settings:
        return super().with_sides(config, sides).updated({"conversion": {"source": sides[1].standard}})


def train_tree_converter(recipe: Recipe, run: Run) -> float | None:
    """Train a converter on sentences annotated in both standards; with --resume pruning is learned again."""
    converter = TreeConverter.with_config(cast(TreeConverterConfig, recipe.config))
    target, source = (corpora_of(recipe, side, trees="whole") for side in recipe.sides)
    warn_of_overlap([target], "word", run)
    dev = None if source[1] is None or target[1] is None else (source[1], target[1])
    converter.fit(source[0], target[0], dev=dev, session=run.session())
    if converter.unaligned_:
        first = converter.unaligned_[0]
        run.warn(
            f"{len(converter.unaligned_)} of {len(source[0])} pairs of sentences do not align and were left "
            f"out; the first is number {first.number}: {first.source!r} and {first.target!r}"
        )
    if converter.lifted_:
        words = counted(converter.lifted_, "word was", "words were")
        run.warn(f"{words} reattached to make trees with crossing arcs projective")
    sides = zip(recipe.sides, (target, source), strict=True)
    notes = {"sides": {side.standard: side_notes(side, *corpora) for side, corpora in sides}}
    return save(converter, recipe, run, notes | {"lifted": converter.lifted_})


register(_TreeConverterKind("tree-converter", TreeConverterConfig, range(2, 3), train_tree_converter))

"""Kind dynamic: words of the best path as features, for mixed text."""

from __future__ import annotations

from typing import cast

from duilian.models.dynamic.config import DynamicConfig
from duilian.models.dynamic.model import DynamicTagger
from duilian.recipes.kinds.crf import fit_one_side
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run


def train_dynamic(recipe: Recipe, run: Run) -> float | None:
    """Train the tagger with dynamic features."""
    return fit_one_side(DynamicTagger.with_config(cast(DynamicConfig, recipe.config)), recipe, run)


register(Kind("dynamic", DynamicConfig, range(1, 2), train_dynamic))

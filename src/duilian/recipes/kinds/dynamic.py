"""Kind dynamic: words of the best path as features, for mixed text."""

from __future__ import annotations

import dataclasses
from typing import Literal

from duilian.models.dynamic.model import DynamicTagger
from duilian.recipes.kinds.crf import LevelSettings, fit_one_side
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import learn_settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class DynamicSettings(LevelSettings):
    """`[model]` of kind dynamic; what each means stands in `DynamicTagger`."""

    level: Literal["char"] = "char"
    words: str | None = "mixed-words"  # none: without templates about words
    english: str | None = None
    letters: Literal["as-is", "unified"] = "unified"
    beam: int = 1
    margin: float | None = None  # no limit
    hearing: float | None = None
    min_word_count: int = 1
    join_letters: bool = True


def train_dynamic(recipe: Recipe, run: Run) -> float | None:
    """The dynamic tagger from a recipe of kind dynamic."""
    (side,) = recipe.sides
    model = dict(recipe.model)
    if model.get("words") == "none":
        model["words"] = None
    tagger = DynamicTagger(side.standard, sample=side.sample, **model, **learn_settings(recipe, run))
    return fit_one_side(tagger, recipe, run)


register(Kind("dynamic", DynamicSettings, range(1, 2), train_dynamic))

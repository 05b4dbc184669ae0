"""Kind crf: the plain tagger, for words or characters."""

from __future__ import annotations

import dataclasses
from typing import Literal

from duilian.models.crf.model import Tagger
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, scorable, side_notes, warn_of_overlap


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelSettings:
    """What every kind wants to know about units and features."""

    level: Literal["word", "char"] = "word"
    templates: str | None = None
    scheme: str = "BIES"
    join_letters: bool = False
    join_digits: bool = False
    script: Literal["as-is", "simplified"] = "as-is"
    min_count: int = 1
    full_from: int = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class CrfSettings(LevelSettings):
    """`[model]` of kind crf; what each means stands in `Tagger`."""

    segment_only: bool = False


def train_crf(recipe: Recipe, run: Run) -> float | None:
    """The plain tagger from a recipe of kind crf."""
    (side,) = recipe.sides
    tagger = Tagger(side.standard, sample=side.sample, **recipe.model, **learn_settings(recipe, run))
    return fit_one_side(tagger, recipe, run)


def fit_one_side(tagger: Tagger, recipe: Recipe, run: Run) -> float | None:
    """Train a tagger on the recipe's only side, and save it."""
    (side,) = recipe.sides
    corpus, dev = corpora_of(recipe, side, is_tagged=not tagger.segment_only)
    warn_of_overlap([(corpus, dev)], tagger.level, run)
    tagger.fit(
        corpus,
        dev=scorable(dev, tagger.level),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    return save(tagger, recipe, run, side_notes(side, corpus, dev))


register(Kind("crf", CrfSettings, range(1, 2), train_crf))

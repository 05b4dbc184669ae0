"""Kind crf: the plain tagger, for words or characters."""

from __future__ import annotations

from typing import cast

from duilian.models.crf.config import CrfConfig
from duilian.models.crf.model import Tagger
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, save, scorable, side_notes, warn_of_overlap


def train_crf(recipe: Recipe, run: Run) -> float | None:
    """Train the plain tagger."""
    return fit_one_side(Tagger.with_config(cast(CrfConfig, recipe.config)), recipe, run)


def fit_one_side(tagger: Tagger, recipe: Recipe, run: Run) -> float | None:
    """Train a tagger on the recipe's only side, and save it."""
    (side,) = recipe.sides
    corpus, dev = corpora_of(recipe, side, is_tagged=not tagger.segment_only)
    warn_of_overlap([(corpus, dev)], tagger.level, run)
    tagger.fit(corpus, dev=scorable(dev, tagger.level), session=run.session())
    return save(tagger, recipe, run, side_notes(side, corpus, dev))


register(Kind("crf", CrfConfig, range(1, 2), train_crf))

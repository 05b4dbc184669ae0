"""Kind coupled: one model from corpora in several standards."""

from __future__ import annotations

from typing import Any, cast

from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.model import CoupledTagger
from duilian.models.coupled.storage import AVERAGE
from duilian.recipes.kinds.several import check_mapping, read_sides
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import save

CACHE = ".duilian-cache"
MAX_SIDES = 8


def train_coupled(recipe: Recipe, run: Run) -> float | None:
    """Train a coupled tagger: one corpus per side, one model for all."""
    tagger, notes = fit_coupled(cast(CoupledConfig, recipe.config), recipe, run)
    return save(tagger, recipe, run, notes)


def fit_coupled(config: CoupledConfig, recipe: Recipe, run: Run) -> tuple[CoupledTagger, dict[str, Any]]:
    """Train a tagger with these settings; return it with notes on its corpora."""
    corpora = read_sides(recipe, run, config.level, str(config.mapping))
    taught = config.start.self_training
    if taught.rounds and taught.mapping is not None:
        check_mapping(taught.mapping, corpora.train)
    tagger = CoupledTagger.with_config(config)
    weights = [recipe.train_weights(side) for side in recipe.sides]
    cache = run.output.parent / CACHE
    tagger.learn(corpora.train, corpora.dev, weights=weights, session=run.session(), cache=cache)
    if recipe.saving.min_weight == 0:  # otherwise, it is compiled when it is saved
        tagger.trim(0.0)
    # If there is only one dev set, the best on average is its best.
    scores = tagger.best_scores_
    return tagger, corpora.notes(lambda name: scores.get(name, scores.get(AVERAGE)))


register(Kind("coupled", CoupledConfig, range(2, MAX_SIDES + 1), train_coupled, answers_all=True))

"""Kind coupled: one model from corpora of any number of standards."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from duilian.models.coupled.model import CoupledTagger
from duilian.models.coupled.storage import AVERAGE
from duilian.recipes.kinds.crf import LevelSettings
from duilian.recipes.kinds.several import read_sides
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import learn_settings, save

CACHE = ".duilian-cache"
MOST_SIDES = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoupledSettings(LevelSettings):
    """`[model]` of kind coupled; what each means stands in `CoupledTagger`. Any number of sides from two."""

    mapping: str = "complete"
    features: Literal["all", "separate", "joint"] = "all"
    pruning: Literal["online", "offline", "mixed"] = "online"
    most: int = 8
    tagging_most: int | None = None
    mass: float = 0.98
    folds: int = 10
    start: Literal["warm", "cold"] = "warm"
    warm: list[float] | None = None
    plain_iterations: int = 8
    guide: str | None = None
    joint_count: int | None = None
    decoding: Literal["marginals", "path"] = "marginals"
    margin: float = 5.0  # inf: every bundle is tried when tagging
    keep: Literal["all", "average"] = "all"


def train_coupled(recipe: Recipe, run: Run) -> float | None:
    """The coupled tagger from a recipe of kind coupled: one corpus per side, one model for all."""
    tagger, notes = fit_coupled(recipe, run, recipe.model)
    return save(tagger, recipe, run, notes)


def fit_coupled(recipe: Recipe, run: Run, model: Mapping[str, Any]) -> tuple[CoupledTagger, dict[str, Any]]:
    """A trained tagger with these settings, and notes of what it has learned from."""
    sides, learn = recipe.sides, learn_settings(recipe, run)
    if learn.get("algorithm") == "sgd":
        learn = {"rate": None, **learn}  # its first step is found by trying
    tagger = CoupledTagger(
        [side.standard for side in sides],
        samples=[side.sample for side in sides],
        cache=str(run.output.parent / CACHE),
        **model,
        **learn,
    )
    corpora = read_sides(recipe, run, tagger.level, model.get("mapping", "complete"))
    tagger.fit(
        corpora.train,
        dev=corpora.dev,
        on_iteration=run.on_iteration,
        on_stage=run.on_stage,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    # If there is but one dev set, its best is the average too.
    scores = tagger.best_scores_
    return tagger, corpora.notes(lambda name: scores.get(name, scores.get(AVERAGE)))


register(
    Kind(
        "coupled",
        CoupledSettings,
        range(2, MOST_SIDES + 1),
        train_coupled,
        iterations=CoupledTagger().iterations,
        answers_all=True,
    )
)

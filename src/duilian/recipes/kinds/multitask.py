"""Kind multitask: two standards that share weights through a loose mapping."""

from __future__ import annotations

import dataclasses
from typing import Literal

from duilian.models.multitask.model import MultitaskTagger
from duilian.recipes.kinds.crf import LevelSettings
from duilian.recipes.kinds.several import read_sides
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import learn_settings, save


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultitaskSettings(LevelSettings):
    """`[model]` of kind multitask; what each means stands in `MultitaskTagger`."""

    level: Literal["char"] = "char"
    templates: str | None = "multitask"
    mapping: str = "tight"
    listens: Literal["both", "first", "second"] = "both"
    expansion: Literal["mean", "all", "best"] = "mean"
    align_names: bool = True


def train_multitask(recipe: Recipe, run: Run) -> float | None:
    """The multi-task tagger from a recipe of kind multitask: one corpus per side."""
    sides = recipe.sides
    tagger = MultitaskTagger(
        [side.standard for side in sides],
        samples=[side.sample for side in sides],
        **recipe.model,
        **learn_settings(recipe, run),
    )
    corpora = read_sides(recipe, run, tagger.level, recipe.model.get("mapping", "tight"))
    tagger.fit(
        corpora.train,
        dev=corpora.dev,
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    _warn_of_lone_labels(tagger, run)
    return save(tagger, recipe, run, corpora.notes(tagger.best_scores_.get))


def _warn_of_lone_labels(tagger: MultitaskTagger, run: Run) -> None:
    for standard, labels in zip(tagger.standards, tagger.mapping_.without_partner(), strict=True):
        tags = list(dict.fromkeys(label.partition("@")[2] for label in labels))
        if tags:
            run.warn(f"in {standard!r} nothing maps to {', '.join(tags)}: learned from its own corpus alone")


register(Kind("multitask", MultitaskSettings, range(2, 3), train_multitask, answers_all=True))
